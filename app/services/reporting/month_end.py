"""The conversations that the current month will have when it ends."""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

from sqlalchemy.orm import Session

from app.policy.caller import Caller
from app.services import forecasting
from app.services.forecasting import HISTORY, MonthEnd
from app.services.reporting.daily import DailyFigures, daily


def month_end(
    session: Session, caller: Caller, today: date, organization_id: UUID | None = None
) -> MonthEnd | None:
    """Return the forecast of the month, None if there were too few days: one query. Raises as
    `daily`."""
    days = daily(session, caller, today - HISTORY, today, organization_id=organization_id)
    return month_end_of(days)


def month_end_of(days: Sequence[DailyFigures]) -> MonthEnd | None:
    """As `month_end`, from the days of `HISTORY` until today."""
    today = days[-1].day
    *known, so_far = (day.conversations for day in days)
    found = forecasting.forecast(known, (forecasting.last_day_of(today) - today).days + 1)
    if found is None:
        return None
    before = sum(day.conversations for day in days[:-1] if day.day >= today.replace(day=1))
    return forecasting.month_end(found, today, before, so_far)
