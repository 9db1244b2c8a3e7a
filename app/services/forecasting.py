"""Forecast the days to come from daily figures.

Additive exponential smoothing with a weekly season and a damped trend (Holt-Winters), with fixed
parameters; docs/decisions/partners.md#forecast lists its errors. R. J. Hyndman and G.
Athanasopoulos, "Forecasting: Principles and Practice", 3rd edition, sections 8.4 and 8.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from math import sqrt

from app.calendar_months import last_day_of

HISTORY = timedelta(weeks=12)
"""How many days of figures the forecast of a month's end is based on."""
WEEK = 7
MIN_DAYS = 3 * WEEK
"""Minimum days of a forecast's history."""
LEVEL, TREND, SEASON, DAMPING = 0.05, 0.005, 0.1, 0.95
EIGHTY_PERCENT = 1.2816
"""Standard deviations on both sides of the middle 80 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class DailyForecast:
    """The expected figure of each coming day, and the error of their sum (80 %)."""

    days: tuple[float, ...]
    margin: float

    @property
    def total(self) -> float:
        return sum(self.days)

    def with_today(self, so_far: float) -> "DailyForecast":
        """Return the forecast, with the figure that today, its first day, already has if that is
        higher."""
        return DailyForecast((max(self.days[0], so_far), *self.days[1:]), self.margin)


@dataclass(frozen=True, slots=True)
class MonthEnd:
    """The expected figure of the month that ends on ``last_day``, within 80 % of cases from ``low``
    to ``high``."""

    last_day: date
    expected: int
    low: int
    high: int


def month_end(forecast_of_days: DailyForecast, today: date, before: int, so_far: int) -> MonthEnd:
    """Add the forecast of the days from today on to what was counted ``before`` them this month.
    Today has ``so_far`` already."""
    remaining = forecast_of_days.with_today(so_far).total
    return MonthEnd(
        last_day_of(today),
        before + round(remaining),
        before + max(so_far, round(remaining - forecast_of_days.margin)),
        before + round(remaining + forecast_of_days.margin),
    )


def forecast(history: Sequence[float], count: int) -> DailyForecast | None:
    """Return the forecast of ``count`` days after the ``history``, which begins with its first day
    above zero; None if that is too short."""
    first = next((position for position, value in enumerate(history) if value), len(history))
    values = history[first:]
    if len(values) < MIN_DAYS or count < 1:
        return None
    start = values[: 2 * WEEK]
    level, trend = sum(start) / len(start), 0.0
    season = [(start[day] + start[day + WEEK]) / 2 - level for day in range(WEEK)]
    squares = []
    for position, value in enumerate(values):
        day = position % WEEK
        error = value - (level + DAMPING * trend + season[day])
        level += DAMPING * trend + LEVEL * error
        trend = DAMPING * trend + TREND * error
        season[day] += SEASON * error
        if position >= len(start):
            squares.append(error * error)
    slopes = list(accumulate(DAMPING**step for step in range(1, count + 1)))
    days = tuple(
        max(0.0, level + slopes[step] * trend + season[(len(values) + step) % WEEK])
        for step in range(count)
    )
    # The influence of a day's error on the days after it, and so on the sum.
    moved = [1.0] + [
        LEVEL + TREND * slopes[step - 1] + (SEASON if step % WEEK == 0 else 0)
        for step in range(1, count)
    ]
    spread = sum(reach * reach for reach in accumulate(moved))
    return DailyForecast(days, EIGHTY_PERCENT * sqrt(spread * sum(squares) / len(squares)))
