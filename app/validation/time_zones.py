"""The names of time zones."""

from difflib import get_close_matches
from functools import cache
from zoneinfo import available_timezones

from app.languages import gettext


@cache
def time_zones() -> frozenset[str]:
    """Return the IANA names. Cached: finding them walks the whole folder of zones."""
    return frozenset(available_timezones())


def unknown_zone(name: str) -> str:
    """Return what is wrong with a name that isn't a time zone, and the zone that may be meant: one
    with almost this name, or of this city."""
    by_name = {zone.casefold(): zone for zone in sorted(time_zones())}
    by_city = {zone.rpartition("/")[2].casefold(): zone for zone in sorted(time_zones())}
    normalized = name.strip().casefold().replace(" ", "_")
    for zones in (by_name, by_city):
        near = get_close_matches(normalized, zones, n=1, cutoff=0.8)
        if near:
            return gettext("Unknown time zone. Did you mean %(zone)s?", zone=zones[near[0]])
    return gettext("Unknown time zone. Use a name like Europe/London.")
