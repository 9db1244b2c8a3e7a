"""Figures as CSV files that spreadsheets open unchanged, without running formulas."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from app.contact_files import guard_cell

BYTE_ORDER_MARK = "\ufeff"
"""Without this mark spreadsheets don't recognize UTF-8 in a CSV file."""

Cell = str | int | Decimal | date | datetime | None


def first_line(columns: Sequence[str]) -> bytes:
    """Return the names of the columns as the beginning of a file."""
    return BYTE_ORDER_MARK.encode() + lines([columns])


def lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    """Return rows as lines; texts that a spreadsheet would run are escaped, times are UTC."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_format_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _format_cell(cell: Cell) -> str | int | Decimal:
    match cell:
        case None:
            return ""
        case int() | Decimal():
            return cell
        case datetime():
            return f"{cell:%Y-%m-%d %H:%M:%S}"
        case date():
            return cell.isoformat()
        case _:
            return guard_cell(str(cell))
