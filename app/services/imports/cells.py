"""Read the cells of a contact: what is kept, what is set aside and what is an error.

Rules that users see: several numbers in one cell are an error; an extension becomes metadata, with
a warning; "N/A", "-", "none" and the like count as empty, with a warning; damage done by
spreadsheets is reported, never repaired silently.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.contact_files.cleaning import (
    address_within,
    decoded_again,
    is_filler,
    may_be_twice_encoded,
    number_within,
    western_digits,
)
from app.contact_files.formulas import UNCALCULATED
from app.contact_files.spreadsheet_damage import NumberDamage, inspect_country, inspect_phone
from app.errors import Sentence
from app.phone import (
    MAX_SEARCHED,
    PhoneError,
    holds_several_numbers,
    is_plain_e164,
    is_plausible,
    normalise,
    split_extension,
)


class CellNote(NamedTuple):
    """A message about one cell; ``column`` is its index, or None for the whole row.

    ``code`` is the published kind. ``reason`` groups cases of one kind (``rounded``,
    ``too_short``). ``repair`` is a value that a user may accept.
    """

    column: int | None
    code: str
    message: str
    reason: str = ""
    repair: str | None = None


COUNTS_AS_EMPTY = Sentence.gettext("“%(text)s” counts as empty.")
WRITTEN_AS = Sentence.gettext("Written as %(text)s.")
_CELL_ERROR = Sentence.gettext("The spreadsheet shows an error here: %(error)s.")
_CONTROL_CHARACTERS = Sentence.gettext("Holds control characters: type it again.")
_NO_RESULT = Sentence.gettext(
    "Holds a formula without its result: copy the column and paste it as values."
)
_TWICE_ENCODED = Sentence.gettext("The text was once read in a wrong encoding and saved that way.")
_CHARACTER_LOST = Sentence.gettext("A character was lost when the file was saved: type it again.")
_FILLER = Sentence.gettext("This is filler text, not a phone number.")
_SEVERAL_NUMBERS = Sentence.gettext(
    "Several numbers in one cell: keep one and put the others in separate columns."
)
_EXTENSION_NOT_READABLE = Sentence.gettext(
    "The extension is not readable. Write up to 7 digits, or remove it."
)
_WHOLE_CELL_KEPT = Sentence.gettext("%(value)s is used; the whole cell is kept as metadata.")
_IMPLAUSIBLE = Sentence.gettext("No number like this is in use in its country: check the digits.")

PLACEHOLDERS = frozenset(
    {
        *('=""', "-", "--", "---", "–", "—", ".", "..", "?", "??"),
        "n/a",
        "#n/a",
        "na",
        "n.a.",
        "n.a",
        "none",
        "null",
        "nil",
        "nan",
        "unknown",
        "(none)",
        "(null)",
        "(blank)",
        "(empty)",
        "(no name)",
        "no name",
        "keine",
        "kein",
        "k.a.",
        "aucun",
        "aucune",
        "ninguno",
        "ninguna",
    }
)
_ALSO_NAMES = frozenset({"Na", "Nan", "Nil"})
_MAX_PLACEHOLDER_LENGTH = max(map(len, PLACEHOLDERS))
_CELL_ERRORS = frozenset(
    ("#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!")
)
_FORMULA = re.compile(rf"{UNCALCULATED}|=[A-Za-z_][\w.]*\(|=\$?[A-Za-z]{{1,3}}\$?\d")
_EXTENSION_UNREAD = re.compile(
    r".*\d\W*(?:extension|extn|ext|x|anexo|poste|durchwahl|dw)(?:\b[^\d]*|[\s.:#]*[0-9]{8,})",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Forms into which no spreadsheet converts a number: with a +, a leading 0, spaces or brackets.
_ORDINARY = re.compile(
    r"(?=[+0(]|[^ (]*[ (])[+(]?[0-9][0-9 ()]*(?:-[0-9]+)?|\(?[0-9]{3}\)?[- ][0-9]{3}-[0-9]{4}"
)


def storable(text: str) -> str:
    """Replace NUL, which PostgreSQL refuses."""
    return text.replace("\0", "\ufffd")


def is_ordinary(text: str) -> bool:
    """Return whether a text needs no note in any cell.

    A quick test of non-empty cells; after it `placeholder`, `unusable` and `undecodable` can be
    skipped.
    """
    return (
        text.isprintable()  # invisible marks are not
        and text[0] not in "=#"
        and "\ufffd" not in text
        and (text.isascii() or not may_be_twice_encoded(text))
        and (len(text) > _MAX_PLACEHOLDER_LENGTH or text.casefold() not in PLACEHOLDERS)
    )


def are_ordinary(cells: Sequence[str]) -> bool:
    """Return whether every cell is blank or `is_ordinary`; a little stricter, because it tests all
    cells at once."""
    row = "".join(cells)
    return (
        row.isprintable()
        and not ("=" in row or "#" in row or "\ufffd" in row)
        and (row.isascii() or not may_be_twice_encoded(row))
        and PLACEHOLDERS.isdisjoint(map(str.casefold, map(str.strip, cells)))
    )


def placeholder(text: str, column: int) -> CellNote | None:
    """Return the note for a cell that only states that it is empty ("N/A")."""
    if (
        len(text) <= _MAX_PLACEHOLDER_LENGTH
        and text.casefold() in PLACEHOLDERS
        and text not in _ALSO_NAMES
    ):
        return CellNote(column, "placeholder_value", COUNTS_AS_EMPTY(text=text))
    return None


def unusable(text: str, column: int) -> CellNote | None:
    """Return the note for a cell that can't be used: a formula error or control characters."""
    if text[0] == "#" and text in _CELL_ERRORS:
        return CellNote(column, "cell_error", _CELL_ERROR(error=text))
    if not text.isprintable() and _CONTROL.search(text):
        return CellNote(column, "control_characters", _CONTROL_CHARACTERS())
    if text[0] == "=" and _FORMULA.match(text):
        return CellNote(column, "formula_without_value", _NO_RESULT())
    return None


def undecodable(text: str, column: int) -> CellNote | None:
    """Return the note for a cell whose characters were lost before the file was written."""
    if repair := decoded_again(text):
        return CellNote(column, "undecodable_text", _TWICE_ENCODED(), "twice_encoded", repair)
    if "\ufffd" not in text:
        return None
    return CellNote(column, "undecodable_text", _CHARACTER_LOST())


class PhoneCell(NamedTuple):
    """A number in E.164 and its extension, or the error.

    ``has_text``: the cell has other words, which must be kept.
    """

    number: str | None
    extension: str | None = None
    error: CellNote | None = None
    warnings: tuple[CellNote, ...] = ()
    has_text: bool = False


def read_phone(raw: str, column: int, default_region: str | None) -> PhoneCell:
    """Read the number in a cell that is not empty."""
    if (raw.count(raw[-1]) > 5 or raw[0] in "10") and is_filler(raw):
        return PhoneCell(None, error=CellNote(column, "placeholder_value", _FILLER()))
    if is_plain_e164(raw):
        return _with_plausibility(raw, None, column)
    if _ORDINARY.fullmatch(raw):
        try:
            number = normalise(raw, default_region)
        except PhoneError:
            pass  # reported below, with the probable cause
        else:
            damage = raw[0] not in "+0" and inspect_country(raw, number, default_region)
            return (
                _damaged_cell(damage, column)
                if damage
                else _with_plausibility(number, None, column)
            )
    if not raw.isascii() and (digits := western_digits(raw)) != raw:
        cell = read_phone(digits, column, default_region)
        message = WRITTEN_AS(text=digits)
        replaced = CellNote(column, "characters_replaced", message)
        return cell._replace(warnings=(replaced, *cell.warnings)) if cell.number else cell
    return _unusual_phone(raw, column, default_region)


def _unusual_phone(raw: str, column: int, default_region: str | None) -> PhoneCell:
    if damage := inspect_phone(raw, default_region):
        return _damaged_cell(damage, column)
    if holds_several_numbers(raw):
        return PhoneCell(None, error=CellNote(column, "several_phones", _SEVERAL_NUMBERS()))
    text, extension = split_extension(raw)
    if extension is None and len(raw) <= MAX_SEARCHED and _EXTENSION_UNREAD.fullmatch(raw):
        return PhoneCell(None, error=CellNote(column, "phone_extension", _EXTENSION_NOT_READABLE()))
    embedded = number_within(text)
    cell = _read_number(embedded or text, column, default_region, extension)
    if embedded is None or cell.error:
        return cell
    return cell._replace(
        warnings=(_text_around_note(embedded, column), *cell.warnings), has_text=True
    )


def _read_number(
    text: str, column: int, default_region: str | None, extension: str | None
) -> PhoneCell:
    try:
        number = normalise(text, default_region)
    except PhoneError as error:
        return PhoneCell(None, error=CellNote(column, "invalid_phone", error.message, error.code))
    if damage := inspect_country(text, number, default_region):
        return _damaged_cell(damage, column)
    return _with_plausibility(number, extension, column)


def _damaged_cell(damage: NumberDamage, column: int) -> PhoneCell:
    note = CellNote(column, "excel_damaged_phone", damage.message, damage.code, damage.repair)
    return PhoneCell(None, error=note)


def read_email(text: str, column: int) -> tuple[str, tuple[CellNote, ...], bool]:
    """Return the address in a cell, warnings, and whether the cell has other words. Whether the
    address is valid is checked when the contact is stored."""
    address = address_within(text)
    if address is None:
        return text, (), False
    return address, (_text_around_note(address, column),), True


def _text_around_note(value: str, column: int) -> CellNote:
    return CellNote(column, "text_around_value", _WHOLE_CELL_KEPT(value=value))


def _with_plausibility(number: str, extension: str | None, column: int) -> PhoneCell:
    if is_plausible(number):
        return PhoneCell(number, extension)
    return PhoneCell(
        number, extension, warnings=(CellNote(column, "implausible_phone", _IMPLAUSIBLE()),)
    )
