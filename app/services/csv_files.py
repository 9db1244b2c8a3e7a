"""Figures as files: CSV that a spreadsheet opens as it is meant, and that runs nothing there."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date, datetime

from app.contact_files import guard_cell

BYTE_ORDER_MARK = "\ufeff"
"""Spreadsheets take a CSV file for UTF-8 only with this in front."""

Cell = str | int | date | datetime | None


def first_line(columns: Sequence[str]) -> bytes:
    """The names of the columns, as the beginning of a file."""
    return BYTE_ORDER_MARK.encode() + lines([columns])


def lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    """The rows as lines; text that a spreadsheet would run is guarded, moments are UTC."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_written(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _written(cell: Cell) -> str | int:
    match cell:
        case None:
            return ""
        case int():
            return cell
        case datetime():
            return f"{cell:%Y-%m-%d %H:%M:%S}"
        case date():
            return cell.isoformat()
        case _:
            return guard_cell(cell)
