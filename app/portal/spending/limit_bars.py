"""Spending limits as bars, as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from app.languages import gettext, ngettext
from app.languages.dates import NO_BREAK
from app.portal.web.formats import day, number, percent
from app.services.money_format import micros
from app.services.spending import NEAR, LimitUsage, SpendingState
from app.services.spending.budgets import MonthBudget


@dataclass(frozen=True, slots=True)
class LimitBar:
    """One limit: its label, its use in words, and its bar; ``whole`` is None without a limit."""

    label: str
    use_label: str
    used: int
    whole: int | None
    tone: Literal["", "warning", "danger"]
    note: str
    is_budget: bool = False
    period: str = ""


def bars_of(state: SpendingState) -> Sequence[tuple[str, Sequence[LimitBar]]]:
    """Return the bars of today and of this month."""
    currency = state.currency
    return [
        (
            title,
            [_money_bar(money, currency, days[0]), _minutes_bar(time, money, currency, days[1])],
        )
        for title, money, time, days in (
            (gettext("Today"), state.day_money, state.day_time, (None, None)),
            (gettext("This month"), state.month_money, state.month_time, state.passed_on),
        )
    ]


def month_money(state: SpendingState) -> LimitBar:
    """Return this month's spending, against its limit."""
    return _money_bar(state.month_money, state.currency, state.passed_on[0])


def budget_bar(budget: MonthBudget) -> LimitBar | None:
    """Return the budget of this month as a bar; None without one."""
    if budget.micros is None:
        return None
    used = _used_label(
        micros(budget.spent, budget.currency), micros(budget.micros, budget.currency)
    )
    bar = _make_bar(gettext("Budget"), LimitUsage(budget.spent, 0, budget.micros), used, "", None)
    levels = ", ".join(f"{level} %" for level in budget.levels).replace(" %", f"{NO_BREAK}%")
    note = gettext(
        "%(percent)s used. Alerts at %(levels)s.",
        percent=percent(budget.spent, budget.micros),
        levels=levels,
    )
    return replace(bar, is_budget=True, note=note)


def nearest(state: SpendingState) -> LimitBar | None:
    """Return the limit with the largest use; None without limits."""
    bars = [
        replace(bar, period=title)
        for title, group in bars_of(state)
        for bar in group
        if bar.whole is not None
    ]
    return max(bars, key=lambda bar: bar.used / bar.whole if bar.whole else 1, default=None)


def _money_bar(use: LimitUsage, currency: str, passed_on: date | None) -> LimitBar:
    limit = None if use.limit is None else micros(use.limit, currency)
    reserved = ""
    if use.reserved:
        reserved = gettext(
            "And %(amount)s reserved for calls in progress.", amount=micros(use.reserved, currency)
        )
    used = _used_label(micros(use.spent, currency), limit)
    return _make_bar(gettext("Spending"), use, used, reserved, passed_on)


def _minutes_bar(
    use: LimitUsage, money: LimitUsage, currency: str, passed_on: date | None
) -> LimitBar:
    limit = None if use.limit is None else number(use.limit // 60)
    minutes, reserved = -(-use.reserved // 60), ""
    if minutes:
        reserved = ngettext(
            "And %(num)s minute reserved for calls in progress, at most %(amount)s.",
            "And %(num)s minutes reserved for calls in progress, at most %(amount)s.",
            minutes,
            amount=micros(money.reserved, currency),
        )
    used = _used_label(number(-(-use.spent // 60)), limit)
    return _make_bar(gettext("Call minutes"), use, used, reserved, passed_on)


def _used_label(used: str, limit: str | None) -> str:
    if limit is None:
        return gettext("%(used)s, no limit", used=used)
    return gettext("%(used)s of %(most)s", used=used, most=limit)


def _make_bar(
    label: str, use: LimitUsage, text: str, reserved: str, passed_on: date | None
) -> LimitBar:
    tone: Literal["", "warning", "danger"] = ""
    if use.limit is not None and use.used >= use.limit:
        tone = "danger"
    elif use.limit is not None and 100 * use.used >= NEAR * use.limit:
        tone = "warning"
    notes = [reserved] if reserved else []
    if passed_on:
        notes.append(gettext("Expected to reach the limit on %(day)s.", day=day(passed_on)))
    return LimitBar(label, text, use.used, use.limit, tone, " ".join(notes))
