"""The usage of each organization of a partner in a range of days and in the previous period."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Select, case, cast, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.enums import OrganizationStatus, Tier
from app.models import ConversationDay, Organization, PartnerTier
from app.models.organization import PLAN, PLAN_ORDER
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search, partners
from app.services.paging import (
    Page,
    Position,
    SortOrder,
    count_among,
    count_up_to,
    keyset_page,
    sort_named,
)
from app.services.reporting.span import DaySpan
from app.services.tenancy import in_groups
from app.validation.texts import trim

MAX_RANKED = 2000
MOST_FIRST = "-conversations"
_ORDERS = (
    "name",
    "plan",
    "status",
    "conversations",
    "person",
    "voicemail",
    "seconds",
    "before",
    "change",
)
SORTS = tuple(f"{way}{name}" for name in _ORDERS for way in ("", "-"))
"""The sort orders by usage in a range; each page of them reads all organizations."""
_COLUMNS = (Organization.id, Organization.name, Organization.status, Organization.payment_tier)
_BY_AGE = SortOrder(Organization.created_at, descending=True)
_SCALE = 1_000_000
_NEW = 2**62
"""The change of an organization without conversations in the previous period: larger than any
other."""


class UsageFigures(NamedTuple):
    """Conversations in a range, their seconds, and the conversations in the previous period."""

    conversations: int = 0
    by_human: int = 0
    by_voicemail: int = 0
    seconds: int = 0
    before: int = 0


@dataclass(frozen=True, slots=True)
class OrganizationUsage:
    """An organization with its usage in a range."""

    id: UUID
    name: str
    status: OrganizationStatus
    payment_tier: Tier | None
    figures: UsageFigures


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """The filters of the organizations; ``query`` searches names and referral codes."""

    query: str | None = None
    tier: Tier | None = None
    status: OrganizationStatus | None = None
    ids: Collection[UUID] | None = None


def can_rank(session: Session, caller: Caller, limit: int = MAX_RANKED) -> bool:
    """Return whether the partner's organizations are few enough to be sorted by usage in a range,
    which reads all of them for each page."""
    return bool(session.scalar(select(few_to_rank(caller, limit))))


def few_to_rank(caller: Caller, limit: int = MAX_RANKED) -> ColumnElement[bool]:
    """Return `can_rank` as a condition."""
    count_query = select(func.coalesce(func.sum(PartnerTier.organizations), 0)).where(
        PartnerTier.partner_id == partners.own_partner_id(caller)
    )
    return count_query.scalar_subquery() <= limit


def by_organization(
    session: Session,
    caller: Caller,
    span: DaySpan,
    filters: UsageFilter | None = None,
    *,
    ranked: bool,
    sort: str = MOST_FIRST,
    cursor: str | None = None,
    limit: int = 25,
) -> Page[OrganizationUsage]:
    """Return a page of the partner's organizations; archived ones only if they had conversations in
    the range or in the previous period. ``ranked``: in the order of ``sort``, one of `SORTS`;
    otherwise the newest come first.

    Raises `ValidationFailed` (``invalid_cursor``, ``operator_without_partner``, ``unknown_sort``).
    """
    rows = _query_organizations(session, caller, span, filters)
    if not ranked:
        newest = keyset_page(session, rows, _BY_AGE, cursor=cursor, limit=limit)
        figures = _figures_of(session, span, [row.id for row in newest.items])
        return Page(
            [_to_usage(row, figures.get(row.id)) for row in newest.items], newest.next_cursor
        )
    of_partner = ConversationDay.partner_id == partners.own_partner_id(caller)
    totals = _query_figures(span).where(of_partner).subquery()
    columns = [
        func.coalesce(totals.c[name], 0, type_=BigInteger()) for name in UsageFigures._fields
    ]
    order = sort_named(sort, _orders(*columns))
    rows = rows.outerjoin(totals, totals.c.organization_id == Organization.id)
    ranked_rows = rows.with_only_columns(*_COLUMNS, order.column.label("value"), *columns)
    page = keyset_page(session, ranked_rows, order, cursor=cursor, limit=limit)
    items = [_to_usage(row, UsageFigures(*map(int, row[-len(columns) :]))) for row in page.items]
    return Page(items, page.next_cursor)


def count_organizations(
    session: Session, caller: Caller, span: DaySpan, filters: UsageFilter | None, limit: int
) -> int:
    """Return how many organizations `by_organization` lists, as `paging.count_up_to`."""
    rows = _query_organizations(session, caller, span, filters).with_only_columns(Organization.id)
    return count_up_to(session, rows, limit)


def count_if_few(
    session: Session, caller: Caller, span: DaySpan, filters: UsageFilter, limit: int
) -> int | None:
    """Return how many organizations `by_organization` lists, as `paging.count_among` those of the
    partner."""
    rows = _query_organizations(session, caller, span, filters).with_only_columns(Organization.id)
    partner_rows = select(Organization.id).where(
        Organization.partner_id == partners.own_partner_id(caller)
    )
    return count_among(session, rows, partner_rows, limit)


def _query_organizations(
    session: Session, caller: Caller, span: DaySpan, filters: UsageFilter | None
) -> Select[*tuple[Any, ...]]:
    caller.require(Permission.USAGE_READ)
    caller.require(Permission.ORGANIZATIONS_READ)
    own_days = ConversationDay.organization_id == Organization.id
    active_days = select(ConversationDay.day).where(own_days, or_(*_periods(span)))
    rows = select(*_COLUMNS, Organization.created_at).where(
        Organization.partner_id == partners.own_partner_id(caller),
        in_groups(caller, Organization.id),
        or_(
            Organization.status != OrganizationStatus.ARCHIVED,
            active_days.correlate(Organization).exists(),
        ),
    )
    filters = filters or UsageFilter()
    query = trim(filters.query)
    if query:
        condition = name_search.organizations_by_name(session, query)
        rows = rows.where(Organization.named(query), *([] if condition is None else [condition]))
    if filters.tier is not None:
        rows = rows.where(PLAN.in_((filters.tier,)))
    if filters.status is not None:
        rows = rows.where(Organization.status == filters.status)
    if filters.ids is not None:
        rows = rows.where(Organization.id.in_(filters.ids))
    return rows


def _periods(span: DaySpan) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that a day is in the range, and in the previous period."""
    earlier = span.before()
    return (
        ConversationDay.day.between(span.start, span.end),
        ConversationDay.day.between(earlier.start, earlier.end),
    )


def _query_figures(span: DaySpan) -> Select[*tuple[Any, ...]]:
    """Return the `UsageFigures` of each organization with any, after its id."""
    within, before = _periods(span)
    return (
        select(
            ConversationDay.organization_id.label("organization_id"),
            *(
                func.sum(case((within, getattr(ConversationDay, name)), else_=0)).label(name)
                for name in ("conversations", "by_human", "by_voicemail", "seconds")
            ),
            func.sum(case((within, 0), else_=ConversationDay.conversations)).label("before"),
        )
        .where(or_(within, before))
        .group_by(ConversationDay.organization_id)
    )


def _figures_of(session: Session, span: DaySpan, ids: Sequence[UUID]) -> dict[UUID, UsageFigures]:
    if not ids:  # PostgreSQL would read the whole table under its policy
        return {}
    rows = session.execute(_query_figures(span).where(ConversationDay.organization_id.in_(ids)))
    return {row[0]: UsageFigures(*map(int, row[1:])) for row in rows}


def _to_usage(row: Any, figures: UsageFigures | None) -> OrganizationUsage:
    return OrganizationUsage(
        row.id, row.name, row.status, row.payment_tier, figures or UsageFigures()
    )


def _orders(
    now: ColumnElement[int],
    by_human: ColumnElement[int],
    by_voicemail: ColumnElement[int],
    seconds: ColumnElement[int],
    before: ColumnElement[int],
) -> dict[str, SortOrder]:
    """Return the `SORTS` of rows with the compared number as their ``value``. A change is the ratio
    of both periods in millionths."""
    values: dict[str, ColumnElement[Any] | InstrumentedAttribute[Any]] = {
        "name": Organization.name_key,
        "plan": PLAN_ORDER,
        "status": Organization.status,
        "conversations": now,
        "person": by_human,
        "voicemail": by_voicemail,
        "seconds": seconds,
        "before": before,
        "change": case(
            (before > 0, cast(now * _SCALE / func.nullif(before, 0), BigInteger)),
            (now > 0, _NEW),
            else_=_SCALE,
        ),
    }
    return {
        f"{direction}{name}": SortOrder(value, direction == "-", _value_of)
        for name, value in values.items()
        for direction in ("", "-")
    }


def _value_of(row: Any) -> Position:
    return row.value if isinstance(row.value, str) else int(row.value)
