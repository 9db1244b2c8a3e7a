"""The conversations that the current month will have when it ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from app.policy.caller import Caller
from app.services.forecasting import forecast
from app.services.reporting.daily import Day, daily

HISTORY = timedelta(weeks=12)


@dataclass(frozen=True, slots=True)
class MonthEnd:
    """The expected conversations of the month that ends on ``last_day``, within 80 % of cases from
    ``low`` to ``high``."""

    last_day: date
    expected: int
    low: int
    high: int


def month_end(
    session: Session, caller: Caller, today: date, organization_id: UUID | None = None
) -> MonthEnd | None:
    """Return the forecast of the month, None if there were too few days: one query. Raises as
    `daily`."""
    days = daily(session, caller, today - HISTORY, today, organization_id=organization_id)
    return month_end_of(days)


def month_end_of(days: Sequence[Day]) -> MonthEnd | None:
    """As `month_end`, from the days of `HISTORY` until today."""
    today = days[-1].day
    *known, so_far = (day.conversations for day in days)
    last_day = (today.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    found = forecast(known, (last_day - today).days + 1)
    if found is None:
        return None
    before = sum(day.conversations for day in days[:-1] if day.day >= today.replace(day=1))
    rest = max(found.total, float(so_far))
    return MonthEnd(
        last_day,
        before + round(rest),
        before + max(so_far, round(rest - found.margin)),
        before + round(rest + found.margin),
    )
