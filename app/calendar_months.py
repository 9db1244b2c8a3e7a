"""Calendar months, each by its first day."""

from calendar import monthrange
from datetime import UTC, date, datetime, time


def month_of(day: date) -> date:
    return day.replace(day=1)


def last_day_of(month: date) -> date:
    return month.replace(day=monthrange(month.year, month.month)[1])


def months_later(day: date, count: int) -> date:
    """Return the month this many months after that of the day, or before it for a negative count;
    the calendar's first one at least."""
    months = max(12, day.year * 12 + day.month - 1 + count)
    return date(months // 12, months % 12 + 1, 1)


def next_month(day: date) -> date:
    return months_later(day, 1)


def previous_month(day: date) -> date:
    return months_later(day, -1)


def end_of(month: date) -> datetime:
    """Return the moment at which the month ends, in UTC."""
    return midnight(next_month(month))


def month_after(moment: datetime, months: int = 1) -> datetime:
    """Return the start of the month this many months later, in UTC."""
    return midnight(months_later(moment.astimezone(UTC).date(), months))


def midnight(day: date) -> datetime:
    """Return the beginning of the day, in UTC."""
    return datetime.combine(day, time(), UTC)
