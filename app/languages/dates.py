"""How dates are written in the current language.

English is written as in Britain, the day first; in the other languages the Unicode CLDR decides.
"""

from datetime import date, datetime

from babel import Locale
from babel.dates import format_date, format_skeleton

from app.languages.current import DEFAULT, language, locale

NO_BREAK = "\u00a0"
_ENGLISH = Locale(DEFAULT)
_DAY_FIRST = {
    "yMMMd": "d MMM y",
    "MMMd": "d MMM",
    "yMMMMd": "d MMMM y",
    "MMMMd": "d MMMM",
    "yMMMM": "MMMM y",
    "yMMM": "MMM y",
}


def written_date(value: date | datetime, parts: str) -> str:
    """Return the parts of a local date, such as ``yMMMd`` for 21 Nov 2026, on one line.

    ``parts`` is a skeleton of the CLDR: ``y`` is the year, ``MMM`` a short month, ``MMMM`` a long
    one, ``EEE`` and ``EEEE`` the weekday, ``d`` the day.
    """
    if language() == DEFAULT:
        pattern = _DAY_FIRST.get(parts, parts)
        text = format_date(value, pattern, locale=_ENGLISH)
    else:
        text = format_skeleton(parts, value, locale=locale())
    return text.replace(" ", NO_BREAK)
