"""What is used of limits, and what is expected to be used by the end of the month."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.models import SpendingTotal
from app.services import forecasting
from app.services.forecasting import HISTORY, DailyForecast, MonthEnd
from app.services.spending.scopes import day_of


@dataclass(frozen=True, slots=True)
class LimitUse:
    """What is used of a limit of a day or a month, with its ``most``; ``reserved`` is what calls
    that have not ended keep of it besides."""

    spent: int
    reserved: int
    most: int | None

    @property
    def used(self) -> int:
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class SpendingForecast:
    """The forecast of each day from today to the end of the month, of spending in millionths and of
    call time in seconds; None if too few days are known."""

    today: date
    money: DailyForecast | None
    time: DailyForecast | None


def outlook(session: Session, of: ColumnElement[bool], now: datetime) -> SpendingForecast:
    """Return the forecast of the totals that ``of`` selects together, in one query."""
    total, first = SpendingTotal, now.date() - HISTORY
    rows = session.execute(
        select(total.period, func.sum(total.spent_micros), func.sum(total.spent_seconds))
        .where(of, total.period.between(day_of(now - HISTORY), day_of(now)))
        .group_by(total.period)
    )
    # The totals of months are among them; no day asks for one.
    days = {period: (int(micros), int(seconds)) for period, micros, seconds in rows}
    known = [
        days.get((first + timedelta(days=age)).isoformat(), (0, 0)) for age in range(HISTORY.days)
    ]
    count = (forecasting.last_day_of(now.date()) - now.date()).days + 1
    return SpendingForecast(
        now.date(), *(forecasting.forecast(each, count) for each in zip(*known, strict=True))
    )


def month_end(ahead: SpendingForecast, month: int, today: int) -> MonthEnd | None:
    """Return what will be spent when the month ends, of which so much is spent ``today``."""
    if ahead.money is None:
        return None
    return forecasting.month_end(ahead.money, ahead.today, month - today, today)


def day_of_limit(
    expected: DailyForecast | None, month: LimitUse, today: LimitUse, first: date
) -> date | None:
    """Return the day of this month, from the ``first`` on, on which the month reaches its limit;
    None if it reached it already, isn't expected to, or too few days are known."""
    if month.most is None or month.used >= month.most or expected is None:
        return None
    used = month.used - today.used
    for place, amount in enumerate(expected.with_today(today.used).days):
        used += round(amount)
        if used >= month.most:
            return first + timedelta(days=place)
    return None
