"""Sign-ups over time: how many users of the report began in each day or month, UTC."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, String, func, literal_column, select, type_coerce
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import Role
from app.models import User
from app.policy import Permission
from app.services import partners
from app.services.reporting.span import Span

MOST_DAYS = 62
"""A longer range is counted by months."""
MOST_MONTHS = 120


@dataclass(frozen=True, slots=True)
class SignUps:
    """The users who began in the day, or in the month, that ``start`` begins."""

    start: date
    count: int


def by_days(span: Span) -> bool:
    """Whether the range is counted by days rather than by months."""
    return span.days <= MOST_DAYS


def range_of_sign_ups(since: date | None, until: date | None, today: date) -> Span:
    """The range to show: what is asked for, else the twelve months that end now."""
    end = until or today
    start = since if since is not None and since <= end else _months_before(end, 11)
    return Span(max(start, _months_before(end, MOST_MONTHS - 1)), end)


def sign_ups(session: Session, caller: Caller, partner_id: UUID, span: Span) -> list[SignUps]:
    """Every day or month of the range, those without anybody too: one query. Raises as
    `report`."""
    caller.require(Permission.REPORT_READ)
    partners.check(session, caller, partner_id)
    length = 10 if by_days(span) else 7
    period = _written(session, length)
    counted = dict(
        session.execute(
            select(period, func.count())
            .where(User.partner_id == partner_id, User.user_type == Role.STANDARD)
            .where(
                User.created_at >= datetime.combine(span.start, time(), UTC),
                User.created_at <= datetime.combine(span.end, time.max, UTC),
            )
            .group_by(period)
        ).all()
    )
    return [SignUps(start, counted.get(str(start)[:length], 0)) for start in _periods(span)]


def _written(session: Session, length: int) -> ColumnElement[str]:
    """The UTC day or month of the sign-up, written as ISO 8601 does."""
    if session.get_bind().dialect.name == "sqlite":
        return func.substr(type_coerce(User.created_at, String), 1, literal_column(str(length)))
    pattern: ColumnElement[str] = literal_column("'YYYY-MM-DD'" if length == 10 else "'YYYY-MM'")
    return func.to_char(func.timezone(literal_column("'UTC'"), User.created_at), pattern)


def _periods(span: Span) -> list[date]:
    if by_days(span):
        return [span.start + timedelta(days=number) for number in range(span.days)]
    first = span.start.replace(day=1)
    months = (span.end.year - first.year) * 12 + span.end.month - first.month
    return [_months_before(span.end, months - number) for number in range(months + 1)]


def _months_before(day: date, count: int) -> date:
    months = max(12, day.year * 12 + day.month - 1 - count)
    return date(months // 12, months % 12 + 1, 1)
