"""The months of costs and margin as charts, one for each currency."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from flask import url_for

from app.languages import gettext
from app.portal.billing.formats import amount_of, month_name
from app.portal.web.charts import chart_of
from app.services.billing.margin import MonthMargin
from app.services.money_format import micros
from app.services.reporting import MonthEarned

MIN_MONTHS = 2
"""Minimum months of a chart."""


@dataclass(frozen=True, slots=True)
class MonthChart:
    """``legend`` names the series, each with its kind; ``summary`` is the ``data`` as text."""

    currency: str
    legend: Sequence[tuple[str, str]]
    data: dict[str, Any]
    summary: str


def months_url(month: date, organization_id: UUID | None = None) -> str:
    """Return the URL of the page of a month, of all organizations or of one."""
    month_value = f"{month:%Y-%m}"
    if organization_id is None:
        return url_for("portal.billing.show_costs", month=month_value)
    return url_for(
        "portal.billing.show_organization_costs", organization_id=organization_id, month=month_value
    )


def month_charts(
    months: Sequence[MonthEarned], organization_id: UUID | None = None
) -> Sequence[MonthChart]:
    """Return a chart for each currency of prices and costs, none for a single month. Months whose
    prices are in several currencies are left out."""
    totals = [(each.month, each.total) for each in months if each.total is not None]
    if len(totals) < MIN_MONTHS:
        return []
    prices = [row.currency for _, row in totals if row.price]
    costs = [currency for _, row in totals for currency, amount in row.costs.items() if amount]
    return [
        _chart(totals, currency, organization_id, has_price=currency in prices)
        for currency in dict.fromkeys([*prices, *costs])
    ]


def _chart(
    totals: Sequence[tuple[date, MonthMargin]],
    currency: str,
    organization_id: UUID | None,
    *,
    has_price: bool,
) -> MonthChart:
    prices = [row.price if row.currency == currency else None for _, row in totals]
    costs: list[int | None] = [row.costs.get(currency, 0) for _, row in totals]
    price_label = gettext("Price") if organization_id else gettext("Price to customers")
    series = [(price_label, prices, "second")] if has_price else []
    has_model = any(row.model for _, row in totals)
    series_label = gettext("Carrier and model costs") if has_model else gettext("Carrier cost")
    series += [(series_label, costs, "first")] if any(costs) else []
    return MonthChart(
        currency,
        [(series_label, kind) for series_label, _, kind in series],
        chart_of(
            [month for month, _ in totals],
            *(
                (kind, series_label, _amounts_in(values, currency))
                for series_label, values, kind in series
            ),
            unit="month",
        )
        | {"urls": [months_url(month, organization_id) for month, _ in totals]},
        " ".join(
            _extremes_message(totals, series_label, values, currency)
            for series_label, values, _ in series
        ),
    )


def _amounts_in(values: Sequence[int | None], currency: str) -> list[float | None]:
    return [None if value is None else float(amount_of(value, currency)) for value in values]


def _extremes_message(
    totals: Sequence[tuple[date, MonthMargin]],
    label: str,
    values: Sequence[int | None],
    currency: str,
) -> str:
    months = [month for month, _ in totals]
    amounts = [value for value in values if value is not None]
    highest, lowest = max(amounts), min(amounts)
    return gettext(
        "%(series)s: most in %(most_month)s with %(most)s, "
        "least in %(least_month)s with %(least)s.",
        series=label,
        most_month=month_name(months[values.index(highest)]),
        most=micros(highest, currency),
        least_month=month_name(months[values.index(lowest)]),
        least=micros(lowest, currency),
    )
