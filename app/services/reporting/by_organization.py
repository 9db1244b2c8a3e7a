"""What each organization of a partner used in a range of days and in the previous period."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier
from app.errors import ValidationFailed
from app.languages import gettext
from app.models import ConversationDay, Organization, PartnerTier
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search, partners
from app.services.paging import Page, Sort, keyset_page
from app.services.reporting.span import Span

BATCH = 1000
MOST_RANKED = 2000
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
    query: str | None = None,
    cursor: str | None = None,
    limit: int = 25,
) -> Page[Used]:
    """Return a page of the partner's organizations. ``ranked``: those with the most conversations
    come first, and archived ones only in ranges in which they had any. Otherwise the newest come
    first. Two queries; ``query`` searches names.

    Raises `ValidationFailed` (``invalid_cursor``, ``operator_without_partner``).
    """
    _authorise(caller)
    words = (query or "").replace("\x00", "").strip()
    named: list[ColumnElement[bool]] = []
    if words:
        few = name_search.organizations_called(session, words)
        named = [Organization.named(words), *([] if few is None else [few])]
    if not ranked:
        rows = select(Organization).where(Organization.partner_id == partners.own(caller), *named)
        newest = keyset_page(session, rows, _BY_AGE, cursor=cursor, limit=limit)
        return Page(_with_figures(session, span, newest.items), newest.next_cursor)
    order, conversations = _order(caller, span)
    order = order.where(*named)
    if cursor:
        count, identifier = _place(cursor)
        further = (conversations == count) & (Organization.id > identifier)
        order = order.where(or_(conversations < count, further))
    found = session.scalars(order.limit(limit + 1)).all()
    items = _with_figures(session, span, found[:limit])
    more = f"{items[-1].conversations}-{items[-1].id.hex}" if len(found) > limit else None
    return Page(items, more)


def all_organizations(session: Session, caller: Caller, span: Span) -> Iterator[list[Used]]:
    """Return all of them in the same order, in batches, for a file. Raises as `by_organization`."""
    _authorise(caller)
    order, _conversations = _order(caller, span)
    for batch in session.scalars(order).partitions(BATCH):
        yield _with_figures(session, span, batch)


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


def _order(caller: Caller, span: Span) -> tuple[Select[Organization], ColumnElement[Any]]:
    """Return the sort order by use, as a column."""
    partner_id = partners.own(caller)
    counted = _counted(span).where(ConversationDay.partner_id == partner_id).subquery()
    conversations = func.coalesce(counted.c.conversations, 0)
    archived = Organization.status == OrganizationStatus.ARCHIVED
    order = (
        select(Organization)
        .outerjoin(counted, counted.c.organization_id == Organization.id)
        .where(
            Organization.partner_id == partner_id,
            ~and_(archived, counted.c.organization_id.is_(None)),
        )
        .order_by(conversations.desc(), Organization.id)
    )
    return order, conversations


def _place(cursor: str) -> tuple[int, UUID]:
    count, _, identifier = cursor.partition("-")
    if count.isascii() and count.isdigit() and len(count) < 12:
        try:
            return int(count), UUID(identifier)
        except ValueError:
            pass
    message = gettext("This position in the list is not valid. Start from the first page.")
    raise ValidationFailed.on("cursor", "invalid_cursor", message)
