"""The local time of a phone number, and when it may be called."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from phonenumbers import is_number_geographical, region_code_for_number
from phonenumbers.timezone import UNKNOWN_TIMEZONE, time_zones_for_number

from app.phone.number_regions import parse_or_none

_DAYS_AHEAD = 3
_WEEK_AHEAD = 9
EVERY_DAY = frozenset(range(1, 8))
"""ISO weekdays: 1 is Monday."""


def timezones_of(e164: str) -> tuple[str, ...]:
    """Return every time zone of the number, by IANA name; empty if none is known.

    A number with an area code has the zones of that area; any other (mobile, toll-free) has all
    zones of its country.
    """
    number = parse_or_none(e164)
    if number is None:
        return ()
    national = _zones_of_regions().get(region_code_for_number(number) or "", ())
    if national and not is_number_geographical(number):
        return national
    zones = tuple(zone for zone in time_zones_for_number(number) if zone != UNKNOWN_TIMEZONE)
    return zones or national


def zones_of_region(region: str) -> tuple[str, ...]:
    """Return every time zone of a region code, by IANA name; empty if none is known."""
    return _zones_of_regions().get(region, ())


def only_zone_of(region: str) -> str | None:
    """Return the time zone of a region in which all clocks show the same time; else None."""
    zones = zones_of_region(region)
    return zones[0] if len(set(map(_offsets, zones))) == 1 else None


def has_time_of(zone: str, region: str) -> bool:
    """Return whether a zone has the time of a place in the region, also under a former name; True
    if none is known."""
    zones = zones_of_region(region)
    return not zones or _offsets(zone) in map(_offsets, zones)


def _offsets(zone: str) -> tuple[timedelta | None, ...]:
    """Return the offsets from UTC in the months of this year."""
    year = datetime.now(UTC).year
    return tuple(datetime(year, m, 1, tzinfo=ZoneInfo(zone)).utcoffset() for m in range(1, 13))


@cache
def _zones_of_regions() -> dict[str, tuple[str, ...]]:
    zones = defaultdict(list)
    lines = files("tzdata.zoneinfo").joinpath("zone.tab").read_text("utf-8").splitlines()
    for line in lines:
        if line and not line.startswith("#"):
            region, _, zone = line.split("\t")[:3]
            zones[region].append(zone)
    return {region: tuple(names) for region, names in zones.items()}


def comparable_end(end: time) -> time:
    """Return the end of calling hours for comparisons: midnight becomes the end of the day."""
    return end if end > time.min else time.max


def within_calling_hours(
    e164: str,
    start: time,
    end: time,
    at: datetime,
    weekdays: Collection[int] = EVERY_DAY,
) -> tuple[bool, datetime | None]:
    """Return whether ``at`` (with zone) lies in [start, end) of one of the weekdays, in every zone
    of the number.

    Also returns the first moment, in UTC, at which it does: ``at`` itself if it is allowed now,
    None if no hour of the day suits all zones or no zone is known.
    """
    if at.tzinfo is None or start >= end:
        message = "calling hours need a moment with a zone, and a start before the end"
        raise ValueError(message)
    zones = [ZoneInfo(name) for name in timezones_of(e164)]
    if not zones:
        return False, None
    moment = at.astimezone(UTC)

    def allowed(when: datetime) -> bool:
        local_times = (when.astimezone(zone) for zone in zones)
        return all(
            start <= local_time.time() < end and local_time.isoweekday() in weekdays
            for local_time in local_times
        )

    if allowed(moment):
        return True, moment
    # All zones agree for the first time when the last of them opens.
    days = _DAYS_AHEAD if len(weekdays) == len(EVERY_DAY) else _WEEK_AHEAD
    openings = sorted(
        {opening for zone in zones for opening in _openings(zone, start, moment, days)}
    )
    return False, next((opening for opening in openings if allowed(opening)), None)


def _openings(zone: ZoneInfo, start: time, after: datetime, days: int) -> Iterator[datetime]:
    today = after.astimezone(zone).date()
    for ahead in range(days):
        day = today + timedelta(days=ahead)
        opening = datetime.combine(day, start, tzinfo=zone).astimezone(UTC)
        if opening > after:
            yield opening
