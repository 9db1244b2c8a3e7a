"""Lines that users paste or upload: each with its number and its cells, whatever separates them."""

import csv
import io
from dataclasses import dataclass

from app.contact_files.encodings import detect, text_of
from app.contact_files.formulas import unguard_cell

_DELIMITERS = ("\t", ";", ",")
_SAMPLE = 50


@dataclass(frozen=True, slots=True)
class PastedLine:
    """A line that is not empty; ``number`` counts from 1, empty lines included."""

    number: int
    cells: tuple[str, ...]


def decoded(data: bytes) -> str:
    """Return the text of an uploaded file. Raises `UnreadableFile` if it is no text."""
    stream = io.BytesIO(data)
    encoding = detect(stream, None)
    return text_of(stream, encoding).read().encode("utf-8", "replace").decode()


def lines_of(text: str) -> list[PastedLine]:
    """Return the non-empty lines, cell by cell, without spaces around them. A line without the
    delimiter of most lines is split at its own."""
    lines = text.replace("\x00", "").replace("\ufeff", "").splitlines()
    delimiter = _delimiter([line for line in lines if line.strip()][:_SAMPLE])
    pasted = []
    for number, line in enumerate(lines, 1):
        if line.strip(f" {delimiter}\"'\u00a0"):
            own = delimiter if delimiter in line else _delimiter([line])
            pasted.append(PastedLine(number, _cells(line, own)))
    return pasted


def _delimiter(sample: list[str]) -> str:
    """Return the delimiter of most lines."""
    return max(_DELIMITERS, key=lambda one: sum(one in line for line in sample))


def _cells(line: str, delimiter: str) -> tuple[str, ...]:
    try:
        cells = next(csv.reader([line], delimiter=delimiter))
    except csv.Error:  # a cell beyond the reader's own limit
        cells = [line]
    return tuple(unguard_cell(cell.strip()).strip() for cell in cells)
