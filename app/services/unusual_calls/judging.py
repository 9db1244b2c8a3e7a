"""Whether the calls of this hour are unusual compared with those of the previous four weeks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from app.errors import Sentence
from app.phone import list_countries

COUNTRY_CALLS = 10
"""Calls per hour from which a country that was never called before is unusual."""
HOUR_CALLS = 20
"""Calls per hour from which an hour of the day without earlier calls is unusual."""
RATE_CALLS = 50
"""Calls per hour below which there are never too many."""
RATE_FACTOR = 3
"""Multiple of the busiest hour's calls that is unusual."""
KNOWN_DAYS = 7
"""Days with calls from which hours of the day are compared."""
# Translators: the ends of a sentence that begins with "Unusual calls:"
_FIRST_HOUR = Sentence.gettext("%(calls_number)s calls in the first hour of calling")
_NEW_COUNTRY = Sentence.gettext(
    "%(calls_number)s calls in an hour to %(country_words)s, which was not called before"
)
_NEW_COUNTRIES = Sentence.gettext(
    "%(calls_number)s calls in an hour to %(country_words)s, which were not called before"
)
_NEW_HOUR = Sentence.gettext(
    "%(calls_number)s calls at %(time)s, an hour without calls in four weeks"
)
_TOO_MANY = Sentence.gettext(
    "%(calls_number)s calls in an hour; the most in four weeks were %(most_number)s"
)


@dataclass(frozen=True, slots=True)
class UnusualCallRules:
    """``first_hour`` is the maximum of calls in an hour of an organization that made none
    before."""

    first_hour: int = 200


History = Sequence[tuple[datetime, str, int]]
"""Calls by hour and region."""


def reason(
    now: Mapping[str, int],
    history: History,
    hour: datetime,
    rules: UnusualCallRules,
    zone: tzinfo = UTC,
) -> str | None:
    """Return why the calls of an hour by region are unusual, as the end of a sentence; None if they
    aren't. Hours of the day are those of the zone."""
    total = sum(now.values())
    if not history:
        if total <= rules.first_hour:
            return None
        return _FIRST_HOUR(calls_number=f"{total:,}")
    regions = {region for _hour, region, _calls in history}
    new = sorted(region for region, calls in now.items() if calls >= COUNTRY_CALLS)
    if unknown := [region for region in new if region not in regions]:
        new_calls = sum(now[region] for region in unknown)
        template = _NEW_COUNTRY if len(unknown) == 1 else _NEW_COUNTRIES
        return template(calls_number=f"{new_calls:,}", country_words=list_countries(unknown))
    by_hour: Counter[datetime] = Counter()
    for call_hour, _region, calls in history:
        by_hour[call_hour] += calls
    days = {call_hour.date() for call_hour in by_hour}
    local = hour.astimezone(zone)
    is_new_hour = local.hour not in {call_hour.astimezone(zone).hour for call_hour in by_hour}
    if total >= HOUR_CALLS and len(days) >= KNOWN_DAYS and is_new_hour:
        return _NEW_HOUR(calls_number=f"{total:,}", time=f"{local:%H:%M %Z}")
    busiest = max(by_hour.values())
    if total > max(RATE_CALLS, RATE_FACTOR * busiest):
        return _TOO_MANY(calls_number=f"{total:,}", most_number=f"{busiest:,}")
    return None
