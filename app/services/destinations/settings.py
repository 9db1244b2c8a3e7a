"""The operator's limits and the partners' choices: reading and changing them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from phonenumbers import SUPPORTED_REGIONS
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Problem, check_version, raise_problems
from app.languages import gettext
from app.models import InstallationDestinations, Partner, PartnerDestinations
from app.phone import USUAL_REGIONS, country_name
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, partners
from app.services.destinations.hand_over import covers_host
from app.services.destinations.layers import Hosts, operator_regions, rows_of
from app.services.uniqueness import insert_into

MAX_HOSTS = 100
INSTALLATION = "Installation"
INSTALLATION_ID = UUID(int=1)
"""The id of the installation in the history."""
_HOST = re.compile(
    r"(?=.{1,253}\Z)(?:\*\.)?[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
    r"(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*"
)


@dataclass(frozen=True, slots=True)
class DestinationLimits:
    """The operator's limits. ``regions`` is None for a partner without limits of its own, and
    ``hosts`` where any host is allowed."""

    regions: frozenset[str] | None
    hosts: Hosts
    version: int = 0


@dataclass(frozen=True, slots=True)
class DestinationChoice:
    """The regions and hosts for hand-overs that a partner allows its organizations."""

    regions: frozenset[str]
    hosts: Sequence[str]
    version: int = 0


def limits_of(
    session: Session, caller: Caller, partner_id: UUID | None = None
) -> DestinationLimits:
    """Return the limits of the installation, or of a partner. Raises `Forbidden`, `NotFound`."""
    _require_operator(caller)
    if partner_id is None:
        stored = session.get(InstallationDestinations, 1)
        if stored is None:
            return DestinationLimits(USUAL_REGIONS, None)
        regions = USUAL_REGIONS if stored.regions is None else frozenset(stored.regions)
        return DestinationLimits(regions, stored.hosts, stored.version)
    partners.check(session, caller, partner_id)
    # nosemgrep: row-by-id-for-a-caller - partners.check allowed it
    return _limits_of_row(session.get(PartnerDestinations, partner_id))


@dataclass(frozen=True, slots=True)
class OpenedCountries:
    """How many of the countries that a partner may open it has opened, and its limits."""

    partner: Partner
    limits: DestinationLimits
    opened: int
    openable: int


def opened_by_partners(session: Session, caller: Caller) -> list[OpenedCountries]:
    """Return every partner by name. Raises `Forbidden`."""
    _require_operator(caller)
    installation = session.get(InstallationDestinations, 1)
    stored = {row.partner_id: row for row in session.scalars(select(PartnerDestinations))}
    rows = []
    for partner in session.scalars(select(Partner).order_by(Partner.name, Partner.id)):
        row = stored.get(partner.id)
        openable = operator_regions(installation, row)
        opened = openable & frozenset(row.regions if row else ())
        rows.append(OpenedCountries(partner, _limits_of_row(row), len(opened), len(openable)))
    return rows


def change_limits(
    session: Session,
    caller: Caller,
    limits: DestinationLimits,
    partner_id: UUID | None = None,
    *,
    expected_version: int | None = None,
) -> bool:
    """Store the limits of the installation, or of a partner; return whether anything changed.

    They apply from the next call on, including accepted ones. Raises `Forbidden`, `NotFound`,
    `ValidationFailed` (``unknown_region``, ``required``, ``invalid_host``) and `Conflict`
    (``changed_meanwhile``).
    """
    before = limits_of(session, caller, partner_id)
    partner = None
    if partner_id is not None:
        partner = partners.get(session, caller, partner_id, for_change=True)
        before = limits_of(session, caller, partner_id)
    hosts = None if limits.hosts is None else _normalize_hosts(limits.hosts)
    problems = [*_unknown_regions(limits.regions or ()), *_bad_hosts(hosts or ())]
    if partner is None and not limits.regions:
        problems.append(Problem("regions", "required", gettext("Choose at least one country.")))
    elif limits.regions is not None and not limits.regions:
        message = gettext("Choose at least one country, or clear the limit.")
        problems.append(Problem("regions", "required", message))
    raise_problems(problems)
    if (before.regions, _sort_hosts(before.hosts)) == (limits.regions, hosts):
        return False
    check_version(expected_version, before.version, "call destinations")
    regions = None if limits.regions is None else sorted(limits.regions)
    row: Any
    if partner is None:
        row = _lock_installation(session)
        row.regions, row.hosts = regions, hosts
    else:
        row = _partner_row(session, partner)
        row.limit_regions, row.limit_hosts = regions, hosts
    row.version += 1
    session.flush()
    audit.record(
        session,
        caller,
        action=f"{'installation' if partner is None else 'partner'}.destinations_limited",
        target_type="installation" if partner is None else "partner",
        target_id=INSTALLATION_ID if partner is None else partner.id,
        partner_id=partner.id if partner else None,
        target=partner.name if partner else INSTALLATION,
        before=_audit_values(before.regions, before.hosts),
        after=_audit_values(limits.regions, hosts),
    )
    return True


def choice_of(session: Session, caller: Caller, partner_id: UUID) -> DestinationChoice:
    """Return what the partner has opened. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.PARTNER_READ)
    partners.check(session, caller, partner_id)
    # nosemgrep: row-by-id-for-a-caller - partners.check allowed it
    row = session.get(PartnerDestinations, partner_id)
    return (
        DestinationChoice(frozenset(row.regions), row.hosts, row.version)
        if row
        else DestinationChoice(frozenset(), ())
    )


def change_choice(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    choice: DestinationChoice,
    *,
    expected_version: int | None = None,
) -> bool:
    """Store what the partner opens; return whether anything changed. What is already open stays so,
    even if the operator has closed it since.

    Raises `Forbidden`, `NotFound`, `ValidationFailed` (``unknown_region``, ``region_closed``,
    ``invalid_host``, ``host_closed``) and `Conflict` (``changed_meanwhile``).
    """
    caller.require(Permission.PARTNER_WRITE)
    partner = partners.get(session, caller, partner_id, for_change=True)
    before = choice_of(session, caller, partner_id)
    hosts = _normalize_hosts(choice.hosts)
    installation, stored = rows_of(session, partner_id)
    problems = [*_unknown_regions(choice.regions), *_bad_hosts(hosts)]
    if not problems:
        closed = choice.regions - before.regions - operator_regions(installation, stored)
        if closed:
            problems.append(Problem("regions", "region_closed", _closed_message(closed)))
        limits = (
            installation.hosts if installation else None,
            stored.limit_hosts if stored else None,
        )
        problems += _closed_hosts(sorted({*hosts} - {*before.hosts}), limits)
    raise_problems(problems)
    if (before.regions, sorted(before.hosts)) == (choice.regions, hosts):
        return False
    check_version(expected_version, before.version, "call destinations")
    row = _partner_row(session, partner)
    row.regions, row.hosts = sorted(choice.regions), hosts
    row.version += 1
    session.flush()
    audit.record_change(
        session,
        caller,
        "partner.destinations_opened",
        partner,
        before=_audit_values(before.regions, before.hosts),
        after=_audit_values(choice.regions, hosts),
    )
    return True


def _limits_of_row(row: PartnerDestinations | None) -> DestinationLimits:
    """Return the operator's limits for a partner."""
    if row is None:
        return DestinationLimits(None, None)
    regions = None if row.limit_regions is None else frozenset(row.limit_regions)
    return DestinationLimits(regions, row.limit_hosts, row.version)


def _require_operator(caller: Caller) -> None:
    caller.require_operator(
        gettext("Only the platform operator sets the limits of call destinations.")
    )


def _lock_installation(session: Session) -> InstallationDestinations:
    first = insert_into(session, InstallationDestinations).values(id=1, version=0)
    session.execute(first.on_conflict_do_nothing())
    return session.get_one(
        InstallationDestinations, 1, with_for_update=True, populate_existing=True
    )


def _partner_row(session: Session, partner: Partner) -> PartnerDestinations:
    """The partner's row; the partner itself is locked."""
    destinations = session.get(PartnerDestinations, partner.id, populate_existing=True)
    if destinations is None:
        destinations = PartnerDestinations(partner_id=partner.id, regions=[], hosts=[], version=0)
        session.add(destinations)
    return destinations


def _normalize_hosts(hosts: Iterable[str]) -> list[str]:
    return sorted({host.strip().lower() for host in hosts if host.strip()})


def _sort_hosts(hosts: Hosts) -> list[str] | None:
    return None if hosts is None else sorted(hosts)


def _unknown_regions(regions: Iterable[str]) -> Iterator[Problem]:
    for region in sorted(set(regions) - SUPPORTED_REGIONS):
        message = gettext("%(region)s is not a country with phone numbers.", region=region)
        yield Problem("regions", "unknown_region", message)
        return


def _bad_hosts(hosts: Sequence[str]) -> Iterator[Problem]:
    if len(hosts) > MAX_HOSTS:
        message = gettext(
            "Use at most %(most)s hosts. *.example.com includes all hosts below it.", most=MAX_HOSTS
        )
        yield Problem("hosts", "too_many", message)
    for host in hosts:
        if not _HOST.fullmatch(host):
            message = gettext(
                "%(host)s isn't a host. Enter hosts like voice.example.com, one per line.",
                host=host[:60],
            )
            yield Problem("hosts", "invalid_host", message)
            return


def _closed_hosts(hosts: Sequence[str], limits: Sequence[Hosts]) -> Iterator[Problem]:
    for host in hosts:
        if not all(allowed is None or covers_host(allowed, host) for allowed in limits):
            message = gettext(
                "%(host)s isn't allowed. Ask the platform operator to allow it.", host=host
            )
            yield Problem("hosts", "host_closed", message)


def _closed_message(regions: Iterable[str]) -> str:
    names = ", ".join(sorted(country_name(region).removeprefix("the ") for region in regions))
    return gettext("Only the platform operator can open: %(countries)s.", countries=names)


def _audit_values(regions: frozenset[str] | None, hosts: Hosts) -> dict[str, Any]:
    return {
        "allowedRegions": None if regions is None else sorted(regions),
        "hosts": _sort_hosts(hosts),
    }
