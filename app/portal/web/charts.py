"""Figures by day, as `components/chart.html` draws them."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

Series = tuple[str, str, Sequence[float | None]]
"""Role, label, and the value of each day."""


def chart_of(
    days: Iterable[date], *series: Series, unfinished: bool = False, unit: str = "day"
) -> dict[str, Any]:
    return {
        "days": [day.isoformat() for day in days],
        "series": [dict(zip(("role", "label", "values"), each, strict=True)) for each in series],
        "unfinished": unfinished,
        "unit": unit,
    }
