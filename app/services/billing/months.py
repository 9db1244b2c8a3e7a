"""The months that can be closed and shown."""

from datetime import date, datetime, timedelta

from app.calendar_months import month_of, previous_month
from app.errors import ValidationFailed
from app.languages import gettext

CLOSING = timedelta(hours=3)
"""Time after its end at which a month is closed: calls that began in it have ended then."""
EARLIEST = date(1970, 1, 1)


def latest_closable(now: datetime) -> date:
    """Return the latest month that can be closed."""
    return previous_month(month_of((now - CLOSING).date()))


def requested_month(text: str, today: date) -> date:
    """Return the month of a text like 2026-10; this one for a blank text.

    Raises `ValidationFailed` (``invalid_month``), also for future months and those before
    `EARLIEST`.
    """
    try:
        month = date.fromisoformat(f"{text}-01") if text else month_of(today)
    except ValueError:
        month = date.max
    if not EARLIEST <= month <= today:
        message = gettext("Enter a month like 2026-02, not later than this one.")
        raise ValidationFailed.on("month", "invalid_month", message)
    return month
