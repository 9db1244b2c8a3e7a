"""The months of costs and margin as charts, one for each currency."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from flask import url_for

from app.languages import gettext
from app.portal.billing.words import amount_of, month_name
from app.portal.web.charts import chart_of
from app.services.billing.margin import MonthMargin
from app.services.money_words import micros
from app.services.reporting import MonthEarned

MIN_MONTHS = 2
"""Minimum months of a chart."""


@dataclass(frozen=True, slots=True)
class MonthChart:
    """``legend`` names the series, each with its kind; ``words`` are the ``data`` in text form."""

    currency: str
    legend: Sequence[tuple[str, str]]
    data: dict[str, Any]
    words: str


def months_url(month: date, organization_id: UUID | None = None) -> str:
    """Return the URL of the page of a month, of all organizations or of one."""
    shown = f"{month:%Y-%m}"
    if organization_id is None:
        return url_for("portal.costs", month=shown)
    return url_for("portal.costs_of_organization", organization_id=organization_id, month=shown)


def month_charts(
    months: Sequence[MonthEarned], organization_id: UUID | None = None
) -> Sequence[MonthChart]:
    """Return a chart for each currency of prices and costs, none for a single month. Months whose
    prices are in several currencies are left out."""
    known = [(each.month, each.total) for each in months if each.total is not None]
    if len(known) < MIN_MONTHS:
        return []
    prices = [row.currency for _, row in known if row.price]
    costs = [currency for _, row in known for currency, amount in row.costs.items() if amount]
    return [
        _chart(known, currency, organization_id, has_price=currency in prices)
        for currency in dict.fromkeys([*prices, *costs])
    ]


def _chart(
    known: Sequence[tuple[date, MonthMargin]],
    currency: str,
    organization_id: UUID | None,
    *,
    has_price: bool,
) -> MonthChart:
    prices = [row.price if row.currency == currency else None for _, row in known]
    costs: list[int | None] = [row.costs.get(currency, 0) for _, row in known]
    label = gettext("Price") if organization_id else gettext("Price to customers")
    series = [(label, prices, "second")] if has_price else []
    has_model = any(row.model for _, row in known)
    words = gettext("Carrier and model costs") if has_model else gettext("Carrier cost")
    series += [(words, costs, "first")] if any(costs) else []
    return MonthChart(
        currency,
        [(words, kind) for words, _, kind in series],
        chart_of(
            [month for month, _ in known],
            *((kind, words, _amounts(values, currency)) for words, values, kind in series),
            unit="month",
        )
        | {"urls": [months_url(month, organization_id) for month, _ in known]},
        " ".join(_extremes(known, words, values, currency) for words, values, _ in series),
    )


def _amounts(values: Sequence[int | None], currency: str) -> list[float | None]:
    return [None if value is None else float(amount_of(value, currency)) for value in values]


def _extremes(
    known: Sequence[tuple[date, MonthMargin]],
    words: str,
    values: Sequence[int | None],
    currency: str,
) -> str:
    months = [month for month, _ in known]
    amounts = [value for value in values if value is not None]
    most, least = max(amounts), min(amounts)
    return gettext(
        "%(series)s: most in %(most_month)s with %(most)s, "
        "least in %(least_month)s with %(least)s.",
        series=words,
        most_month=month_name(months[values.index(most)]),
        most=micros(most, currency),
        least_month=month_name(months[values.index(least)]),
        least=micros(least, currency),
    )
