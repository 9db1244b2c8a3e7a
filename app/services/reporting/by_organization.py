"""What each organization of a partner used in a range of days and in the previous period."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier
from app.models import ConversationDay, Organization, PartnerTier
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search, partners
from app.services.paging import Page, Sort, both_ways, keyset_page, sort_named
from app.services.reporting.span import Span
from app.services.tenancy import in_groups, visible_organizations

BATCH = 1000
MOST_RANKED = 2000
MOST_FIRST = "-conversations"
_COUNTS = {"conversations": "conversations", "person": "by_human", "voicemail": "by_voicemail"}
SORTS = tuple(f"{way}{name}" for name in ("name", *_COUNTS) for way in ("", "-"))
"""The sort orders by what was used in a range, of which any page reads all organizations."""
_BY_AGE = Sort(Organization.created_at, descending=True)


@dataclass(frozen=True, slots=True)
class Used:
    """An organization with its conversations in the range and in the range before."""

    id: UUID
    name: str
    status: OrganizationStatus
    payment_tier: Tier | None
    conversations: int
    by_human: int
    by_voicemail: int
    seconds: int
    before: int


def can_rank(session: Session, caller: Caller, most: int = MOST_RANKED) -> bool:
    """Whether the partner's organizations are few enough to be sorted by their use in a range: that
    reads all of them for any page."""
    counted = select(func.coalesce(func.sum(PartnerTier.organizations), 0)).where(
        PartnerTier.partner_id == partners.own(caller)
    )
    return (session.scalar(counted) or 0) <= most


def by_organization(
    session: Session,
    caller: Caller,
    span: Span,
    *,
    ranked: bool,
    sort: str = MOST_FIRST,
    query: str | None = None,
    cursor: str | None = None,
    limit: int = 25,
) -> Page[Used]:
    """Return a page of the partner's organizations. ``ranked``: in the order of ``sort``, one of
    `SORTS`, and archived ones only in ranges in which they had conversations. Otherwise the newest
    come first. At most three queries; ``query`` searches names.

    Raises `ValidationFailed` (``invalid_cursor``, ``operator_without_partner``, ``unknown_sort``).
    """
    _authorise(caller)
    named = _named(session, query)
    if not ranked:
        rows = visible_organizations(caller).where(
            Organization.partner_id == partners.own(caller), *named
        )
        newest = keyset_page(session, rows, _BY_AGE, cursor=cursor, limit=limit)
        return Page(_with_figures(session, span, newest.items), newest.next_cursor)
    rows, sorts = _counted_rows(session, caller, span)
    page = keyset_page(
        session, rows.where(*named), sort_named(sort, sorts), cursor=cursor, limit=limit
    )
    return Page(_with_figures(session, span, page.items), page.next_cursor)


def all_organizations(
    session: Session,
    caller: Caller,
    span: Span,
    *,
    sort: str = MOST_FIRST,
    query: str | None = None,
) -> Iterator[list[Used]]:
    """Return all of them in the same order, in batches, for a file. Raises as `by_organization`."""
    _authorise(caller)
    rows, sorts = _counted_rows(session, caller, span)
    order = sort_named(sort, sorts)
    columns = (order.column, Organization.id)
    rows = rows.where(*_named(session, query)).order_by(
        *(column.desc() if order.descending else column for column in columns)
    )
    for batch in session.scalars(rows).partitions(BATCH):
        yield _with_figures(session, span, batch)


def _named(session: Session, query: str | None) -> list[ColumnElement[bool]]:
    words = (query or "").replace("\x00", "").strip()
    if not words:
        return []
    few = name_search.organizations_called(session, words)
    return [Organization.named(words), *([] if few is None else [few])]


def _authorise(caller: Caller) -> None:
    caller.require(Permission.USAGE_READ)
    caller.require(Permission.ORGANIZATIONS_READ)


def _counted(span: Span) -> Select[*tuple[Any, ...]]:
    """Return the totals of each organization in the range, and its conversations in the previous
    period."""
    earlier = span.before()
    within = ConversationDay.day.between(span.start, span.end)
    before = ConversationDay.day.between(earlier.start, earlier.end)
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


def _with_figures(session: Session, span: Span, rows: Sequence[Organization]) -> list[Used]:
    if not rows:  # PostgreSQL would read the whole table beneath its policy
        return []
    whose = ConversationDay.organization_id.in_([organization.id for organization in rows])
    figures = {
        row[0]: tuple(map(int, row[1:])) for row in session.execute(_counted(span).where(whose))
    }
    return [
        Used(
            organization.id,
            organization.name,
            organization.status,
            organization.payment_tier,
            *figures.get(organization.id, (0, 0, 0, 0, 0)),
        )
        for organization in rows
    ]


def _counted_rows(
    session: Session, caller: Caller, span: Span
) -> tuple[Select[Organization], dict[str, Sort]]:
    """Return the organizations to rank, and their sort orders."""
    partner_id = partners.own(caller)
    counted = _counted(span).where(ConversationDay.partner_id == partner_id).subquery()
    archived = Organization.status == OrganizationStatus.ARCHIVED
    rows = (
        select(Organization)
        .outerjoin(counted, counted.c.organization_id == Organization.id)
        .where(
            Organization.partner_id == partner_id,
            in_groups(caller, Organization.id),
            ~and_(archived, counted.c.organization_id.is_(None)),
        )
    )
    sorts = both_ways(name=Organization.name_key)
    for name, figure in _COUNTS.items():
        column = func.coalesce(counted.c[figure], 0, type_=BigInteger())

        def read(row: Organization, column: ColumnElement[int] = column) -> int:
            found = rows.with_only_columns(column).where(Organization.id == row.id)
            return int(session.scalars(found).one())

        sorts[name], sorts[f"-{name}"] = Sort(column, read=read), Sort(column, True, read)
    return rows, sorts
