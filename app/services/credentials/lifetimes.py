"""The end of scripts' credentials: after a year, unless another end or none is chosen."""

from datetime import datetime, timedelta

from app.errors import ValidationFailed
from app.languages import gettext
from app.models import utcnow

End = datetime | timedelta | None
"""The end of a credential: a moment, a time from now, or None for never."""

DEFAULT = timedelta(days=365)
CHOICES = (timedelta(days=30), timedelta(days=90), DEFAULT)
"""The choices in forms."""
NOTICES = (14, 1)
"""Days before the end at which a notice is sent."""


def end_of(value: End) -> datetime | None:
    """Return the moment of an end. Raises `ValidationFailed` (``in_the_past``)."""
    now = utcnow()
    end = now + value if isinstance(value, timedelta) else value
    if end is not None and end <= now:
        message = gettext("Choose an end date in the future.")
        raise ValidationFailed.on("expiresAt", "in_the_past", message)
    return end


def first_notice(end: datetime | None) -> int | None:
    """Return the notice that isn't sent about a credential with this end, because it is given less
    time from now; None if every one is sent."""
    if end is None:
        return None
    left = end - utcnow()
    return min((days for days in NOTICES if left <= timedelta(days=days)), default=None)


def has_passed(end: datetime | None) -> bool:
    return end is not None and end <= utcnow()
