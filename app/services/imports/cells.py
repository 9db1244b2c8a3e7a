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
from app.contact_files.column_names import field_of, normalized_name
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


_DO_NOT_CALL_NAMES = """
do not call|do not call list|on do not call list|do not call flag|do not call status|dont call|
donotcall|dnc|dnc flag|dnc status|dnc list|on dnc|federal dnc|national dnc|state dnc|
federal do not call|national do not call|state do not call|dnc registered|
tps|ctps|tps registered|ctps registered|bloctel|lista robinson|
do not phone|donotphone|do not phone flag|do not telephone|do not allow phone calls|
do not contact|do not contact by phone|never call|no call|no calls|no phone calls|
no telephone calls|dnd|do not disturb|
phone opt out|phone optout|phone opted out|call opt out|call optout|calls opt out|calling opt out|
opt out of calls|opted out of calls|opted out of call|opted out of phone|opted out of phone calls|
has opted out of call|has opted out of calls|has opted out of phone|voice opt out|
opted out of voice|opt out phone|opt out call|opt out calls|opt out voice|
opt out|opted out|has opted out|
nicht anrufen|bitte nicht anrufen|keine anrufe|kein anruf|anrufsperre|telefonsperre|
telefon sperre|telefonverbot|anrufverbot|telefon opt out|telefonische werbesperre|
werbesperre telefon|nicht kontaktieren|kontaktsperre|
ne pas appeler|ne pas téléphoner|ne plus appeler|ne pas contacter|ne pas contacter par téléphone|
pas d'appels|pas d'appel|opposition téléphonique|opposition appel|opposition appels|
refus d'appel|refus appel|refus d'appels|
no llamar|no llamar por teléfono|no contactar|no contactar por teléfono|no molestar|
no desea llamadas|
não ligar|não telefonar|não contatar|não contactar|não perturbe|não me perturbe|
não chamar|
non chiamare|non telefonare|non contattare|non contattare telefonicamente|
registro delle opposizioni|registro opposizioni|
niet bellen|niet telefoneren|bel me niet|bel-me-niet|bel me niet register|niet contacteren|
niet benaderen
"""
_PLAIN_DO_NOT_CALL_NAMES = frozenset(
    normalized_name(name) for name in _DO_NOT_CALL_NAMES.replace("\n", "").split("|")
)
_OWN_FIELD = "__c"
"""The ending that Salesforce gives to custom fields."""
_OF_A_PHONE = re.compile(r"(.+?)(?:dnc|donotcall)(?:flag|status)?|(?:dnc|donotcall)(.+)")

_REFUSALS = frozenset(
    {
        "yes",
        "y",
        "true",
        "t",
        "1",
        "-1",
        "1.0",
        "x",
        "✓",
        "✔",
        "☑",
        "on",
        "checked",
        "set",
        "ja",
        "j",
        "wahr",
        "oui",
        "o",
        "vrai",
        "sí",
        "si",
        "s",
        "verdadero",
        "cierto",
        "sim",
        "verdadeiro",
        "vero",
        "waar",
        "active",
        "registered",
        "listed",
        "blocked",
        "dnc",
        "dnd",
        "do not call",
        "do not phone",
        "do not contact",
        "do not allow",
        "don't call",
        "no calls",
        "opted out",
        "opted-out",
        "opt-out",
        "opt out",
        "optout",
        "unsubscribed",
        "refused",
        "declined",
        "denied",
        "withdrawn",
        "revoked",
        "nicht anrufen",
        "ne pas appeler",
        "no llamar",
        "não ligar",
        "non chiamare",
        "niet bellen",
    }
)
_NO_REFUSALS = frozenset(
    {
        "no",
        "n",
        "false",
        "f",
        "0",
        "0.0",
        "off",
        "unchecked",
        "not set",
        "☐",
        "nein",
        "falsch",
        "non",
        "faux",
        "falso",
        "não",
        "nao",
        "nee",
        "onwaar",
        "inactive",
        "not registered",
        "not listed",
        "clear",
        "clean",
        "allow",
        "allowed",
        "may call",
        "ok to call",
        "opted in",
        "opted-in",
        "opt-in",
        "opt in",
        "subscribed",
    }
)

DO_NOT_CALL_WARNINGS = frozenset({"do_not_call", "do_not_call_unclear"})
"""Warnings that apply only to contacts that are stored."""


def is_do_not_call_column(name: str) -> bool:
    """Return whether a column of this name states who must not be called, such as ``Phone 2
    DNC``."""
    letters = normalized_name(name.removesuffix(_OWN_FIELD))
    if letters in _PLAIN_DO_NOT_CALL_NAMES:
        return True
    of_a_phone = _OF_A_PHONE.fullmatch(letters)
    return bool(of_a_phone and field_of(of_a_phone[1] or of_a_phone[2]) == "phone")


def asks_not_to_be_called(text: str) -> bool | None:
    """Return whether a non-empty cell asks not to be called; None if it is neither yes nor no."""
    word = " ".join(text.casefold().split())
    return True if word in _REFUSALS else False if word in _NO_REFUSALS else None
