"""A list as a workbook, written to a file, so that its length takes no memory."""

import tempfile
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import IO

from app.errors import TooLarge
from app.languages import gettext
from app.languages.numbers import written_number
from app.services.csv_files import Cell

MOST_ROWS = 1_048_575
"""Rows of a sheet below its headings."""
MOST_NAME = 31
"""Characters of the name of a sheet."""
NARROWEST = 12
"""Characters that the narrowest column shows."""


def written_xlsx(
    name: str, headings: Sequence[str], parts: Iterable[list[list[Cell]]]
) -> IO[bytes]:
    """Return a temporary file with one sheet of this name. Text stays text, so no formula runs;
    times are UTC.

    Raises `TooLarge` for more rows than a sheet holds.
    """
    from xlsxwriter import Workbook

    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answer closes it
    options = {"constant_memory": True, "in_memory": False}
    with Workbook(file, options) as workbook:
        sheet = workbook.add_worksheet(name[:MOST_NAME])
        moment = workbook.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        for column, heading in enumerate(headings):
            sheet.set_column(column, column, max(NARROWEST, len(heading) + 2))
            sheet.write_string(0, column, heading, workbook.add_format({"bold": True}))
        sheet.freeze_panes(1, 0)
        row = 0
        for part in parts:
            for cells in part:
                row += 1
                if row > MOST_ROWS:
                    message = gettext(
                        "An Excel file holds at most %(num)s rows. Export CSV instead.",
                        num=written_number(MOST_ROWS),
                    )
                    raise TooLarge(message, "too_many_rows")
                for column, cell in enumerate(cells):
                    match cell:
                        case None | "":
                            continue
                        case datetime():
                            at = cell.astimezone(UTC).replace(tzinfo=None, microsecond=0)
                            sheet.write_datetime(row, column, at, moment)
                        case int() | float() | Decimal():
                            sheet.write_number(row, column, cell)
                        case _:
                            sheet.write_string(row, column, str(cell))
    file.seek(0)
    return file
