"""Ranges of days: UTC, both ends included."""

from dataclasses import dataclass
from datetime import date, timedelta

from app.calendar_months import last_day_of, month_of, previous_month
from app.schemas.figures import DayRange
from app.schemas.parsing import read


@dataclass(frozen=True, slots=True)
class DaySpan:
    """The days from ``start`` to ``end``."""

    start: date
    end: date

    @property
    def days(self) -> int:
        return (self.end - self.start).days + 1

    @property
    def dates(self) -> list[date]:
        return [self.start + timedelta(days=number) for number in range(self.days)]

    def before(self) -> "DaySpan":
        """Return the previous period, the same on every screen.

        For days from the first of a month: the same days of the previous month, as far as it has
        them. For other days: as many right before; fewer only at the beginning of the calendar.
        """
        first = self.start.toordinal()
        if first > 1 and self.start == month_of(self.end):
            before = last_month(self.start)
            return DaySpan(before.start, min(before.start + (self.end - self.start), before.end))
        return DaySpan(
            date.fromordinal(max(1, first - self.days)), date.fromordinal(max(1, first - 1))
        )

    def whole_day_before(self, today: date) -> date | None:
        """Return the day of the previous period if the range is only today, which isn't over: both
        are shown, but not as a change."""
        return self.before().start if self.start == self.end == today else None


def requested_span(start: str, end: str) -> DaySpan:
    """Return the range from two days as text. Raises `ValidationFailed` as the JSON does."""
    day_range = read(DayRange, {"startDate": start, "endDate": end})
    return DaySpan(day_range.start_date, day_range.end_date)


def last_days(today: date, count: int) -> DaySpan:
    """Return this many days up to today."""
    return DaySpan(today - timedelta(days=count - 1), today)


def this_month(today: date) -> DaySpan:
    """Return the month so far."""
    return DaySpan(month_of(today), today)


def last_month(today: date) -> DaySpan:
    """Return the previous month."""
    return whole_month(previous_month(today))


def whole_month(day: date) -> DaySpan:
    """Return the month of the day, to its end."""
    return DaySpan(month_of(day), last_day_of(day))
