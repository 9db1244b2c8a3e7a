"""The names of time zones."""

from functools import cache
from zoneinfo import available_timezones


@cache
def time_zones() -> frozenset[str]:
    """Return the IANA names, read once: finding them walks the whole folder of zones."""
    return frozenset(available_timezones())
