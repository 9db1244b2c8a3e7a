"""Which calls are unusual compared with those of four weeks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.services.unusual_calls.counting import region_of_prefix
from app.services.unusual_calls.judging import UnusualCallRules, reason

NOW = datetime(2026, 10, 15, 14, tzinfo=UTC)
RULES = UnusualCallRules(first_hour=200)


def weeks(
    *, days: int = 20, hours: tuple[int, ...] = (13, 14), calls: int = 30
) -> list[tuple[datetime, str, int]]:
    """Calls to the United States on each of the days before."""
    return [
        (NOW.replace(hour=hour) - timedelta(days=day), "US", calls)
        for day in range(1, days + 1)
        for hour in hours
    ]


@pytest.mark.parametrize(
    ("now", "history", "expected"),
    [
        ({"US": 90}, weeks(), None),
        ({"US": 91}, weeks(), "91 calls in an hour; the most in four weeks were 30"),
        ({"US": 50}, weeks(calls=2), None),
        ({"US": 51}, weeks(calls=2), "51 calls in an hour; the most in four weeks were 2"),
        ({"US": 20, "CU": 9}, weeks(), None),
        (
            {"US": 20, "CU": 10},
            weeks(),
            "10 calls in an hour to Cuba, which was not called before",
        ),
        (
            {"SO": 12, "CU": 10},
            weeks(),
            "22 calls in an hour to Cuba and Somalia, which were not called before",
        ),
        (
            dict.fromkeys(("AO", "CU", "ES", "FR", "GB"), 300),
            weeks(),
            (
                "1,500 calls in an hour to Angola, Cuba, Spain, France, and the United Kingdom, "
                "which were not called before"
            ),
        ),
        (
            dict.fromkeys(("AO", "CU", "ES", "FR", "GB", "PE", "SO", "TT"), 10),
            weeks(),
            (
                "80 calls in an hour to Angola, Cuba, Spain, France, the United Kingdom, "
                "and 3 more countries, which were not called before"
            ),
        ),
        ({"US": 19}, weeks(hours=(9,)), None),
        ({"US": 20}, weeks(hours=(9,), days=6), None),
        (
            {"US": 20},
            weeks(hours=(9,), days=7),
            "20 calls at 14:00 UTC, an hour without calls in four weeks",
        ),
        ({"US": 200}, [], None),
        ({"US": 150, "CA": 51}, [], "201 calls in the first hour of calling"),
    ],
)
def test_an_hour_is_compared_with_four_weeks(
    now: dict[str, int], history: list[tuple[datetime, str, int]], expected: str | None
) -> None:
    assert reason(now, history, NOW, RULES) == expected


def test_a_clock_change_creates_no_unusual_hour() -> None:
    """14:00 in Berlin is 12:00 UTC in summer and 13:00 UTC in winter."""
    summer = [(NOW.replace(hour=12) + timedelta(days=day), "DE", 30) for day in range(7)]
    winter = datetime(2026, 10, 26, 13, tzinfo=UTC)
    berlin = ZoneInfo("Europe/Berlin")
    assert reason({"DE": 30}, summer, winter, RULES, berlin) is None
    assert reason({"DE": 30}, summer, winter - timedelta(hours=1), RULES, berlin) == (
        "30 calls at 13:00 CET, an hour without calls in four weeks"
    )


@pytest.mark.parametrize(
    ("prefix", "region"),
    [("+1202", "US"), ("+1876", "JM"), ("+4930", "DE"), ("+4477", "GB"), ("+2526", "SO")],
)
def test_a_prefix_belongs_to_a_region(prefix: str, region: str) -> None:
    assert region_of_prefix(prefix) == region
