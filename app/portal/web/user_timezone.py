"""The user's time zone in the filters of a list."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from flask import g, request
from flask_login import current_user

from app.calendar_months import midnight
from app.languages import gettext, lazy_gettext
from app.models import utcnow
from app.portal.web import lists
from app.portal.web.blueprint import portal

FIRST, LAST = date(1970, 1, 3), date(2999, 12, 31)
"""Days outside are moved into this range, which covers all data."""
_EARLIEST = midnight(FIRST)

Problems = list[tuple[str, str]]
LAST_24_HOURS, LAST_WEEK = "24-hours", "last-week"
TIMES: dict[str, str] = {
    LAST_24_HOURS: lazy_gettext("Last 24 hours"),
    "today": lazy_gettext("Today"),
    "yesterday": lazy_gettext("Yesterday"),
    "7-days": lazy_gettext("7 days"),
    LAST_WEEK: lazy_gettext("Last week (Mon–Sun)"),
    "30-days": lazy_gettext("30 days"),
}
"""The values of ``within`` with their words."""
_DAYS_OF = {"today": (0, 0), "yesterday": (1, 1), "7-days": (6, 0), "30-days": (29, 0)}
"""How many days ago their first and last days are."""


def zone() -> str:
    """Return the user's time zone; outside of a request, that of the export."""
    return g.get("zone") or current_user.timezone or "UTC"


def day_bounds(days_in: str) -> tuple[datetime | None, datetime | None, Problems]:
    """Return when the first day of ``start`` and ``end`` in the URL starts and the last one ends,
    in that zone, and the problems of both."""
    start, end, problems = lists.day_range("start", "end")
    tz = ZoneInfo(days_in)
    since = None if start is None else _midnight(start, 0, tz)
    return since, None if end is None else _midnight(end, 1, tz), problems


def time_bounds(days_in: str) -> tuple[datetime | None, datetime | None, Problems]:
    """Return the same, limited to the recent time that ``within`` in the URL names."""
    since, before, problems = day_bounds(days_in)
    named, now = request.args.get("within", ""), utcnow()
    if named == LAST_24_HOURS:
        since = max(since or _EARLIEST, now - timedelta(days=1))
    elif named in TIMES:
        tz = ZoneInfo(days_in)
        today = now.astimezone(tz).date()
        monday = today.weekday()
        first, last = (monday + 7, monday + 1) if named == LAST_WEEK else _DAYS_OF[named]
        since = max(since or _EARLIEST, _midnight(today, -first, tz))
        end = _midnight(today, 1 - last, tz)
        before = end if before is None else min(before, end)
    return since, before, problems


@portal.app_template_global()
def time_choices() -> list[tuple[str, str]]:
    """Return the options of a filter by ``within``."""
    return [(value, str(label)) for value, label in TIMES.items()]


def last_days(count: int, days_in: str) -> tuple[date, date, datetime]:
    """Return the first and the last of this many days up to today in that zone, and when the first
    starts."""
    tz = ZoneInfo(days_in)
    today = utcnow().astimezone(tz).date()
    first = today - timedelta(days=count - 1)
    return first, today, _midnight(first, 0, tz)


def _midnight(day: date, later: int, days_in: ZoneInfo) -> datetime:
    bounded = min(max(day, FIRST), LAST) + timedelta(days=later)
    return datetime.combine(bounded, time(), days_in).astimezone(UTC)


@portal.app_template_global()
def zoned(label: str) -> str:
    """Return the heading of a column of times, with their zone if the reader hasn't chosen it."""
    if _is_readers():
        return label
    return gettext("%(label)s (%(zone)s)", label=label, zone=zone())


@portal.app_template_global()
def zone_note() -> str:
    """Return the sentence that names the zone, to follow another one, if the reader hasn't chosen
    it."""
    return "" if _is_readers() else " " + gettext("Times are in %(zone)s.", zone=zone())


def _is_readers() -> bool:
    """Return whether times are in a zone that the reader has chosen. An operator who views the
    portal as another user sees that user's."""
    return bool(current_user.timezone) and current_user.signed_in.operator is None
