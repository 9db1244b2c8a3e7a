"""The cells of a contact, one by one: what is kept, what is set aside and what is an error.

Rules that are shown to people: several numbers in one cell are an error; a number with an
extension is kept without it, the extension becomes metadata, with a warning; "N/A", "-", "none"
and the like count as empty, with a warning; damage done by spreadsheets is named, never repaired
silently.
"""

import re
from typing import NamedTuple

from app.phone import (
    PhoneError,
    holds_several_numbers,
    is_plain_e164,
    is_plausible,
    normalise,
    split_extension,
)
from app.services.imports.reading.damage import inspect_phone


class Note(NamedTuple):
    """Something to say about one cell; ``column`` is its index, or None for the whole row.

    ``code`` is the published kind. ``reason`` tells cases of one kind apart (``rounded``,
    ``too_short``), to group them. ``repair`` is a value that a person may accept.
    """

    column: int | None
    code: str
    message: str
    reason: str = ""
    repair: str | None = None


PLACEHOLDERS = frozenset(
    {
        *("-", "--", "---", "–", "—", ".", "..", "?", "??"),
        *("n/a", "#n/a", "na", "n.a.", "n.a", "none", "null", "nil", "nan", "unknown"),
        *("(none)", "(null)", "(blank)", "(empty)"),
        *("keine", "kein", "k.a.", "aucun", "aucune", "ninguno", "ninguna"),
    }
)
_NAMES_TOO = frozenset({"Na", "Nan", "Nil"})
_LONGEST_PLACEHOLDER = max(map(len, PLACEHOLDERS))
_CELL_ERRORS = frozenset(
    ("#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!", "#SPILL!", "#CALC!")
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Shapes that no spreadsheet makes of a number: written with a +, a leading 0, spaces or brackets.
_ORDINARY = re.compile(
    r"(?=[+0(]|[^ (]*[ (])[+(]?[0-9][0-9 ()]*(?:-[0-9]+)?|\(?[0-9]{3}\)?[- ][0-9]{3}-[0-9]{4}"
)
_PARTICLES = frozenset(
    {
        *("al", "af", "ap", "av", "bin", "da", "das", "de", "dei", "del", "della", "den", "der"),
        *("des", "di", "do", "dos", "du", "el", "ibn", "la", "las", "le", "los", "san", "te"),
        *("ten", "ter", "van", "vom", "von", "zu", "zum", "zur"),
    }
)


def placeholder(text: str, column: int) -> Note | None:
    """The note for a cell that only says that there is nothing in it."""
    if (
        len(text) <= _LONGEST_PLACEHOLDER
        and text.casefold() in PLACEHOLDERS
        and text not in _NAMES_TOO
    ):
        return Note(column, "placeholder_value", f"“{text}” counts as empty.")
    return None


def unusable(text: str, column: int) -> Note | None:
    """The note for a cell that no person filled in: a formula's error, control characters."""
    if text[0] == "#" and text in _CELL_ERRORS:
        return Note(column, "cell_error", f"The spreadsheet shows an error here: {text}.")
    if not text.isprintable() and _CONTROL.search(text):
        return Note(column, "control_characters", "Holds control characters: type it again.")
    return None


class PhoneCell(NamedTuple):
    """A number in E.164 and its extension, or why there is none."""

    number: str | None
    extension: str | None = None
    error: Note | None = None
    warning: Note | None = None


def read_phone(raw: str, column: int, default_region: str | None) -> PhoneCell:
    """The number in a cell that is not empty."""
    if is_plain_e164(raw):
        return _with_plausibility(raw, None, column)
    if _ORDINARY.fullmatch(raw):
        try:
            return _with_plausibility(normalise(raw, default_region), None, column)
        except PhoneError:
            pass  # said below, with what may have happened to the number
    if damage := inspect_phone(raw, default_region):
        note = Note(column, "excel_damaged_phone", damage.message, damage.code, damage.repair)
        return PhoneCell(None, error=note)
    if holds_several_numbers(raw):
        message = "Several numbers in one cell: keep one, put others into columns of their own."
        return PhoneCell(None, error=Note(column, "several_phones", message))
    text, extension = split_extension(raw)
    try:
        number = normalise(text, default_region)
    except PhoneError as error:
        note = Note(column, "invalid_phone", error.message, error.code)
        return PhoneCell(None, error=note)
    return _with_plausibility(number, extension, column)


def _with_plausibility(number: str, extension: str | None, column: int) -> PhoneCell:
    if is_plausible(number):
        return PhoneCell(number, extension)
    message = "No number like this is in use in its country: check the digits."
    return PhoneCell(number, extension, warning=Note(column, "implausible_phone", message))


def split_name(name: str) -> tuple[str, str]:
    """First and last name: ``Whitcombe, Aurelia`` by the comma, else the last word is the last
    name, with the particles before it (``de la Fuente``)."""
    before, comma, after = name.partition(",")
    if comma and before.strip() and after.strip():
        return " ".join(after.split()), " ".join(before.split())
    words = name.replace(",", " ").split()
    if len(words) < 2:
        return " ".join(words), ""
    start = len(words) - 1
    for index in range(1, len(words) - 1):
        if words[index].casefold() in _PARTICLES:
            start = index
            break
    return " ".join(words[:start]), " ".join(words[start:])
