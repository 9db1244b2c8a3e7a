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
from app.validation.texts import trimmed

MAX_RANKED = 2000
MOST_FIRST = "-conversations"
_ORDERS = (
    *("name", "plan", "status"),
    *("conversations", "person", "voicemail", "seconds", "before", "change"),
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


def can_rank(session: Session, caller: Caller, most: int = MAX_RANKED) -> bool:
    """Return whether the partner's organizations are few enough to be sorted by usage in a range,
    which reads all of them for each page."""
    return bool(session.scalar(select(few_to_rank(caller, most))))


def few_to_rank(caller: Caller, most: int = MAX_RANKED) -> ColumnElement[bool]:
    """Return `can_rank` as a condition."""
    counted = select(func.coalesce(func.sum(PartnerTier.organizations), 0)).where(
        PartnerTier.partner_id == partners.own(caller)
    )
    return counted.scalar_subquery() <= most


def by_organization(
    session: Session,
    caller: Caller,
    span: DaySpan,
    chosen: UsageFilter | None = None,
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
    rows = _listed(session, caller, span, chosen)
    if not ranked:
        newest = keyset_page(session, rows, _BY_AGE, cursor=cursor, limit=limit)
        figures = _figures_of(session, span, [row.id for row in newest.items])
        return Page([_used(row, figures.get(row.id)) for row in newest.items], newest.next_cursor)
    of_partner = ConversationDay.partner_id == partners.own(caller)
    counted = _counted(span).where(of_partner).subquery()
    columns = [
        func.coalesce(counted.c[name], 0, type_=BigInteger()) for name in UsageFigures._fields
    ]
    order = sort_named(sort, _orders(*columns))
    rows = rows.outerjoin(counted, counted.c.organization_id == Organization.id)
    wanted = rows.with_only_columns(*_COLUMNS, order.column.label("value"), *columns)
    page = keyset_page(session, wanted, order, cursor=cursor, limit=limit)
    used = [_used(row, UsageFigures(*map(int, row[-len(columns) :]))) for row in page.items]
    return Page(used, page.next_cursor)


def count_organizations(
    session: Session, caller: Caller, span: DaySpan, chosen: UsageFilter | None, most: int
) -> int:
    """Return how many organizations `by_organization` lists, as `paging.count_up_to`."""
    rows = _listed(session, caller, span, chosen).with_only_columns(Organization.id)
    return count_up_to(session, rows, most)


def count_if_few(
    session: Session, caller: Caller, span: DaySpan, chosen: UsageFilter, most: int
) -> int | None:
    """Return how many organizations `by_organization` lists, as `paging.count_among` those of the
    partner."""
    rows = _listed(session, caller, span, chosen).with_only_columns(Organization.id)
    few = select(Organization.id).where(Organization.partner_id == partners.own(caller))
    return count_among(session, rows, few, most)


def _listed(
    session: Session, caller: Caller, span: DaySpan, chosen: UsageFilter | None
) -> Select[*tuple[Any, ...]]:
    caller.require(Permission.USAGE_READ)
    caller.require(Permission.ORGANIZATIONS_READ)
    own_days = ConversationDay.organization_id == Organization.id
    counted = select(ConversationDay.day).where(own_days, or_(*_periods(span)))
    rows = select(*_COLUMNS, Organization.created_at).where(
        Organization.partner_id == partners.own(caller),
        in_groups(caller, Organization.id),
        or_(
            Organization.status != OrganizationStatus.ARCHIVED,
            counted.correlate(Organization).exists(),
        ),
    )
    chosen = chosen or UsageFilter()
    words = trimmed(chosen.query)
    if words:
        few = name_search.organizations_called(session, words)
        rows = rows.where(Organization.named(words), *([] if few is None else [few]))
    if chosen.tier is not None:
        rows = rows.where(PLAN.in_((chosen.tier,)))
    if chosen.status is not None:
        rows = rows.where(Organization.status == chosen.status)
    if chosen.ids is not None:
        rows = rows.where(Organization.id.in_(chosen.ids))
    return rows


def _periods(span: DaySpan) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that a day is in the range, and in the previous period."""
    earlier = span.before()
    return (
        ConversationDay.day.between(span.start, span.end),
        ConversationDay.day.between(earlier.start, earlier.end),
    )


def _counted(span: DaySpan) -> Select[*tuple[Any, ...]]:
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
    rows = session.execute(_counted(span).where(ConversationDay.organization_id.in_(ids)))
    return {row[0]: UsageFigures(*map(int, row[1:])) for row in rows}


def _used(row: Any, figures: UsageFigures | None) -> OrganizationUsage:
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
        f"{way}{name}": SortOrder(value, way == "-", _value_of)
        for name, value in values.items()
        for way in ("", "-")
    }


def _value_of(row: Any) -> Position:
    return row.value if isinstance(row.value, str) else int(row.value)
