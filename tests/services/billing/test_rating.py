"""The rating of a month: every rule of docs/decisions/rating.md as a row of a table."""

from datetime import date, timedelta

import pytest

from app.enums import BillingInterval, UsageUnit
from app.services.billing.rating import (
    BilledDay,
    BilledUsage,
    LineKind,
    StatementLine,
    minor_units,
    rate,
)
from app.services.pricing.plans import PlanTerms

OCTOBER = date(2026, 10, 1)
LONG_AGO = date(2025, 1, 1)
MINUTE, CALL = UsageUnit.MINUTE, UsageUnit.CALL

FLAT = PlanTerms(2_900, "USD")
MINUTES = PlanTerms(2_900, "USD", unit=MINUTE, included=100, overage_micros=55_000)
CALLS = PlanTerms(2_900, "USD", unit=CALL, included=10, overage_micros=1_250_000)
NONE_INCLUDED = PlanTerms(0, "USD", unit=MINUTE, overage_micros=5_000)
TRIAL = PlanTerms(3_100, "USD", unit=MINUTE, included=5, overage_micros=100_000, trial_days=14)
YEARLY = PlanTerms(10_000, "USD", BillingInterval.YEAR)
YEN = PlanTerms(3_000, "JPY", unit=MINUTE, overage_micros=500_000)
DINAR = PlanTerms(9_500, "KWD", unit=MINUTE, overage_micros=1_500)

Short = tuple[LineKind, int, int, int]


def usage(calls: int, minutes: int, day: int = 20, since: date = LONG_AGO) -> BilledUsage:
    return BilledUsage(since, [BilledDay(date(2026, 10, day), calls, minutes)])


def short(lines: list[StatementLine]) -> list[Short]:
    """Kind, used, charged and amount of each line."""
    return [(line.kind, line.used, line.charged, line.amount) for line in lines]


WHOLE = (LineKind.PLAN, 31, 31, 2_900)
NOTHING = BilledUsage(LONG_AGO, [])
CASES: dict[str, tuple[PlanTerms, BilledUsage, list[Short]]] = {
    "a plan without a unit charges its price alone": (FLAT, usage(9, 999), [WHOLE]),
    "no usage": (MINUTES, NOTHING, [WHOLE, (LineKind.USAGE, 0, 0, 0)]),
    "exactly what is included": (MINUTES, usage(9, 100), [WHOLE, (LineKind.USAGE, 100, 0, 0)]),
    "one minute beyond, half a cent up": (
        MINUTES,
        usage(9, 101),
        [WHOLE, (LineKind.USAGE, 101, 1, 6)],
    ),
    "twenty minutes beyond": (MINUTES, usage(9, 120), [WHOLE, (LineKind.USAGE, 120, 20, 110)]),
    "calls instead of minutes": (CALLS, usage(12, 999), [WHOLE, (LineKind.USAGE, 12, 2, 250)]),
    "the sum is rounded, not each minute": (
        NONE_INCLUDED,
        usage(1, 7),
        [(LineKind.PLAN, 31, 31, 0), (LineKind.USAGE, 7, 7, 4)],
    ),
    "a whole month in the trial": (
        TRIAL,
        usage(3, 40, since=date(2026, 9, 20) + timedelta(days=30)),
        [(LineKind.PLAN, 31, 0, 0), (LineKind.TRIAL, 40, 0, 0), (LineKind.USAGE, 0, 0, 0)],
    ),
    "the trial ends in the month": (
        TRIAL,
        BilledUsage(
            date(2026, 9, 27),
            [BilledDay(date(2026, 10, 10), 1, 9), BilledDay(date(2026, 10, 11), 1, 8)],
        ),
        [(LineKind.PLAN, 31, 21, 2_100), (LineKind.TRIAL, 9, 0, 0), (LineKind.USAGE, 8, 3, 30)],
    ),
    "created in the month": (
        FLAT,
        BilledUsage(date(2026, 10, 31), []),
        [(LineKind.PLAN, 31, 1, 94)],
    ),
    "currencies without decimals": (
        YEN,
        usage(1, 3),
        [(LineKind.PLAN, 31, 31, 3_000), (LineKind.USAGE, 3, 3, 2)],
    ),
    "currencies with three decimals": (
        DINAR,
        usage(1, 3),
        [(LineKind.PLAN, 31, 31, 9_500), (LineKind.USAGE, 3, 3, 5)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_month_is_rated(case: str) -> None:
    terms, used, expected = CASES[case]
    assert short(rate(terms, used, OCTOBER)) == expected


def test_twelve_months_of_a_yearly_plan_are_its_price_to_the_cent() -> None:
    months = [rate(YEARLY, NOTHING, date(2026, month, 1))[0].amount for month in range(1, 13)]
    assert sum(months) == 10_000
    assert set(months) == {833, 834}


def test_a_stored_line_is_read_back_unchanged() -> None:
    line = StatementLine(LineKind.CORRECTION, -55, "minute", month=OCTOBER)
    assert StatementLine.stored(line.to_json()) == line


@pytest.mark.parametrize(
    ("micros", "currency", "expected"),
    [
        (4_999, "USD", 0),
        (5_000, "USD", 1),
        (14_999, "EUR", 1),
        (499_999, "JPY", 0),
        (500_000, "JPY", 1),
        (500, "KWD", 1),
    ],
)
def test_halves_of_the_smallest_unit_are_rounded_up(
    micros: int, currency: str, expected: int
) -> None:
    assert minor_units(micros, currency) == expected
