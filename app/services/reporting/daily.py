"""Conversations by day, for charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.models import ConversationDay, Organization, PartnerDay
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations, partners
from app.services.tenancy import in_groups


@dataclass(frozen=True, slots=True)
class DailyFigures:
    """A UTC day with its completed conversations; ``seconds`` is their total duration."""

    day: date
    conversations: int = 0
    by_human: int = 0
    by_voicemail: int = 0
    seconds: int = 0


def daily(
    session: Session,
    caller: Caller,
    start: date,
    end: date,
    *,
    organization_id: UUID | None = None,
    partner_id: UUID | None = None,
) -> Sequence[DailyFigures]:
    """Return every day from ``start`` to ``end``, both included, also days without conversations.

    Of one organization, otherwise of the caller's own one, otherwise of ``partner_id`` or the
    caller's partner. Raises `NotFound`, and `ValidationFailed` if an operator names neither.
    """
    caller.require(Permission.USAGE_READ)
    wanted = organization_id or caller.organization_id
    table: type[ConversationDay | PartnerDay]
    if wanted is not None:
        if wanted != caller.organization_id:
            organizations.check(session, caller, wanted)
        table = ConversationDay
        whose = table.organization_id == wanted
    else:
        table = PartnerDay
        partner = partners.check(session, caller, partner_id or partners.own(caller))
        whose = table.partner_id == partner
        if caller.is_limited:
            table = ConversationDay
            whose = (table.partner_id == partner) & in_groups(caller, table.organization_id)
    return _read(session, table, whose, start, end, is_sum=caller.is_limited)


def daily_of(
    session: Session, caller: Caller, organization: Organization, start: date, end: date
) -> Sequence[DailyFigures]:
    """As `daily`, of an organization that comes from its loader: one query."""
    caller.require(Permission.USAGE_READ)
    is_its = ConversationDay.organization_id == organization.id
    return _read(session, ConversationDay, is_its, start, end)


def _read(
    session: Session,
    table: type[ConversationDay | PartnerDay],
    whose: ColumnElement[bool],
    start: date,
    end: date,
    *,
    is_sum: bool = False,
) -> Sequence[DailyFigures]:
    """``is_sum``: the table has several rows for a day."""
    figures = (table.conversations, table.by_human, table.by_voicemail, table.seconds)
    rows = (
        select(table.day, *(func.sum(each).label(each.key) for each in figures))
        .where(whose, table.day.between(start, end))
        .group_by(table.day)
        if is_sum
        else select(table.day, *figures).where(whose, table.day.between(start, end))
    )
    counted = {row.day: DailyFigures(*row) for row in session.execute(rows)}
    days = (start + timedelta(days=number) for number in range((end - start).days + 1))
    return [counted.get(day) or DailyFigures(day) for day in days]


def total(days: Sequence[DailyFigures]) -> DailyFigures:
    """Return the totals over the days, under the first of them."""
    names = ("conversations", "by_human", "by_voicemail", "seconds")
    return DailyFigures(days[0].day, *(sum(getattr(day, name) for day in days) for name in names))


def last_updated(
    session: Session, caller: Caller, organization_id: UUID | None = None
) -> datetime | None:
    """Return when the data of the organization, otherwise of the caller's organization or partner,
    last changed. The organization must come from a loader."""
    wanted = caller.organization_id or organization_id
    if wanted is None and caller.is_limited:
        own = ConversationDay.partner_id == partners.own(caller)
        in_theirs = own & in_groups(caller, ConversationDay.organization_id)
        return session.scalar(select(func.max(ConversationDay.updated_at)).where(in_theirs))
    if wanted is None:
        of_partner = PartnerDay.partner_id == partners.own(caller)
        return session.scalar(select(func.max(PartnerDay.updated_at)).where(of_partner))
    of_organization = ConversationDay.organization_id == wanted
    return session.scalar(select(func.max(ConversationDay.updated_at)).where(of_organization))
