"""The separators in a number by the user's language: 12,345.6 or 12.345,6 or 12 345,6.

Words, dates and the 24 hours of a day stay English.
"""

from decimal import Decimal
from typing import NamedTuple

from flask import has_request_context, request

NO_BREAK = "\u00a0"


class Marks(NamedTuple):
    thousands: str
    decimal: str


_COMMA, _POINT, _SPACE = Marks(",", "."), Marks(".", ","), Marks(NO_BREAK, ",")
_APOSTROPHE = Marks("\u2019", ".")
_WRITTEN: dict[str, Marks] = (
    dict.fromkeys(("ca", "da", "de", "el", "es", "gl", "hr", "id", "is", "it", "nl"), _POINT)
    | dict.fromkeys(("pt", "ro", "sl", "sr", "tr", "vi"), _POINT)
    | dict.fromkeys(("be", "bg", "cs", "et", "fi", "fr", "hu", "kk", "lt", "lv", "nb"), _SPACE)
    | dict.fromkeys(("nn", "no", "pl", "ru", "sk", "sv", "uk"), _SPACE)
    | dict.fromkeys(("de-at", "pt-pt"), _SPACE)
    | dict.fromkeys(("de-ch", "de-li", "en-ch", "it-ch"), _APOSTROPHE)
    | dict.fromkeys(("es-419", "es-do", "es-gt", "es-hn", "es-mx", "es-ni", "es-pa"), _COMMA)
    | dict.fromkeys(("es-pe", "es-pr", "es-sv", "es-us"), _COMMA)
)
"""By language, and by country where it differs (Unicode CLDR); all others as in English."""


def reader_marks() -> Marks:
    """Return those of the first language that the browser requests, such as ``de`` or ``de-CH``."""
    asked = request.accept_languages.best if has_request_context() else None
    language = (asked or "en").lower()
    return _WRITTEN.get(language) or _WRITTEN.get(language.partition("-")[0], _COMMA)


def written(value: float | Decimal, digits: int | None = 0) -> str:
    """Return the number with thousands separators and so many decimals; with all its decimals if
    ``digits`` is None."""
    exact = Decimal(str(value))
    text = f"{exact.normalize():,f}" if digits is None else f"{exact:,.{digits}f}"
    marks = reader_marks()
    return text.translate({ord(","): marks.thousands, ord("."): marks.decimal, ord("-"): "−"})
