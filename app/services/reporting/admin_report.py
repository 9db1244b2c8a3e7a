"""The report of a partner: its standard users over all time, each with the conversations of their
organization. It reads the daily roll-up, so its cost does not grow with conversations."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Integer, String, func, or_, select, type_coerce
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import Role, Tier
from app.models import ConversationDay, Organization, User
from app.policy import Permission
from app.schemas.fields import write_moment
from app.services import partners
from app.services.paging import Page, Sort, keyset_page

BATCH = 200
"""So few that their rows are gone again before the garbage collector looks at everything."""
_tier: ColumnElement[Any] = func.coalesce(Organization.payment_tier, Tier.FREE.value)
"""An organization without a plan is on the contract's default."""


@dataclass
class AdminReport:
    """The report while it is read: take all ``batches``, then the two counts are complete."""

    rows: Iterable[Sequence[Any]]
    write: Callable[[Any, Any], tuple[Any, str]]
    user_count: int = 0
    user_count_by_tier: dict[str, int] = field(
        default_factory=lambda: {tier.value: 0 for tier in Tier}
    )

    def batches(self) -> Iterator[list[dict[str, Any]]]:
        """The users, oldest first, in the contract's names and values that orjson can write."""
        by_tier = self.user_count_by_tier
        write = self.write
        for rows in self.rows:
            batch = []
            for identifier, email, created_at, name, tier, conversations in rows:
                by_tier[tier] += 1
                wire_id, sign_up_date = write(identifier, created_at)
                batch.append(
                    {
                        "id": wire_id,
                        "email": email,
                        "signUpDate": sign_up_date,
                        "businessName": [name],
                        "paymentTier": tier,
                        "conversations": conversations,
                    }
                )
            self.user_count += len(batch)
            yield batch


@dataclass(frozen=True, slots=True)
class Summary:
    """The report's sums; every organization counts once in ``conversations``."""

    user_count: int
    user_count_by_tier: dict[str, int]
    organization_count: int
    conversations: int


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A line of the report for a screen."""

    user: User
    organization: Organization
    conversations: int


def report(session: Session, caller: Caller, partner_id: UUID) -> AdminReport:
    """The whole report, read in batches within the caller's transaction: one query.

    Raises `NotFound` for another's partner.
    """
    caller.require(Permission.REPORT_READ)
    partners.check(session, caller, partner_id)
    conversations = (
        select(
            ConversationDay.organization_id.label("organization_id"),
            func.sum(ConversationDay.conversations).label("conversations"),
        )
        .where(ConversationDay.partner_id == partner_id)
        .group_by(ConversationDay.organization_id)
        .subquery()
    )
    # The plain columns spare a conversion of each value, half of the time of a long report.
    rows = (
        select(
            type_coerce(User.id, String),
            User.email,
            type_coerce(User.created_at, String),
            Organization.name,
            type_coerce(_tier, String),
            type_coerce(func.coalesce(conversations.c.conversations, 0), Integer),
        )
        .join(Organization, Organization.id == User.organization_id)
        .outerjoin(conversations, conversations.c.organization_id == Organization.id)
        .where(User.partner_id == partner_id, User.user_type == Role.STANDARD)
        .order_by(User.created_at, User.id)
    )
    # Not with a cursor of the server: PostgreSQL would plan for the first rows, not for all.
    found = session.connection().execute(rows).partitions(BATCH)
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    return AdminReport(found, _write_sqlite if is_sqlite else _write_postgresql)


def summary(session: Session, caller: Caller, partner_id: UUID) -> Summary:
    """The sums of the same report: three queries, whatever the size. Raises as `report`."""
    caller.require(Permission.REPORT_READ)
    partners.check(session, caller, partner_id)
    counted = session.execute(
        select(type_coerce(_tier, String), func.count(User.id))
        .join(Organization, Organization.id == User.organization_id)
        .where(User.partner_id == partner_id, User.user_type == Role.STANDARD)
        .group_by(_tier)
    )
    by_tier = {tier.value: 0 for tier in Tier}
    by_tier.update((tier, count) for tier, count in counted)
    organizations = select(func.count()).where(Organization.partner_id == partner_id)
    conversations = select(func.coalesce(func.sum(ConversationDay.conversations), 0)).where(
        ConversationDay.partner_id == partner_id
    )
    return Summary(
        user_count=sum(by_tier.values()),
        user_count_by_tier=by_tier,
        organization_count=session.scalar(organizations) or 0,
        conversations=int(session.scalar(conversations) or 0),
    )


def search(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    *,
    query: str | None = None,
    tier: Tier | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[ReportRow]:
    """A screen of the report, oldest users first; ``query`` looks in addresses and organization
    names. Raises as `report`, and `ValidationFailed` (``invalid_cursor``)."""
    caller.require(Permission.REPORT_READ)
    partners.check(session, caller, partner_id)
    rows = (
        select(User)
        .join(Organization, Organization.id == User.organization_id)
        .where(User.partner_id == partner_id, User.user_type == Role.STANDARD)
    )
    words = (query or "").replace("\x00", "").strip()
    if words:
        in_address = User.email_key.contains(words.lower(), autoescape=True)
        rows = rows.where(or_(in_address, Organization.name.icontains(words, autoescape=True)))
    if tier is not None:
        rows = rows.where(_tier == tier.value)
    by_age = Sort(User.created_at, lambda user: user.created_at)
    page = keyset_page(session, rows, sort=by_age, id_column=User.id, cursor=cursor, limit=limit)
    return Page(_with_figures(session, page.items), page.next_cursor)


def _with_figures(session: Session, users: Sequence[User]) -> list[ReportRow]:
    ids = {user.organization_id for user in users}
    found = session.execute(
        select(Organization, func.coalesce(func.sum(ConversationDay.conversations), 0))
        .outerjoin(ConversationDay, ConversationDay.organization_id == Organization.id)
        .where(Organization.id.in_(ids))
        .group_by(Organization.id)
    )
    figures = {organization.id: (organization, int(count)) for organization, count in found}
    return [
        ReportRow(user, *figures[user.organization_id])
        for user in users
        if user.organization_id is not None
    ]


def _write_sqlite(identifier: str, created_at: str) -> tuple[str, str]:
    """From how SQLite stores ids and moments to how the wire writes them."""
    h = identifier
    end = 19 if created_at[20:23] == "000" else 23
    moment = f"{created_at[:10]}T{created_at[11:end]}Z"
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}", moment


def _write_postgresql(identifier: UUID, created_at: datetime) -> tuple[UUID, str]:
    return identifier, write_moment(created_at)
