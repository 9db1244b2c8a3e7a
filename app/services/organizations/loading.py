"""Load and search the organizations that a caller may see, by the query of `app.services.tenancy`:
another tenant's organization is treated like a missing one."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Select, bindparam, cast, func, or_, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier, UserStatus
from app.models import Assistant, Organization, User
from app.models.base import name_key
from app.models.organization import PLAN, PLAN_ORDER
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas import organizations as wire
from app.services import name_search, partners
from app.services.billing import included_usage
from app.services.paging import (
    MAX_COUNTED,
    Listing,
    Page,
    both_ways,
    by_expression,
    count_up_to,
    keyset_page,
    sort_named,
)
from app.services.tenancy import get_organization as get
from app.services.tenancy import organization_not_found
from app.services.tenancy import visible_organizations as visible
from app.validation.texts import trim

SORTS = both_ways(
    created=Organization.created_at,
    name=Organization.name_key,
    status=Organization.status,
    **{"assistant-limit": Organization.assistant_limit, "user-limit": Organization.user_limit},
) | by_expression("plan", PLAN_ORDER, lambda row: row.payment_tier or Tier.FREE)
"""The sort orders of `search`. The use of the limits is counted for the rows of a page only; the
filter `LimitCloseness` finds those close to a limit. Usage is sorted by conversations."""


def check(session: Session, caller: Caller, organization_id: UUID) -> UUID:
    """Return the id if the caller may see the organization. Raises `NotFound` as `get`."""
    if caller.organization_id is not None and caller.organization_id != organization_id:
        raise organization_not_found()
    if caller.partner_id is None and not caller.is_operator:
        raise organization_not_found()
    if caller.is_limited:
        return get(session, caller, organization_id).id
    params = {"organization": organization_id, "partner": caller.partner_id}
    query = _ANY if caller.partner_id is None else _OF_PARTNER
    if session.connection().execute(query, params).one_or_none() is None:
        raise organization_not_found()
    return organization_id


_ANY = select(Organization.id).where(Organization.id == bindparam("organization"))
_OF_PARTNER = _ANY.where(Organization.partner_id == bindparam("partner"))


def get_in(
    session: Session, caller: Caller, partner_id: UUID, organization_id: UUID
) -> Organization:
    """Return the organization of this partner. Raises `NotFound` if either doesn't exist."""
    partners.check(session, caller, partner_id)
    organization = get(session, caller, organization_id)
    if organization.partner_id != partner_id:
        raise organization_not_found()
    return organization


def listing(
    session: Session, caller: Caller, partner_id: UUID
) -> Listing[Organization, wire.Organization]:
    """Return the partner's organizations. Raises `NotFound` for another's partner."""
    caller.require(Permission.ORGANIZATIONS_READ)
    partners.check(session, caller, partner_id)
    rows = visible(caller).where(Organization.partner_id == partner_id)
    return Listing(rows, Organization.created_at, Organization.id, to_resource)


def by_ids(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, Organization]:
    """Return those of the organizations that the caller may see, in one query; a read-only
    transaction reads a member's own organization once."""
    if not ids:
        return {}
    own_id = caller.organization_id
    if own_id is not None and own_id in ids:
        return {own_id: get(session, caller, own_id)}
    query = visible(caller).where(Organization.id.in_(ids))
    return {organization.id: organization for organization in session.scalars(query)}


class LimitCloseness(StrEnum):
    """How much of a limit is used: at least four fifths, or all of it."""

    NEAR = "near"
    REACHED = "reached"


class InTrial(StrEnum):
    """Whether the organization is in its own trial."""

    YES = "yes"
    NO = "no"


@dataclass(frozen=True, slots=True)
class OrganizationFilter:
    """The filters of an organization list; ``query`` searches names and both referral codes, and if
    it contains an @ also the emails of users.

    Without ``status``, archived ones are listed only ``with_archived``. ``partner_id`` narrows an
    operator's view.
    """

    query: str | None = None
    tier: Tier | None = None
    status: OrganizationStatus | None = None
    with_archived: bool = False
    closeness: LimitCloseness | None = None
    in_trial: InTrial | None = None
    partner_id: UUID | None = None


def search(
    session: Session,
    caller: Caller,
    filters: OrganizationFilter | None = None,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Organization]:
    """Return a page of organizations. Raises `Forbidden` and `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``)."""
    rows = _filtered_rows(session, caller, filters or OrganizationFilter())
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def count(
    session: Session, caller: Caller, filters: OrganizationFilter, *, most: int = MAX_COUNTED
) -> int:
    """Return how many match, as `paging.count_up_to`. Raises `Forbidden`."""
    rows = _filtered_rows(session, caller, filters).with_only_columns(Organization.id)
    return count_up_to(session, rows, most)


def find_by_name(
    session: Session, caller: Caller, name: str, limit: int = 10, *, archived: bool = False
) -> list[Organization]:
    """Return those with this name, ignoring case, or else accents too: only the ``archived`` ones,
    or only the others."""
    trimmed_name = trim(name)
    is_archived = Organization.status == OrganizationStatus.ARCHIVED
    rows = visible(caller).where(
        Organization.name_key == name_key(trimmed_name), is_archived if archived else ~is_archived
    )
    matching = list(session.scalars(rows.order_by(Organization.id).limit(limit)))
    return _in_the_same_case(matching, trimmed_name)


def find_by_names(
    session: Session, caller: Caller, names: Iterable[str]
) -> dict[str, list[Organization]]:
    """Return what `find_by_name` does for each of the names, in one query."""
    written = {name: trim(name) for name in names}
    rows = visible(caller).where(
        Organization.name_key.in_({name_key(each) for each in written.values()}),
        Organization.status != OrganizationStatus.ARCHIVED,
    )
    matching: dict[str, list[Organization]] = {}
    for organization in session.scalars(rows.order_by(Organization.id)):
        matching.setdefault(organization.name_key, []).append(organization)
    return {
        name: _in_the_same_case(matching.get(name_key(each), []), each)
        for name, each in written.items()
    }


def _in_the_same_case(matching: list[Organization], name: str) -> list[Organization]:
    """Return those with this name but for upper case; all if there is none."""
    return [each for each in matching if each.name.lower() == name.lower()] or matching


def nearest_name(session: Session, caller: Caller, name: str) -> str | None:
    """Return the name most like this one among those that contain one of its longest words, or the
    only name that contains all of it."""
    if not caller.may(Permission.ORGANIZATIONS_READ):
        return None
    names: dict[str, str] = {}
    for word in sorted(name.split(), key=len, reverse=True)[:2]:
        rows = search(session, caller, OrganizationFilter(query=word), sort="name")
        names |= {row.name.casefold(): row.name for row in rows.items}
    matches = get_close_matches(name.casefold(), names, n=1)
    if matches:
        return names[matches[0]]
    containing = [each for each in names.values() if name_key(name) in name_key(each)]
    return containing[0] if len(containing) == 1 else None


def _filtered_rows(
    session: Session, caller: Caller, filters: OrganizationFilter
) -> Select[Organization]:
    caller.require(Permission.ORGANIZATIONS_READ)
    rows = visible(caller)
    if filters.partner_id is not None:
        rows = rows.where(Organization.partner_id == filters.partner_id)
    query = trim(filters.query)
    if query:
        matches = Organization.found_by(query)
        condition = name_search.organizations_by_name(session, query)
        if "@" in query:
            has_user_at = name_search.organizations_reached_at(session, query)
            matches |= has_user_at
            condition = None if condition is None else condition | has_user_at
        rows = rows.where(matches) if condition is None else rows.where(matches, condition)
    if filters.tier is not None:
        rows = rows.where(PLAN.in_([filters.tier]))
    if filters.status is not None:
        rows = rows.where(Organization.status == filters.status)
    elif not filters.with_archived:
        rows = rows.where(Organization.status != OrganizationStatus.ARCHIVED)
    if filters.in_trial is not None:
        lasts = Organization.trial_ended_at.is_(None)
        rows = rows.where(lasts if filters.in_trial is InTrial.YES else ~lasts)
    return rows if filters.closeness is None else rows.where(_uses_up(session, caller, filters))


def _uses_up(session: Session, caller: Caller, filters: OrganizationFilter) -> ColumnElement[bool]:
    """Return the organizations close to a limit, or to what their plan includes; operators choose a
    partner for the latter."""
    closeness = filters.closeness or LimitCloseness.NEAR
    partner_id = caller.partner_id or filters.partner_id
    if partner_id is None:
        return close_to_limit(closeness)
    percent = 100 if closeness is LimitCloseness.REACHED else included_usage.NEAR
    return close_to_limit(closeness) | included_usage.have_used(session, partner_id, percent)


def close_to_limit(closeness: LimitCloseness, *, above: int = 0) -> ColumnElement[bool]:
    """Return the organizations close to their limit of assistants or of users.

    A limit of 0 means no limit; limits of ``above`` or less don't count either.
    """
    assistants = select(func.count()).where(Assistant.organization_id == Organization.id)
    seats = select(func.count()).where(
        User.organization_id == Organization.id, User.status != UserStatus.DEACTIVATED
    )
    pairs = ((assistants, Organization.assistant_limit), (seats, Organization.user_limit))
    return or_(
        *(
            (limit > above)
            & is_close(
                used.correlate(Organization).scalar_subquery(), cast(limit, BigInteger), closeness
            )
            for used, limit in pairs
        )
    )


def is_close(used: Any, limit: Any, closeness: LimitCloseness) -> Any:
    """Return whether ``used`` is close to ``limit``, for numbers and for columns."""
    return used * 5 >= limit * (5 if closeness is LimitCloseness.REACHED else 4)


def to_resource(organization: Organization) -> wire.Organization:
    """Return an organization as the contract's resource."""
    return wire.Organization.model_construct(
        id=organization.id,
        created_date=organization.created_at,
        referral_code=organization.referral_code,
        referred_by_code=organization.referred_by_code,
        payment_tier=organization.payment_tier,
        processor_customer_id=organization.processor_customer_id,
        referral_promo_used=organization.referral_promo_used,
        referral_ui_customization=organization.referral_ui_customization,
        admin_owned=organization.admin_owned,
        partner_id=organization.partner_id,
        temp_demo_org=organization.temp_demo_org,
        assistant_limit=organization.assistant_limit,
        user_limit=organization.user_limit,
        name=organization.name,
    )
