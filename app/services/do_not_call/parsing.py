"""Parse many numbers at once, by the same rules as every other stored number."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.contact_files.column_names import field_of, normalized_name, words_of
from app.contact_files.spreadsheet_damage import inspect_country, inspect_phone
from app.errors import ValidationFailed
from app.languages import gettext
from app.languages.numbers import localize_number
from app.phone import PhoneError, country_name, is_plausible, normalise_written
from app.services.pasted_lines import PastedLine, lines_of

MAX_NUMBERS = 10_000
MAX_FILE_BYTES = 2 * 1024 * 1024
COLUMNS = ("number", "reason")
_NUMBER_HEADS = frozenset({"number", "numbers", "nummer", "nummern", "numero", "numeros"})
"""Names of number columns in addition to those of contact files."""
_REASON_HEADS = (
    "reason",
    "why",
    "note",
    "comment",
    "remark",
    "grund",
    "notiz",
    "bemerkung",
    "anmerkung",
    "kommentar",
    "motivo",
    "razon",
    "nota",
    "comentario",
    "observacion",
    "motif",
    "raison",
    "commentaire",
    "remarque",
)
"""Parts of the names of reason columns, without accents."""


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A line as it was written, with its number in E.164, or what is wrong with it."""

    number: int
    text: str
    phone: str | None
    problem: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedNumbers:
    """The lines that were read; a repeated number is in ``valid`` once. ``heading`` is the number
    of the line with the names of the columns; ``unused`` are the names of those that weren't
    read."""

    valid: list[SheetLine]
    invalid: list[SheetLine]
    repeated: int
    heading: int | None = None
    unused: Sequence[str] = ()


def read_numbers(text: str, default_region: str) -> ParsedNumbers:
    """Return the numbers of a text: one per line, or the number column of a CSV with its reasons.

    Raises `ValidationFailed` (``required``, ``too_many``).
    """
    lines = lines_of(text)
    number_at, reason_at, heading, unused = 0, 1, None, list[str]()
    if lines and _is_heading(lines[0].cells):
        heads = lines[0].cells
        number_at, reason_at = _find_columns(heads)
        heading = lines[0].number
        unused = [
            head for at, head in enumerate(heads) if head and at not in {number_at, reason_at}
        ]
        lines = lines[1:]
    valid, invalid, repeated = _parse(lines, number_at, reason_at, default_region)
    return ParsedNumbers(valid, invalid, repeated, heading, unused)


def to_lines(parsed: ParsedNumbers) -> list[PastedLine]:
    """Return the lines in their order with `COLUMNS`, for `from_lines`; numbers that were read are
    in E.164."""
    lines = sorted((*parsed.valid, *parsed.invalid), key=lambda line: line.number)
    return [
        PastedLine(line.number, (line.phone or line.text[:254], line.reason or ""))
        for line in lines
    ]


def from_lines(lines: Sequence[PastedLine], default_region: str) -> ParsedNumbers:
    """Return the numbers of such lines. Raises as `read_numbers`."""
    return ParsedNumbers(*_parse(lines, 0, 1, default_region))


def _parse(
    lines: Sequence[PastedLine], number_at: int, reason_at: int, default_region: str
) -> tuple[list[SheetLine], list[SheetLine], int]:
    """Return the lines with a number, those without, and how many repeat one. Raises
    `ValidationFailed` (``required``, ``too_many``)."""
    if not lines:
        message = gettext("Enter at least one number or choose a file.")
        raise ValidationFailed.on("numbers", "required", message)
    if len(lines) > MAX_NUMBERS:
        message = gettext(
            "%(number)s lines are too many. Add at most %(most)s at a time.",
            number=localize_number(len(lines)),
            most=localize_number(MAX_NUMBERS),
        )
        raise ValidationFailed.on("numbers", "too_many", message)
    valid: dict[str, SheetLine] = {}
    invalid = []
    for line in lines:
        parsed = _read_line(line, number_at, reason_at, default_region)
        if parsed.phone is None:
            invalid.append(parsed)
        else:
            valid.setdefault(parsed.phone, parsed)
    return list(valid.values()), invalid, len(lines) - len(valid) - len(invalid)


def _read_line(line: PastedLine, number_at: int, reason_at: int, default_region: str) -> SheetLine:
    text = _cell(line, number_at)
    reason = _cell(line, reason_at)[:500] or None
    phone, problem = _parse_number(text, default_region)
    return SheetLine(line.number, text, phone, problem, reason)


def _parse_number(text: str, default_region: str) -> tuple[str | None, str | None]:
    """Return the number in E.164, or what is wrong with it, including that another one may be
    meant."""
    damage = inspect_phone(text, default_region) if text else None
    try:
        phone = normalise_written(text, default_region)
    except PhoneError as error:
        return None, (damage or error).message
    damage = damage or inspect_country(text, phone, default_region)
    if damage is not None and damage.repair != phone:
        return None, damage.message
    if not text.startswith(("+", "00")) and not is_plausible(phone):
        message = gettext(
            "Not a number of %(country)s. For another country, start with + and its code.",
            country=country_name(default_region),
        )
        return None, message
    return phone, None


def _cell(line: PastedLine, position: int) -> str:
    return line.cells[position] if position < len(line.cells) else ""


def _is_heading(cells: tuple[str, ...]) -> bool:
    """Whether a cell is the name of a column of numbers. In a line with a number, a word such as
    "mobile" is a reason."""
    return any(map(_names_numbers, cells)) and not any(map(str.isdigit, "".join(cells)))


def _names_numbers(head: str) -> bool:
    """Whether the cell is the name of a column of numbers, and no more than that."""
    return field_of(head) == "phone" or normalized_name(head) in _NUMBER_HEADS


def _find_columns(heads: tuple[str, ...]) -> tuple[int, int]:
    """Return the places of the number column and of that with the reasons."""
    number_at = next(index for index, head in enumerate(heads) if _names_numbers(head))
    reasons = (
        index
        for index, head in enumerate(heads)
        if any(word in words_of(head) for word in _REASON_HEADS)
    )
    return number_at, next(reasons, len(heads))
