"""How numbers are written in the current locale: 12,345.6 or 12.345,6 or 12 345,6."""

from decimal import Decimal
from functools import cache
from typing import NamedTuple

from babel import Locale
from babel.numbers import get_decimal_symbol, get_group_symbol

from app.languages.current import locale


class Marks(NamedTuple):
    thousands: str
    decimal: str


def number_marks() -> Marks:
    """Return the separators of the current locale (Unicode CLDR)."""
    return _marks_of(str(locale()))


@cache
def _marks_of(name: str) -> Marks:
    found = Locale.parse(name)
    return Marks(get_group_symbol(found), get_decimal_symbol(found))


def written(value: float | Decimal, digits: int | None = 0) -> str:
    """Return the number with thousands separators and so many decimals; with all its decimals if
    ``digits`` is None."""
    exact = Decimal(str(value))
    text = f"{exact.normalize():,f}" if digits is None else f"{exact:,.{digits}f}"
    marks = number_marks()
    return text.translate({ord(","): marks.thousands, ord("."): marks.decimal, ord("-"): "−"})
