"""The days of a range next to those of the previous period, and the forecast of the current
month."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from app.calendar_months import last_day_of, month_of
from app.policy.caller import Caller
from app.services import forecasting
from app.services.forecasting import HISTORY, MonthEnd
from app.services.reporting.daily import DailyFigures, daily_and_updated, within
from app.services.reporting.span import DaySpan


@dataclass(frozen=True, slots=True)
class ComparedDays:
    """The days of a range and of the period ``before``, and all that were ``read``, at least those
    and the ones between them. ``end`` is the forecast for the end of the month: None if the range
    doesn't end today, or if there were too few days. ``updated`` is when the data of all days last
    changed."""

    days: Sequence[DailyFigures]
    before: Sequence[DailyFigures]
    end: MonthEnd | None
    read: Sequence[DailyFigures]
    updated: datetime | None


def compare_days(
    session: Session,
    caller: Caller,
    span: DaySpan,
    today: date,
    organization_id: UUID | None = None,
) -> ComparedDays:
    """Return the days of the range, all read at once. Raises as `daily`."""
    before, history = span.before(), DaySpan(today - HISTORY, today)
    is_open = span.end == today
    first = min(before.start, history.start) if is_open else before.start
    days, updated = daily_and_updated(
        session, caller, first, span.end, organization_id=organization_id
    )
    end = _month_end(within(days, history)) if is_open else None
    return ComparedDays(within(days, span), within(days, before), end, days, updated)


def _month_end(days: Sequence[DailyFigures]) -> MonthEnd | None:
    """Return the forecast from the days of `HISTORY` until today."""
    today = days[-1].day
    *past, so_far = (day.conversations for day in days)
    forecast = forecasting.forecast(past, (last_day_of(today) - today).days + 1)
    if forecast is None:
        return None
    before = sum(day.conversations for day in days[:-1] if day.day >= month_of(today))
    return forecasting.month_end(forecast, today, before, so_far)
