"""A list as a workbook, written to a file, so that long lists need no memory."""

import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import IO, Any

from app.errors import TooLarge
from app.languages import gettext
from app.languages.numbers import localize_number
from app.services.csv_files import Cell

MAX_ROWS = 1_048_575
"""Maximum rows of a sheet below its headings."""
MAX_NAME_LENGTH = 31
"""Maximum characters of the name of a sheet."""
NARROWEST = 12
"""Minimum characters that a column shows."""
WIDEST = 60
ROWS_TO_MEASURE = 1000
"""Number of first rows whose values decide the widths of the columns."""
_WIDTH_OF_MOMENT = len("2026-02-28 14:05")


def write_xlsx(name: str, headings: Sequence[str], chunks: Iterable[list[list[Cell]]]) -> IO[bytes]:
    """Return a temporary file with one sheet of this name. Text stays text, so no formula runs;
    times are UTC.

    Raises `TooLarge` for more rows than a sheet holds.
    """
    from xlsxwriter import Workbook

    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answer closes it
    options = {"constant_memory": True, "in_memory": False}
    with Workbook(file, options) as workbook:
        sheet = workbook.add_worksheet(name[:MAX_NAME_LENGTH])
        date_format = workbook.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        widths = [max(NARROWEST, len(heading) + 2) for heading in headings]
        for column, heading in enumerate(headings):
            sheet.write_string(0, column, heading, workbook.add_format({"bold": True}))
        sheet.freeze_panes(1, 0)
        row = 0
        for chunk in chunks:
            for cells in chunk:
                row += 1
                if row > MAX_ROWS:
                    message = gettext(
                        "An Excel file holds at most %(num)s rows. Export CSV instead.",
                        num=localize_number(MAX_ROWS),
                    )
                    raise TooLarge(message, "too_many_rows")
                if row <= ROWS_TO_MEASURE:
                    widths = list(map(max, widths, map(_width_of, cells)))
                _write_row(sheet, row, cells, date_format)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
    file.seek(0)
    return file


def _write_row(sheet: Any, row: int, cells: Sequence[Cell], date_format: Any) -> None:
    for column, cell in enumerate(cells):
        match cell:
            case None | "":
                continue
            case datetime():
                utc_time = cell.astimezone(UTC).replace(tzinfo=None, microsecond=0)
                sheet.write_datetime(row, column, utc_time, date_format)
            case int() | float() | Decimal():
                sheet.write_number(row, column, cell)
            case _:
                sheet.write_string(row, column, str(cell))


def _width_of(cell: Cell) -> int:
    """Return how many characters a column needs for the cell, up to the widest."""
    if isinstance(cell, datetime):
        return _WIDTH_OF_MOMENT + 2
    longest = max(map(len, str("" if cell is None else cell).splitlines()), default=0)
    return min(longest + 2, WIDEST)
