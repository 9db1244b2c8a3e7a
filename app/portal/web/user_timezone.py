"""The user's time zone in the filters of a list."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from flask import g
from flask_login import current_user

from app.portal.web import lists

FIRST, LAST = date(1970, 1, 3), date(2999, 12, 31)
"""Days outside are moved into this range, which covers all data."""

Problems = list[tuple[str, str]]


def zone() -> str:
    """Return the user's time zone; outside of a request, that of the export."""
    return g.get("zone") or current_user.timezone or "UTC"


def day_bounds(days_in: str) -> tuple[datetime | None, datetime | None, Problems]:
    """Return when the first day of ``start`` and ``end`` in the URL begins and the last one ends,
    in that zone, and the problems in them."""
    start, end, problems = lists.day_range("start", "end")
    inside = ZoneInfo(days_in)
    since = None if start is None else _midnight(start, 0, inside)
    return since, None if end is None else _midnight(end, 1, inside), problems


def _midnight(day: date, later: int, days_in: ZoneInfo) -> datetime:
    bounded = min(max(day, FIRST), LAST) + timedelta(days=later)
    return datetime.combine(bounded, time(), days_in).astimezone(UTC)
