"""The time zones to choose from."""

from functools import cache

from babel.core import get_global
from wtforms import SelectChoice

from app.validation.time_zones import time_zones

_REGIONS = (
    "Africa",
    "America",
    "Antarctica",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


def zone_choices(current: str | None = None, utc: str = "UTC") -> list[SelectChoice]:
    """Return UTC, with the value ``utc``, the zones named by a place, and the current one."""
    names = {*_zones_of_places(), current or "UTC"} - {"UTC"}
    return [
        SelectChoice(utc, "UTC"),
        *(SelectChoice(name, name.replace("_", " ")) for name in sorted(names)),
    ]


@cache
def _zones_of_places() -> frozenset[str]:
    """Return the zones without former names."""
    named = {zone for zone in time_zones() if zone.partition("/")[0] in _REGIONS}
    return frozenset(named - get_global("zone_aliases").keys())
