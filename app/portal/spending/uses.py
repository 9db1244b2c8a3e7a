"""What is used of spending limits, as pages show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from app.portal.web.formats import day, number
from app.services.spending import MICROS, NEAR, Spending, Use
from app.services.spending.budgets import Budget


@dataclass(frozen=True, slots=True)
class Bar:
    """One limit: its label, what is used in words, and its bar; ``whole`` is None without a
    limit."""

    label: str
    words: str
    part: int
    whole: int | None
    tone: Literal["", "warning", "danger"]
    note: str


def bars_of(found: Spending) -> Sequence[tuple[str, Sequence[Bar]]]:
    """The bars of today and of this month."""
    return [
        (title, [_money(money, found.currency, days[0]), _time(time, days[1])])
        for title, money, time, days in (
            ("Today", found.day_money, found.day_time, (None, None)),
            ("This month", found.month_money, found.month_time, found.passed_on),
        )
    ]


def budget_bar(found: Budget) -> Bar | None:
    """The budget of this month as a bar; None without one."""
    if found.micros is None:
        return None
    use = Use(found.spent, 0, found.micros)
    words = f"{money(found.spent, found.currency)} of {money(found.micros, found.currency)}"
    return _bar("Budget", use, words, "", None)


def nearest(found: Spending) -> Bar | None:
    """The limit that is used the most; None without limits."""
    bars = [bar for _title, group in bars_of(found) for bar in group if bar.whole is not None]
    return max(bars, key=lambda bar: bar.part / bar.whole if bar.whole else 1, default=None)


def money(micros: int, currency: str) -> str:
    """12.50 USD"""
    return f"{number(Decimal(micros) / MICROS, 2)}\N{NO-BREAK SPACE}{currency}"


def _money(use: Use, currency: str, passed_on: date | None) -> Bar:
    most = "no limit" if use.most is None else money(use.most, currency)
    reserved = money(use.reserved, currency) if use.reserved else ""
    return _bar("Spending", use, f"{money(use.spent, currency)} of {most}", reserved, passed_on)


def _time(use: Use, passed_on: date | None) -> Bar:
    most = "no limit" if use.most is None else number(use.most // 60)
    reserved = f"{number(-(-use.reserved // 60))} minutes" if use.reserved else ""
    return _bar(
        "Call minutes", use, f"{number(-(-use.spent // 60))} of {most}", reserved, passed_on
    )


def _bar(label: str, use: Use, words: str, reserved: str, passed_on: date | None) -> Bar:
    tone: Literal["", "warning", "danger"] = ""
    if use.most is not None and use.used >= use.most:
        tone = "danger"
    elif use.most is not None and 100 * use.used >= NEAR * use.most:
        tone = "warning"
    notes = [f"And {reserved} reserved for calls in progress"] if reserved else []
    notes += [f"Expected to reach the limit on {day(passed_on)}"] if passed_on else []
    return Bar(
        label,
        words.replace(" of no limit", ", no limit"),
        use.used,
        use.most,
        tone,
        ". ".join(notes),
    )
