"""Rate the usage of a month: what an organization pays, line by line (docs/decisions/rating.md).

`rate` is a pure function. Amounts are in the smallest unit of the currency.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Self

from app.calendar_months import last_day_of
from app.enums import BillingInterval, UsageUnit
from app.gateways.processors.currencies import decimals
from app.services.pricing.plans import PlanTerms


class LineKind(StrEnum):
    """The kind of a line of a statement."""

    PLAN = "plan"
    TRIAL = "trial"
    """Usage in the trial, which is free."""
    USAGE = "usage"
    CORRECTION = "correction"
    """Usage of an earlier month that was reported after its statement was closed."""


@dataclass(frozen=True, slots=True)
class BilledDay:
    """The answered calls of a UTC day; each counts in full minutes."""

    day: date
    calls: int
    minutes: int


@dataclass(frozen=True, slots=True)
class BilledUsage:
    """The days of a month that have calls. ``since`` is when the organization was created."""

    since: date
    days: Sequence[BilledDay]


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A line of a statement: of ``used`` days, minutes or calls, ``charged`` are charged, each with
    ``unit_micros`` millionths of the currency; for a plan that is its price for the whole month.
    ``month`` is that of a correction."""

    kind: LineKind
    amount: int
    unit: str = "day"
    used: int = 0
    included: int = 0
    charged: int = 0
    unit_micros: int = 0
    month: date | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"month": self.month.isoformat() if self.month else None}

    @classmethod
    def stored(cls, values: dict[str, Any]) -> Self:
        month = date.fromisoformat(values["month"]) if values["month"] else None
        return cls(**{**values, "kind": LineKind(values["kind"]), "month": month})


def rate(terms: PlanTerms, usage: BilledUsage, month: date) -> list[StatementLine]:
    """Return the lines of the month that begins at ``month``: the plan, usage in the trial, and
    usage."""
    begins = charged_from(terms, usage.since)
    lines = [_plan_line(terms, begins, month)]
    if terms.unit is None:
        return lines
    used = used_in(terms.unit, usage.days, begins)
    free = used_in(terms.unit, usage.days, date.min) - used
    if free:
        lines.append(StatementLine(LineKind.TRIAL, 0, terms.unit.value, used=free))
    line = StatementLine(
        LineKind.USAGE,
        0,
        terms.unit.value,
        included=terms.included,
        unit_micros=terms.overage_micros,
    )
    return [*lines, with_use(line, used, terms.currency)]


def charged_from(terms: PlanTerms, since: date) -> date:
    """Return the first day that is charged: the trial days begin when the organization is
    created."""
    return since + timedelta(days=terms.trial_days)


def with_use(line: StatementLine, used: int, currency: str) -> StatementLine:
    """Return a line of usage with another usage: only the part beyond the included one is
    charged."""
    charged = max(0, used - line.included)
    amount = minor_units(charged * line.unit_micros, currency)
    return StatementLine(
        line.kind, amount, line.unit, used, line.included, charged, line.unit_micros
    )


def used_in(unit: str, days: Sequence[BilledDay], begins: date) -> int:
    """Return the minutes or calls from a day on."""
    charged = [each for each in days if each.day >= begins]
    return sum(each.minutes if unit == UsageUnit.MINUTE else each.calls for each in charged)


def minor_units(micros: int, currency: str) -> int:
    """Return millionths in the smallest unit of the currency; halves are rounded up."""
    return _divide_rounded(micros, in_micros(1, currency))


def in_micros(amount: int, currency: str) -> int:
    """Return an amount in the smallest unit of the currency in millionths."""
    return int(amount * 10 ** (6 - decimals(currency)))


def _plan_line(terms: PlanTerms, begins: date, month: date) -> StatementLine:
    days_in_month = last_day_of(month).day
    charged = min(days_in_month, max(0, days_in_month - (begins - month).days))
    price = terms.amount
    if terms.interval is BillingInterval.YEAR:  # twelve months are the price of the year, exactly
        price = terms.amount * month.month // 12 - terms.amount * (month.month - 1) // 12
    return StatementLine(
        LineKind.PLAN,
        _divide_rounded(price * charged, days_in_month),
        used=days_in_month,
        charged=charged,
        unit_micros=in_micros(price, terms.currency),
    )


def _divide_rounded(value: int, by: int) -> int:
    """Return the quotient; halves are rounded up."""
    return (2 * value + by) // (2 * by)
