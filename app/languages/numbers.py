"""How numbers are written in the current locale: 12,345.6 or 12.345,6 or 12 345,6."""

import re
from decimal import Decimal
from functools import cache
from typing import Literal, NamedTuple

from babel import Locale
from babel.numbers import (
    NumberFormatError,
    get_decimal_symbol,
    get_group_symbol,
    parse_decimal,
)

from app.languages.current import DEFAULT, language, locale

_TYPED = re.compile(r"[0-9][0-9.,\s'’]*")
_SPACE = re.compile(r"\s")


class NumberSeparators(NamedTuple):
    thousands: str
    decimal: str


_SIZE_UNITS = {"fr": {"B": "o", "kB": "ko", "MB": "Mo", "GB": "Go"}}
"""The units of sizes in languages that write them differently from English."""


def size_unit(unit: Literal["B", "kB", "MB", "GB"]) -> str:
    return _SIZE_UNITS.get(language(), {}).get(unit, unit)


def number_separators() -> NumberSeparators:
    """Return the separators of the current locale (Unicode CLDR)."""
    return _separators_of(str(locale()))


@cache
def _separators_of(name: str) -> NumberSeparators:
    parsed = Locale.parse(name)
    return NumberSeparators(get_group_symbol(parsed), get_decimal_symbol(parsed))


def localize_number(value: float | Decimal, digits: int | None = 0) -> str:
    """Return the number with thousands separators and ``digits`` decimals; with all its decimals if
    that is None."""
    exact = Decimal(str(value))
    text = f"{exact.normalize():,f}" if digits is None else f"{exact:,.{digits}f}"
    separators = number_separators()
    return text.translate(
        {ord(","): separators.thousands, ord("."): separators.decimal, ord("-"): "−"}
    )


def format_percentage(part: float, whole: float) -> str:
    """Return a percentage of the whole, such as 61.3 %; an en dash if the whole is zero."""
    return f"{localize_number(100 * part / whole, 1)}\N{NO-BREAK SPACE}%" if whole else "–"


def without_separators(text: str) -> str:
    """Return a number like 1500.50 with the decimal mark of the current locale, as a field shows
    it."""
    return text.replace(".", number_separators().decimal)


def parse_number(text: str) -> Decimal | None:
    """Return the number that was typed in the current locale, such as 1.500,5; None if it isn't a
    number.

    A text that isn't a number in the locale is read as in its language, then as in English: a
    German reader may type 1500.5, but 1.500 is always one thousand five hundred.
    """
    if not _TYPED.fullmatch(text):
        return None
    for each in (str(locale()), language(), DEFAULT):
        try:
            return parse_decimal(
                _localize_separators(text, _separators_of(each)), locale=each, strict=True
            )
        except NumberFormatError:
            continue
    return None


def without_thousands(text: str) -> str:
    """Return a whole number that was typed as 2.000 in the current locale without its thousands
    separators; any other text as it is."""
    separators = number_separators()
    groups = _localize_separators(text, separators).split(separators.thousands)
    is_grouped = 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    return "".join(groups) if is_grouped else text


def _localize_separators(text: str, separators: NumberSeparators) -> str:
    """Return the text with the locale's thousands separator in place of those on keyboards."""
    if separators.thousands.isspace():
        return _SPACE.sub(separators.thousands, text)
    return text.replace("'", "’") if separators.thousands == "’" else text
