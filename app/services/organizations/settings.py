"""An organization's own rules for calling: validation, changes, and the authors of the last
ones."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import time
from typing import Any
from uuid import UUID

from sqlalchemy import select, union_all
from sqlalchemy.orm import Session

from app.errors import Problem, raise_problems
from app.languages import capitalized, gettext
from app.languages.numbers import localize_number
from app.models import AuditEntry, Organization
from app.phone import OPENED_BY, DestinationLayer, comparable_end, country_name, regions
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.base import wire_name
from app.services import audit, destinations
from app.services.organizations.updating import lock_organization
from app.services.postponed_calls import request_rescheduling

MAX_CALLS_PER_DAY = 1_000_000
MAX_RETRIES = 10
MAX_RETRY_MINUTES = 24 * 60
MAX_SPACING_MINUTES = 30 * 24 * 60
MAX_TIMES = 1000
MAX_DAYS = 365


@dataclass(frozen=True, slots=True)
class CallingRules:
    """The rules as a whole; the names are those of `Organization`, None is "no limit"."""

    calling_hours_on: bool
    calling_hours_start: time
    calling_hours_end: time
    default_region: str
    allowed_regions: tuple[str, ...]
    max_calls_at_once: int | None
    max_calls_a_day: int | None
    retry_times: int
    retry_minutes: int
    number_spacing_minutes: int | None
    number_most_calls: int | None
    number_most_days: int | None
    refuse_do_not_call: bool
    consent_required: bool


GROUPS: dict[str, tuple[str, ...]] = {
    "hours": ("calling_hours_on", "calling_hours_start", "calling_hours_end"),
    "regions": ("default_region", "allowed_regions"),
    "pace": (
        "max_calls_at_once",
        "max_calls_a_day",
        "number_spacing_minutes",
        "number_most_calls",
        "number_most_days",
    ),
    "retries": ("retry_times", "retry_minutes"),
    "do_not_call": ("refuse_do_not_call",),
    "consent": ("consent_required",),
}
"""The rules that belong together: each group that changes is one row of history."""


@dataclass(frozen=True, slots=True)
class OpenableRegions:
    """The regions that the operator and the partner have opened. An organization's own country
    needs no opening by the partner, so ``moves`` is True only for users who may open regions for
    the partner: they can move an organization to another country."""

    operator: frozenset[str]
    partner: frozenset[str]
    moves: bool

    def closed_by(self, region: str) -> DestinationLayer | None:
        """Return the layer that prevents the organization from choosing the region."""
        if region not in self.operator:
            return DestinationLayer.OPERATOR
        return None if region in self.partner else DestinationLayer.PARTNER

    def closed_as_own(self, region: str) -> DestinationLayer | None:
        """Return the layer that prevents the region from becoming the organization's own
        country."""
        layer = self.closed_by(region)
        return None if layer is DestinationLayer.PARTNER and self.moves else layer


def rules_of(organization: Organization) -> CallingRules:
    names = (name for names in GROUPS.values() for name in names)
    values = {name: getattr(organization, name) for name in names}
    return CallingRules(**{**values, "allowed_regions": tuple(organization.allowed_regions)})


def change_settings(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    rules: CallingRules,
    *,
    max_at_once: int,
    expected_version: int | None = None,
) -> list[str]:
    """Store the rules; return the names of the `GROUPS` that differed.

    ``max_at_once`` is the installation's own limit of calls at once. Raises `Forbidden`,
    `NotFound`, `ValidationFailed` with every problem by its field, and `Conflict`
    (``changed_meanwhile``).
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    organization = lock_organization(session, caller, organization_id, expected_version)
    openable = openable_of(session, caller, organization)
    check_rules(rules, rules_of(organization), openable, max_at_once)
    before, after = asdict(rules_of(organization)), asdict(rules)
    after["allowed_regions"] = tuple(sorted(set(rules.allowed_regions)))
    before["allowed_regions"] = tuple(sorted(before["allowed_regions"]))
    changed = [
        group
        for group, names in GROUPS.items()
        if any(before[name] != after[name] for name in names)
    ]
    if not changed:
        return []
    for name, value in after.items():
        setattr(organization, name, list(value) if isinstance(value, tuple) else value)
    organization.version += 1
    session.flush()
    for group in changed:
        audit.record_change(
            session,
            caller,
            f"organization.{group}_changed",
            organization,
            before=_audit_values(before, GROUPS[group]),
            after=_audit_values(after, GROUPS[group]),
        )
    request_rescheduling(session, organization.partner_id, organization.id)
    return changed


def openable_of(session: Session, caller: Caller, organization: Organization) -> OpenableRegions:
    """Return what the layers above an organization that came from its loader have opened."""
    layers = destinations.destinations_of(session, organization).regions
    return OpenableRegions(layers.operator, layers.partner, caller.may(Permission.PARTNER_WRITE))


def check_rules(
    rules: CallingRules, stored: CallingRules, openable: OpenableRegions, max_at_once: int
) -> None:
    """Raise `ValidationFailed` with every problem by its field if the rules can't replace those
    ``stored``."""
    raise_problems(_problems(rules, stored, openable, max_at_once))


def last_changes(session: Session, organization: Organization) -> dict[str, AuditEntry]:
    """Return the latest change of each group that was ever changed, in one query.

    The organization must come from its loader; the author is shown to the caller.
    """
    actions = {f"organization.{group}_changed": group for group in GROUPS}
    newest = (
        select(AuditEntry.id)
        .where(
            AuditEntry.target_type == "organization",
            AuditEntry.target_id == str(organization.id),
            AuditEntry.action == action,
        )
        .order_by(AuditEntry.id.desc())
        .limit(1)
        .subquery()
        for action in actions
    )
    ids = union_all(*(select(subquery.c.id) for subquery in newest))
    rows = session.scalars(select(AuditEntry).where(AuditEntry.id.in_(ids)))
    return {actions[row.action]: row for row in rows}


def _audit_values(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {
        wire_name(name): f"{values[name]:%H:%M}" if isinstance(values[name], time) else values[name]
        for name in names
    }


def _region_problems(
    rules: CallingRules, stored: CallingRules, openable: OpenableRegions
) -> Iterator[Problem]:
    supported = {code for code, _name in regions()}
    default_region = rules.default_region
    if default_region not in supported:
        message = gettext("Choose the region for numbers without a country code.")
        yield Problem("defaultRegion", "unknown_region", message)
    elif default_region != stored.default_region and (
        layer := openable.closed_as_own(default_region)
    ):
        yield Problem(
            "defaultRegion", "region_closed", closed_region_message(default_region, layer)
        )
    if not rules.allowed_regions:
        message = gettext("Choose at least one region, or no call can be placed.")
        yield Problem("allowedRegions", "required", message)
        return
    if unknown := sorted(set(rules.allowed_regions) - supported):
        message = gettext("%(code)s is not a region with phone numbers.", code=unknown[0])
        yield Problem("allowedRegions", "unknown_region", message)
        return
    # A region that was chosen before it was closed stays chosen: calls there are refused meanwhile.
    for region in sorted(set(rules.allowed_regions) - {*stored.allowed_regions, default_region}):
        if layer := openable.closed_by(region):
            yield Problem("allowedRegions", "region_closed", closed_region_message(region, layer))
            return


def closed_region_message(region: str, layer: DestinationLayer) -> str:
    """Say that the region is closed and who can open it."""
    country = capitalized(country_name(region))
    closed = gettext("%(country)s isn't open for calls.", country=country)
    return f"{closed} {OPENED_BY[layer]}"


def _problems(
    rules: CallingRules, stored: CallingRules, openable: OpenableRegions, max_at_once: int
) -> Iterator[Problem]:
    if rules.calling_hours_start >= comparable_end(rules.calling_hours_end):
        message = gettext("The end must be after the start. Calls are placed between them.")
        yield Problem("callingHoursEnd", "end_before_start", message)
    yield from _region_problems(rules, stored, openable)
    bounds: tuple[tuple[str, int, int], ...] = (
        ("max_calls_at_once", 1, max_at_once),
        ("max_calls_a_day", 1, MAX_CALLS_PER_DAY),
        ("retry_times", 0, MAX_RETRIES),
        ("retry_minutes", 1, MAX_RETRY_MINUTES),
        ("number_spacing_minutes", 1, MAX_SPACING_MINUTES),
        ("number_most_calls", 1, MAX_TIMES),
        ("number_most_days", 1, MAX_DAYS),
    )
    for name, minimum, maximum in bounds:
        value = getattr(rules, name)
        # A value that was saved under wider bounds stays valid until it is changed.
        is_unchanged = value is None or value == getattr(stored, name)
        if not is_unchanged and not minimum <= value <= maximum:
            message = gettext(
                "Enter a whole number from %(least)s to %(most)s.",
                least=localize_number(minimum),
                most=localize_number(maximum),
            )
            yield Problem(wire_name(name), "out_of_range", message)
    if (rules.number_most_calls is None) != (rules.number_most_days is None):
        missing = "number_most_days" if rules.number_most_days is None else "number_most_calls"
        message = gettext("Enter both the number of calls and the days, or neither.")
        yield Problem(wire_name(missing), "required", message)
