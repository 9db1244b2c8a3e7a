"""Sign-ups over time: how many users of the report were created in each day or month, UTC."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.calendar_months import midnight, month_of, months_later
from app.enums import Role
from app.models import PartnerDay, User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners
from app.services.reporting.span import DaySpan
from app.services.tenancy import in_groups

MAX_DAYS = 62
"""Maximum days that are counted by day; a longer range is counted by months."""
MAX_MONTHS = 120


@dataclass(frozen=True, slots=True)
class SignUps:
    """The users created in the day, or in the month, that begins with ``start``."""

    start: date
    count: int


def by_days(span: DaySpan) -> bool:
    """Return whether the range is counted by days instead of months."""
    return span.days <= MAX_DAYS


def range_of_sign_ups(since: date | None, until: date | None, today: date) -> DaySpan:
    """Return the range to show: the requested one, otherwise the last twelve months."""
    end = until or today
    start = since if since is not None and since <= end else months_later(end, -11)
    return DaySpan(max(start, months_later(end, 1 - MAX_MONTHS)), end)


def sign_ups(session: Session, caller: Caller, partner_id: UUID, span: DaySpan) -> list[SignUps]:
    """Return every day or month of the range, also those without users: one query. Raises as
    `report`."""
    caller.require(Permission.REPORT_READ)
    partners.check(session, caller, partner_id)
    counts: Counter[date] = Counter()
    for day, count in _count_by_day(session, caller, partner_id, span):
        counts[day if by_days(span) else month_of(day)] += count
    return [SignUps(start, counts[start]) for start in _period_starts(span)]


def _count_by_day(
    session: Session, caller: Caller, partner_id: UUID, span: DaySpan
) -> Iterable[tuple[date, int]]:
    """Return the sign-ups of days; of a limited caller's groups, one by one."""
    if not caller.is_limited:
        query = select(PartnerDay.day, PartnerDay.sign_ups).where(
            PartnerDay.partner_id == partner_id, PartnerDay.day.between(span.start, span.end)
        )
        return [(row.day, row.sign_ups) for row in session.execute(query)]
    created = select(User.created_at).where(
        User.partner_id == partner_id,
        User.user_type == Role.STANDARD,
        in_groups(caller, User.organization_id),
        User.created_at >= midnight(span.start),
        User.created_at <= datetime.combine(span.end, time.max, UTC),
    )
    return [(created_at.astimezone(UTC).date(), 1) for created_at in session.scalars(created)]


def _period_starts(span: DaySpan) -> list[date]:
    if by_days(span):
        return [span.start + timedelta(days=number) for number in range(span.days)]
    first = month_of(span.start)
    months = (span.end.year - first.year) * 12 + span.end.month - first.month
    return [months_later(first, number) for number in range(months + 1)]
