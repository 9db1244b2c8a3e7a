"""Recognize what spreadsheets do to phone numbers, with the repair that would undo it.

A repair is a suggestion in E.164. It is never applied unless a user accepts it.
"""

import re
import unicodedata
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from phonenumbers import PhoneMetadata, PhoneNumberFormat, format_number, is_valid_number, parse

from app.errors import Sentence
from app.phone import PhoneError, is_plain_e164, is_plausible, normalise, normalise_written

MESSAGES = {
    "rounded": Sentence.gettext("Rounded by the spreadsheet: the last digits are lost."),
    "scientific": Sentence.gettext("Written as a power of ten by the spreadsheet."),
    "decimals": Sentence.gettext("Turned into a decimal number by the spreadsheet."),
    "leading_zero_lost": Sentence.gettext("Leading zero lost."),
    "plus_lost": Sentence.gettext("The + before the country code is lost."),
    "zero_or_plus_lost": Sentence.gettext(
        "A leading zero or + is lost: %(with_plus)s or %(with_zero)s is possible."
    ),
    "double_zero": Sentence.gettext("Starts with 00 instead of + and the country code."),
    "apostrophe": Sentence.gettext("The number has an extra apostrophe from a spreadsheet."),
    "date": Sentence.gettext("Turned into a date by the spreadsheet."),
    "hashes": Sentence.gettext("The column was too narrow: only # signs were saved."),
    "thousands": Sentence.gettext("Turned into an amount with separators by the spreadsheet."),
    "calculated": Sentence.gettext("Turned into a calculation by the spreadsheet."),
    "invisible_marks": Sentence.gettext("Has invisible characters."),
    "look_alikes": Sentence.gettext("Holds letters or digits that only look like 0 to 9."),
}
"""Code and sentence of each kind of damage."""


class NumberDamage(NamedTuple):
    """The damage to a number, and the E.164 number that it may have been."""

    code: str
    message: str
    repair: str | None


_SCIENTIFIC = re.compile(r"([+-]?)(\d)(?:[.,](\d+))?[eE]\+?(\d{1,2})")
_DECIMALS = re.compile(r"(\+?\d{6,15})[.,]0+")
_FRACTION = re.compile(r"[1-9]\d{7,14}[.,]\d{1,2}")
_THOUSANDS = re.compile(r"\+?\d{1,3}(?:,\d{3}){2,4}|[$£€]\s?\d{1,3}(?:,?\d{3}){2,4}(?:\.00?)?")
_CALCULATED = re.compile(r"[-\u2212]\d+(?:[.,]\d+)?")
_MONTH = r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zé]*"
_DATES = (
    re.compile(r"(?P<y>\d{4})-(?P<a>\d{1,2})-(?P<b>\d{1,2})(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?"),
    re.compile(r"(?P<a>\d{1,2})([/.-])(?P<b>\d{1,2})\2(?P<y>\d{4}|\d{2})(?: \d{1,2}:\d{2}.*)?"),
    re.compile(rf"\d{{1,2}}[-. /]+{_MONTH}[-. /]*(?:\d{{2}}|\d{{4}})?", re.IGNORECASE),
    re.compile(rf"{_MONTH}[-. /]+\d{{1,4}}", re.IGNORECASE),
)
_APOSTROPHES = "'\u2019\u2018`\u00b4"
_LOOK_ALIKES = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1"})
_BARE = re.compile(r"[1-9][0-9]{5,14}")
_LONG = 12
"""Digits from which a number that begins with its own country's code isn't a national one."""


def inspect_phone(raw: str, default_region: str | None) -> NumberDamage | None:
    """Return what a spreadsheet did to this cell of a phone column; None if there is no sign of
    damage."""
    text = raw.strip()
    if is_plain_e164(text):
        return None
    if _BARE.fullmatch(text):
        return _lost_lead(text, default_region)
    strange = not text.isascii() or any(map(text.__contains__, "OoIl"))
    if strange and (damage := _inspect_characters(text, default_region)):
        return damage
    if text[:1] in _APOSTROPHES or text[-1:] in _APOSTROPHES:
        stripped = text.strip(_APOSTROPHES + " ")
        return _damage("apostrophe", _repair(stripped, default_region)) if stripped else None
    if text.startswith("00") and (number := _with_plus(text, default_region)):
        return _damage("double_zero", number)
    return _inspect_format(text, default_region)


def _with_plus(text: str, default_region: str | None) -> str | None:
    """Return the number if it can only be read with + in place of its 00."""
    if _normalise_or_none(text, default_region) is not None:
        return None
    with suppress(PhoneError):
        return normalise_written(text, default_region)
    return None


def inspect_country(original: str, number: str, default_region: str | None) -> NumberDamage | None:
    """Return the missing + of a number that was read as a national one but begins with its own
    country code (``49 171 1234567`` in Germany)."""
    text = original.lstrip("( ")
    code = _zero_habits(default_region or "").code
    if not code or not text.startswith(code):
        return None
    digits = "".join(filter(str.isdigit, text))
    _, with_plus = _assess(f"+{digits}", None)
    apart = not text[len(code) : len(code) + 1].isdigit()
    if with_plus in (number, None) or not (apart or len(digits) >= _LONG):
        return None
    return _damage("plus_lost", with_plus)


def possible_numbers(message: str) -> tuple[str, ...]:
    """Return the numbers that a cell may have been, of which a user chooses one, by its stored
    message; empty for other damage."""
    values = MESSAGES["zero_or_plus_lost"].values_in(message)
    return (values["with_plus"], values["with_zero"]) if values else ()


def _inspect_format(text: str, default_region: str | None) -> NumberDamage | None:
    if match := _SCIENTIFIC.fullmatch(text):
        return _inspect_scientific(match, default_region)
    if match := _DECIMALS.fullmatch(text):
        return _damage("decimals", _repair(match[1], default_region))
    if _THOUSANDS.fullmatch(text):
        digits = text.lstrip("$£€ ").partition(".")[0].replace(",", "")
        return _damage("thousands", _repair(digits, default_region))
    beyond_repair = {
        "hashes": bool(text) and not text.strip("#"),
        "decimals": bool(_FRACTION.fullmatch(text)),
        "calculated": bool(_CALCULATED.fullmatch(text)),
        "date": _is_date(text),
    }
    return next(
        (_damage(code, None) for code, is_present in beyond_repair.items() if is_present), None
    )


def _damage(code: str, repair: str | None, **values: str | None) -> NumberDamage:
    return NumberDamage(code, MESSAGES[code](**values), repair)


def _repair(text: str, default_region: str | None) -> str | None:
    """Return the number that the rest of the cell gives, with its own damage repaired if that is
    certain."""
    if _BARE.fullmatch(text) and (lost := _lost_lead(text, default_region)):
        return lost.repair
    return _normalise_or_none(text, default_region)


def _inspect_scientific(match: re.Match[str], default_region: str | None) -> NumberDamage:
    sign, lead, fraction, exponent = match[1], match[2], match[3] or "", int(match[4])
    if sign == "-":
        return _damage("calculated", None)
    if len(fraction) == exponent:
        return _damage("scientific", _repair(lead + fraction, default_region))
    return _damage("rounded", None)


def _is_date(text: str) -> bool:
    for pattern in _DATES:
        match = pattern.fullmatch(text)
        if match is None:
            continue
        groups = match.groupdict()
        if not groups:
            return True
        low, high = sorted((int(groups["a"]), int(groups["b"])))
        year = int(groups["y"])
        return 1 <= low <= 12 and 1 <= high <= 31 and (year < 100 or 1900 <= year <= 2100)
    return False


def _inspect_characters(text: str, default_region: str | None) -> NumberDamage | None:
    visible = "".join(c for c in text if unicodedata.category(c) not in {"Cf", "Cc", "Mn"})
    if visible != text:
        nested = _inspect_characters(visible, default_region)
        repair = nested.repair if nested else _repair(visible.strip(), default_region)
        return _damage("invisible_marks", repair)
    if any(c.isdigit() and not c.isascii() for c in text):
        digits = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in text)
        return _damage("look_alikes", _repair(digits.replace("\uff0b", "+"), default_region))
    # Letters count as digits only if the rest of the cell is a number.
    swapped = text.translate(_LOOK_ALIKES)
    if swapped != text and sum(c.isdigit() for c in text) >= 6:
        repair = _repair(swapped, default_region)
        return _damage("look_alikes", repair) if repair else None
    return None


def _lost_lead(digits: str, default_region: str | None) -> NumberDamage | None:
    """Return what may be missing before digits that begin with 1 to 9.

    If national numbers begin with 0, something is missing. Otherwise the digits may be complete.
    Long digits that begin with the country's own code lack the +; of short ones a user must decide,
    because the area code may be the same.
    """
    habits = _zero_habits(default_region or "")
    if not habits.trunk_zero:
        return _lost_without_trunk(digits, default_region, habits)
    with_zero = _assess(f"0{digits}", default_region)
    with_plus = _assess(f"+{digits}", None)
    may_lack_plus = with_plus[0] > _IMPOSSIBLE and digits.startswith(habits.code)
    if with_plus[0] > with_zero[0] or (may_lack_plus and len(digits) >= _LONG):
        return _damage("plus_lost", with_plus[1])
    if with_zero[0] > with_plus[0] and not may_lack_plus:
        return _damage("leading_zero_lost", with_zero[1])
    if with_zero[1] is None:
        return None
    return _damage("zero_or_plus_lost", None, with_plus=with_plus[1], with_zero=with_zero[1])


def _lost_without_trunk(
    digits: str, default_region: str | None, habits: "_ZeroHabits"
) -> NumberDamage | None:
    possible = _normalise_or_none(digits, default_region)
    if habits.own_zero:
        as_is, with_zero = (_assess(lead + digits, default_region) for lead in ("", "0"))
        if as_is[0] < _VALID and with_zero[0] == _VALID:
            return _damage("leading_zero_lost", with_zero[1])
    if possible is None:
        quality, e164 = _assess(f"+{digits}", None)
        return _damage("plus_lost", e164) if quality == _VALID else None
    return None


def _normalise_or_none(text: str, default_region: str | None) -> str | None:
    try:
        return normalise(text, default_region)
    except PhoneError:
        return None


class _ZeroHabits(NamedTuple):
    """How a region writes zeros: always before its numbers (07700…), or as part of them (Italy). If
    the trunk prefix is optional, as in Brazil and India, none is missing."""

    code: str
    trunk_zero: bool
    own_zero: bool


@cache
def _zero_habits(region: str) -> _ZeroHabits:
    metadata = PhoneMetadata.metadata_for_region(region, None)
    if metadata is None:
        return _ZeroHabits("", trunk_zero=False, own_zero=False)
    kinds = (metadata.mobile, metadata.fixed_line)
    examples = [kind.example_number for kind in kinds if kind and kind.example_number]
    optional = any(
        number_format.national_prefix_optional_when_formatting
        for number_format in metadata.number_format
    )
    return _ZeroHabits(
        code=str(metadata.country_code),
        trunk_zero=metadata.national_prefix == "0"
        and not optional
        and _national_format(examples[0], region).startswith("0"),
        own_zero=any(example.startswith("0") for example in examples),
    )


def _national_format(national: str, region: str) -> str:
    """Return the number as it is written in its region."""
    formatted = format_number(parse(national, region), PhoneNumberFormat.NATIONAL)
    return formatted.lstrip("(")


_IMPOSSIBLE, _POSSIBLE, _VALID = range(3)


def _assess(text: str, region: str | None) -> tuple[int, str | None]:
    """Return how well the text reads as a number, and the number."""
    e164 = _normalise_or_none(text, region)
    if e164 is None or not is_plausible(e164):
        return _IMPOSSIBLE, None
    return (_VALID if is_valid_number(parse(e164, None)) else _POSSIBLE), e164
