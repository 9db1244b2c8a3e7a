"""Lines that users paste or upload: each with its number and its cells, whatever separates them.

A page keeps them as the text of a form while they are checked and corrected.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.contact_files.encodings import detect, text_of
from app.contact_files.formulas import guard_cell, unguard_cell
from app.validation.texts import whole_number

_DELIMITERS = ("\t", ";", ",")
_SAMPLE = 50


@dataclass(frozen=True, slots=True)
class PastedLine:
    """A line that is not empty; ``number`` counts from 1, empty lines included."""

    number: int
    cells: tuple[str, ...]


def decoded(data: bytes) -> str:
    """Return the text of an uploaded file. Raises `UnreadableFile` if it isn't text."""
    stream = io.BytesIO(data)
    encoding = detect(stream, None)
    return text_of(stream, encoding).read().encode("utf-8", "replace").decode()


def lines_of(text: str) -> list[PastedLine]:
    """Return the non-empty lines, cell by cell, without spaces around them. A line without the
    delimiter of most lines is split at its own."""
    lines = text.replace("\x00", "").replace("\ufeff", "").splitlines()
    delimiter = _guess_delimiter([line for line in lines if line.strip()][:_SAMPLE])
    pasted = []
    for number, line in enumerate(lines, 1):
        if line.strip(f" {delimiter}\"'\u00a0"):
            line_delimiter = delimiter if delimiter in line else _guess_delimiter([line])
            pasted.append(PastedLine(number, _split_cells(line, line_delimiter)))
    return pasted


def as_text(columns: Sequence[str], lines: Iterable[PastedLine]) -> str:
    """Return lines as the text of a form, for `from_text`."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("line", *columns))
    for line in lines:
        writer.writerow([line.number, *map(guard_cell, line.cells)])
    return text.getvalue()


def from_text(text: str, columns: Sequence[str]) -> list[PastedLine]:
    """Return the lines of a form; each has a cell for each of the columns."""
    lines = []
    for line in lines_of(text)[1:]:
        number, *cells = (*line.cells, *[""] * (len(columns) + 1))[: len(columns) + 1]
        written_number = whole_number(number, 8)
        if written_number is None:
            written_number = line.number
        lines.append(PastedLine(written_number, tuple(cells)))
    return lines


def _guess_delimiter(sample: list[str]) -> str:
    """Return the delimiter of most lines."""
    return max(_DELIMITERS, key=lambda delimiter: sum(delimiter in line for line in sample))


def _split_cells(line: str, delimiter: str) -> tuple[str, ...]:
    try:
        cells = next(csv.reader([line], delimiter=delimiter))
    except csv.Error:  # a cell beyond the reader's own limit
        cells = [line]
    return tuple(unguard_cell(cell.strip()).strip() for cell in cells)
