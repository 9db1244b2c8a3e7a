"""Figures by day, as `components/chart.html` draws them."""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import chain, islice, repeat
from typing import Any

Series = tuple[str, str, Sequence[float | None]]
"""Role, label, and the values from the first day on: fewer than days if the others are to come."""


def chart_of(
    days: Iterable[date], *series: Series, unfinished: bool = False, unit: str = "day"
) -> dict[str, Any]:
    labels = [day.isoformat() for day in days]
    return {
        "days": labels,
        "series": [
            {
                "role": role,
                "label": label,
                "values": list(islice(chain(values, repeat(None)), len(labels))),
            }
            for role, label, values in series
        ],
        "unfinished": unfinished,
        "unit": unit,
    }
