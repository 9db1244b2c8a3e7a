"""How dates are written in the current language.

English is written as in Britain, the day first; in the other languages the Unicode CLDR decides,
except for the first day of a French month, which is an ordinal.
"""

import re
from datetime import date, datetime
from functools import lru_cache

from babel import Locale
from babel.dates import format_date, format_interval, format_skeleton, get_timezone_name

from app.languages.current import DEFAULT, language, locale

NO_BREAK = "\u00a0"
# Keeps the word after a dash on the same line.
JOINER = "\u2060"
_BRITISH_SEPTEMBER = re.compile(r"\bSept\b")
_FIRST_OF_MONTH = re.compile(r"\b1(?= [^\W\d]|–)")
_ENGLISH = Locale(DEFAULT)
_BRITISH = Locale(DEFAULT, "GB")
_DAY_FIRST = {
    "yMMMd": "d MMM y",
    "MMMd": "d MMM",
    "yMMMMd": "d MMMM y",
    "MMMMd": "d MMMM",
    "yMMMM": "MMMM y",
    "yMMM": "MMM y",
}


def format_local_date(value: date | datetime, pattern: str) -> str:
    """Return the parts of a local date, such as ``yMMMd`` for 21 Nov 2026, on one line.

    ``pattern`` is a skeleton of the CLDR: ``y`` is the year, ``MMM`` a short month, ``MMMM`` a long
    one, ``EEE`` and ``EEEE`` the weekday, ``d`` the day.
    """
    day = value.date() if isinstance(value, datetime) else value
    return _format_date(day, pattern, None if language() == DEFAULT else str(locale()))


def standalone_month(month: date) -> str:
    """Return the name of the month alone: October."""
    return str(format_date(month, "LLLL", locale=locale()))


def format_date_range(first: date, last: date, pattern: str = "yMMMd") -> str:
    """Return the days from the first to the last: 1–27 Nov 2026."""
    is_english = language() == DEFAULT
    text = str(format_interval(first, last, pattern, locale=_BRITISH if is_english else locale()))
    if is_english:  # Britain's Sept is Sep in single dates
        text = _BRITISH_SEPTEMBER.sub("Sep", text)
    elif language() == "fr":
        text = _FIRST_OF_MONTH.sub("1er", text)
    return text.replace(" ", NO_BREAK)


def zone_abbreviation(local: datetime) -> str:
    """Return the letters of the time zone at a local time: CET, in German MEZ."""
    abbreviation = f"{local:%Z}"
    if language() == DEFAULT or abbreviation == "UTC":
        return abbreviation
    localized = get_timezone_name(local, width="short", locale=locale())
    return localized if localized.isalpha() else abbreviation


@lru_cache(maxsize=4096)
def _format_date(day: date, pattern: str, locale_tag: str | None) -> str:
    """Return the date in English, or in the ``locale_tag`` locale. Cached: a table repeats the same
    days."""
    if locale_tag is None:
        text = format_date(day, _DAY_FIRST.get(pattern, pattern), locale=_ENGLISH)
    elif pattern == "yMMMMd":  # Babel finds only the short month of some languages
        text = format_date(day, "long", locale=locale_tag)
    else:
        text = format_skeleton(pattern, day, locale=locale_tag)
    if locale_tag and locale_tag.startswith("fr"):
        text = _FIRST_OF_MONTH.sub("1er", text)
    return text.replace(" ", NO_BREAK)
