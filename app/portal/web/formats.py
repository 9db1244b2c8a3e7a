"""The format of figures, times and names on pages (look, section 6)."""

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

import phonenumbers
from babel.dates import format_timedelta
from markupsafe import Markup

from app.enums import CallStatus, CarrierKind, Role
from app.languages import (
    capitalized,
    gettext,
    lazy_gettext,
    locale,
    pgettext,
    with_whole_email,
)
from app.languages.dates import (
    JOINER,
    NO_BREAK,
    format_date_range,
    format_local_date,
    zone_abbreviation,
)
from app.languages.numbers import format_percentage, localize_number, number_separators, size_unit
from app.models import is_erased, utcnow
from app.phone import comparable_end
from app.portal.web.blueprint import portal
from app.portal.web.plan_names import plan_names
from app.services.money_format import exact_micros, exact_money, micros, money
from app.validation.urls import is_web_url

_DAYTIME = time(8), time(21)
_TO_MINUTES, _TO_SECONDS = "%H:%M", "%H:%M:%S"
_BREAKS = re.compile(r"(?<=[@.])(?=.)|(?<=/)(?=[^/])")
MAX_UNBROKEN_LENGTH = 24
"""Maximum characters of a part of a URL that isn't broken after its hyphens."""
_URL_BREAKS = re.compile(r"(?<=/)(?=[^/])|(?=[?&])")
_APOSTROPHE = re.compile(r"(?<=[a-z])'(?=[a-z])")

CALL_STATUS_LABELS: dict[str, str] = {
    CallStatus.SCHEDULED: lazy_gettext("Scheduled"),
    CallStatus.QUEUED: lazy_gettext("Queued"),
    CallStatus.DIALING: lazy_gettext("Calling"),
    CallStatus.RINGING: lazy_gettext("Ringing"),
    CallStatus.IN_PROGRESS: lazy_gettext("In progress"),
    CallStatus.COMPLETED: lazy_gettext("Completed"),
    CallStatus.BUSY: lazy_gettext("Busy"),
    CallStatus.NO_ANSWER: lazy_gettext("No answer"),
    CallStatus.FAILED: lazy_gettext("Failed"),
    CallStatus.CANCELED: lazy_gettext("Cancelled"),
    CallStatus.EXPIRED: lazy_gettext("Expired"),
    CallStatus.UNKNOWN: lazy_gettext("Unknown"),
}

CARRIER_LABELS: dict[str, str] = {
    CarrierKind.SIMULATOR: lazy_gettext("the simulated carrier"),
    CarrierKind.SIP: lazy_gettext("the SIP trunk"),
    CarrierKind.TWILIO: lazy_gettext("Twilio"),
}

ROLE_NAMES: dict[Role, str] = {
    Role.OPERATOR: lazy_gettext("Platform operator"),
    Role.PARTNER_ADMIN: lazy_gettext("Partner admin"),
    Role.PARTNER_EDITOR: lazy_gettext("Partner editor"),
    Role.ADMIN: lazy_gettext("Customer admin"),
    Role.OWNER: lazy_gettext("Owner"),
    Role.STANDARD: lazy_gettext("Member"),
}


@portal.app_template_filter()
def number(value: float | Decimal | None, digits: int | None = 0) -> str:
    """Return 12,345 in the user's number format; an en dash for None. ``digits`` is passed to
    `localize_number`."""
    return "–" if value is None else localize_number(value, digits)


@portal.app_template_filter()
def quantity(count: int | None) -> str:
    """Return 12,345 for a table; an en dash for 0 and None, so that figures stand out."""
    return number(count or None)


@portal.app_template_filter()
def duration(seconds: int | None) -> str:
    """Return 45 s; from a minute on 6 min 33 s, then 2 h 5 min; an en dash for None."""
    if seconds is None:
        return "–"
    minutes, remainder = divmod(seconds, 60)
    if not minutes:
        text = gettext("%(seconds)s s", seconds=seconds)
    elif minutes >= 60:
        text = gettext("%(hours)s h %(minutes)s min", hours=minutes // 60, minutes=minutes % 60)
    elif remainder:
        text = gettext("%(minutes)s min %(seconds)s s", minutes=minutes, seconds=remainder)
    else:
        text = gettext("%(minutes)s min", minutes=minutes)
    return text.replace(" ", NO_BREAK)


class TalkTime(NamedTuple):
    figure: str
    unit: str

    def __str__(self) -> str:
        return f"{self.figure}{NO_BREAK}{self.unit}"


@portal.app_template_filter()
def talk_time(seconds: int) -> TalkTime:
    """Return whole minutes; below one, the seconds."""
    if 0 < seconds < 60:
        return TalkTime(number(seconds), pgettext("seconds", "s"))
    return TalkTime(number(seconds // 60), gettext("min"))


@portal.app_template_global()
def percent(part: float, whole: float) -> str:
    """Return 61.3 % of the whole; an en dash if the whole is zero."""
    return format_percentage(part, whole)


@portal.app_template_filter()
def day(value: datetime | date | None, zone: str = "UTC") -> str:
    """Return 21 Nov 2026, for tables."""
    if value is None:
        return "–"
    local = value.astimezone(ZoneInfo(zone)) if isinstance(value, datetime) else value
    return format_local_date(local, "yMMMd")


def last_day(end: datetime | None, zone: str = "UTC") -> str:
    """Return the last day, in the format of `day`, of something that ends at ``end``."""
    return day(end - timedelta(microseconds=1) if end else None, zone)


@portal.app_template_filter()
def long_datetime(value: datetime | None, zone: str = "UTC") -> str:
    """Return 21 November 2026, 10:47 GMT, for sentences."""
    if value is None:
        return "–"
    local = value.astimezone(ZoneInfo(zone))
    date = format_local_date(local, "yMMMMd").replace(NO_BREAK, " ")
    return f"{date}, {local:%H:%M}{NO_BREAK}{zone_abbreviation(local)}"


@portal.app_template_filter()
def medium_datetime(
    value: datetime | None, zone: str = "UTC", *, with_seconds: bool = False
) -> str:
    """Return 21 Nov 2026, 10:47 GMT, for details in a narrow column."""
    if value is None:
        return "–"
    local = value.astimezone(ZoneInfo(zone))
    time_text = f"{local:{_TO_SECONDS if with_seconds else _TO_MINUTES}}"
    return f"{format_local_date(local, 'yMMMd')}, {time_text}{NO_BREAK}{zone_abbreviation(local)}"


@portal.app_template_filter()
def short_datetime(value: datetime | None, zone: str = "UTC", *, with_seconds: bool = False) -> str:
    """Return 21 Nov, 10:47 for tables that name their zone; with the year if it is another one."""
    if value is None:
        return "–"
    local, now = value.astimezone(ZoneInfo(zone)), utcnow().astimezone(ZoneInfo(zone))
    skeleton = "MMMd" if local.year == now.year else "yMMMd"
    time_format = _TO_SECONDS if with_seconds else _TO_MINUTES
    return f"{format_local_date(local, skeleton)}, {local:{time_format}}"


@portal.app_template_filter()
def clock(value: datetime, zone: str) -> str:
    """Return 10:47, for a place below the heading of its day."""
    return f"{value.astimezone(ZoneInfo(zone)):%H:%M}"


@portal.app_template_filter()
def hours_end(end: time) -> str:
    """Return 19:00; 24:00 for calling hours until midnight."""
    return "24:00" if end == time.min else f"{end:%H:%M}"


@portal.app_template_filter()
def utc_days(first: date, last: date, zone: str) -> str:
    """Return 1–27 Nov 2026 (UTC), without UTC for users whose days are the same."""
    offsets = {
        datetime.combine(day, time(), ZoneInfo(zone)).utcoffset()
        for day in (first, last + timedelta(days=1))
    }
    days = format_date_range(first, last).replace("–", f"–{JOINER}")
    return days if offsets == {timedelta()} else f"{days} (UTC)"


@portal.app_template_filter()
def range_end(text: str) -> str:
    """Return the end of a range that stays on the line of the dash before it."""
    return JOINER + text


@portal.app_template_filter()
def time_since(since: datetime) -> str:
    """Return 3 hours or 2 days: how long ago it was, in one unit."""
    return format_timedelta(utcnow() - since, locale=locale())


@portal.app_template_filter()
def short_datetime_in_zone(value: datetime, zone: str) -> str:
    """Return 21 Nov, 10:47 GMT, for places that don't name the zone."""
    abbreviation = zone_abbreviation(value.astimezone(ZoneInfo(zone)))
    return f"{short_datetime(value, zone)}{NO_BREAK}{abbreviation}"


@portal.app_template_filter()
def breakable(address: str) -> Markup:
    """Return an email that can break at its @ and dots if a line is too short, or a URL that can
    break at its slashes, but not within its host and its short parts."""
    if "://" not in address:
        return Markup("<wbr>").join(_BREAKS.split(address))
    return Markup("<wbr>").join(
        unbroken(segment) if "-" in segment and len(segment) <= MAX_UNBROKEN_LENGTH else segment
        for segment in _URL_BREAKS.split(address)
    )


@portal.app_template_filter()
def unbroken(text: str) -> Markup:
    """Return words that a line never breaks, such as a pseudonym with a hyphen."""
    return Markup('<span class="nowrap">%s</span>') % text


@portal.app_template_filter()
def size(octets: int) -> str:
    """Return 1.2 MB."""
    value = float(octets)
    units: tuple[Literal["B", "kB", "MB"], ...] = ("B", "kB", "MB")
    for unit in units:
        if value < 1000:
            return f"{localize_number(value, 0 if unit == 'B' else 1)}{NO_BREAK}{size_unit(unit)}"
        value /= 1000
    return f"{localize_number(value, 1)}{NO_BREAK}{size_unit('GB')}"


@portal.app_template_filter()
def phone(e164: str | None) -> str:
    """Return +1 202 555 0143; for the pseudonym of an erased person that it is one."""
    if not e164:
        return "–"
    if is_erased(e164):
        return gettext("Erased person")
    parsed = phonenumbers.parse(e164)
    formatted = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    return str(formatted).replace("-", " ").replace(" ", NO_BREAK)


@portal.app_template_filter()
def initials(name: str) -> str:
    """Return MO for Maren Oduya; the first letter of a single word."""
    words = [word for word in name.replace("@", " ").split() if word]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper() or "?"


@portal.app_template_filter()
def carrier_title(kind: str) -> str:
    """Return the name for the beginning of a line: The simulated carrier."""
    return capitalized(CARRIER_LABELS[kind])


def night_calls_warning(start: time, end: time) -> str | None:
    """Return a warning if calls between these hours can be at night; None if they can't."""
    if start >= comparable_end(end) or (
        start >= _DAYTIME[0] and comparable_end(end) <= _DAYTIME[1]
    ):
        return None
    first, last = (f"{hour:%H:%M}" for hour in _DAYTIME)
    return gettext(
        "Calls before %(first)s or after %(last)s are allowed, in the time of the person called. "
        "Many countries forbid them. %(first)s to %(last)s is usual.",
        first=first,
        last=last,
    )


@portal.app_template_global()
def night_hint() -> str:
    """Return a hint about calls at night, for the choice of hours."""
    first, last = (f"{hour:%H:%M}" for hour in _DAYTIME)
    return gettext(
        "Many countries forbid calls before %(first)s or after %(last)s.", first=first, last=last
    )


@portal.app_template_filter()
def typographic(message: str) -> str:
    """Return a message of the API as screens write it: "can’t" and "the user’s", and an "E-Mail"
    that stays whole."""
    return with_whole_email(_APOSTROPHE.sub("’", message))


for function in (money, micros, exact_money, exact_micros, with_whole_email):
    portal.add_app_template_filter(function)
portal.add_app_template_filter(lambda tier: plan_names().get(tier, "–"), "tier")
portal.add_app_template_filter(lambda role: ROLE_NAMES[role], "role")
portal.add_app_template_filter(lambda status: CALL_STATUS_LABELS[status], "call_status")
portal.add_app_template_filter(lambda kind: CARRIER_LABELS[kind], "carrier")
portal.add_app_template_test(is_erased, "erased")
portal.add_app_template_test(is_web_url, "web_url")
portal.add_app_template_global(size_unit)  # a filter of a constant is compiled
portal.add_app_template_global(number_separators)
