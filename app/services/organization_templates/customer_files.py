"""Customers in a file: a header, and a row for each organization to create."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

from app.contact_files import (
    FileLimits,
    ReadOptions,
    UnreadableFile,
    guard_cell,
    made_name,
    open_table,
    unguard_cell,
)
from app.errors import ValidationFailed
from app.languages import LANGUAGES, gettext, using_language
from app.phone import regions
from app.services.csv_files import first_line, lines
from app.services.organization_templates.creating import CustomerDetails
from app.services.organization_templates.customer_columns import columns_of
from app.validation.texts import trimmed, whole_number

MAX_ROWS = 200
MAX_BYTES = 1_000_000
MAX_CELL_LENGTH = 300
"""Characters that are read of a cell, more than any value may have: a truncated value is refused by
its length."""
_LIMITS = FileLimits(unpacked=64 * 1024 * 1024)
COLUMNS = ("name", "email", "user name", "country", "time zone")
ROW_COLUMN = "row"
PROBLEM_COLUMN = "problem"


@dataclass(frozen=True, slots=True)
class CustomerRow:
    """A customer with the number of the row, as a spreadsheet shows it."""

    number: int
    customer: CustomerDetails


@dataclass(frozen=True, slots=True)
class CustomerFile:
    """The customers of a file, and the names of its columns that aren't used."""

    rows: list[CustomerRow]
    unused: tuple[str, ...]


def read_customers(file: BinaryIO, name: str = "") -> CustomerFile:
    """Return the customers of a CSV or Excel file.

    Raises `UnreadableFile`, and `ValidationFailed` (``no_name_column``, ``too_many``).
    """
    return _read(file, name, ReadOptions(limits=_LIMITS))


def as_text(rows: Sequence[CustomerRow]) -> str:
    """Return the rows as the text of a form, for `from_text`."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow((*COLUMNS, ROW_COLUMN))
    for row in rows:
        writer.writerow([*(guard_cell(cell or "") for cell in _cells(row)), row.number])
    return text.getvalue()


def corrected_file(rows: Sequence[tuple[CustomerRow, str]]) -> bytes:
    """Return a CSV file of rows with their problems, to be fixed and chosen again: the column of
    the problems is ignored then."""
    return first_line((*COLUMNS, PROBLEM_COLUMN)) + lines(
        [*_cells(row), problem] for row, problem in rows
    )


def sample_file() -> bytes:
    """Return a CSV file with two customers to start from."""
    return first_line(COLUMNS) + lines(
        [
            ("Alder Books", "ann@example.com", "Ann Moreau", "US", "America/New_York"),
            ("Harbour Bikes", "ben@example.com", "", "", ""),
        ]
    )


def from_text(text: str) -> list[CustomerRow]:
    """Return the rows of a form. Raises as `read_customers`."""
    options = ReadOptions(encoding="utf-8", delimiter=",", header_row=1, limits=_LIMITS)
    return _read(io.BytesIO(text.encode("utf-8", "replace")), "", options, numbered=True).rows


def region_code(text: str) -> str:
    """Return the code of a country given by its code or its name in any language of the portal;
    unknown text as it is."""
    return _codes().get(_key(text), text)


@cache
def _codes() -> dict[str, str]:
    codes: dict[str, str] = {}
    for language in reversed(LANGUAGES):  # where two languages differ, English wins
        with using_language(language):
            codes |= {_key(name): code for code, name in regions()}
    aliases = {"uk": "GB", "great britain": "GB", "usa": "US", "united states of america": "US"}
    return codes | aliases | {code.casefold(): code for code, _name in regions()}


def _cells(row: CustomerRow) -> tuple[str | None, ...]:
    each = row.customer
    return each.name, each.email, each.user_name, each.country, each.timezone


def _key(name: str) -> str:
    return name.casefold().removeprefix("the ").replace("’", "'")


def _read(
    file: BinaryIO, name: str, options: ReadOptions, *, numbered: bool = False
) -> CustomerFile:
    """``numbered``: the last cell of each row is its number in the file that it came from."""
    customers: list[CustomerRow] = []
    with open_table(file, name=name, options=options) as table:
        columns = {} if table.header_is_made else columns_of(table.header)
        if "name" not in columns:
            message = gettext(
                "The first row must name the columns, such as name, email and country."
            )
            raise ValidationFailed.on("file", "no_name_column", message)
        unused = tuple(_unused(table.header, columns))
        for row in table.rows():
            if len(customers) == MAX_ROWS:
                message = gettext(
                    "The file has more than %(most)s rows. Split it into several files.",
                    most=MAX_ROWS,
                )
                raise ValidationFailed.on("file", "too_many", message)
            if row.problem is not None:
                message = gettext(
                    "Row %(row)s: %(problem)s", row=row.number, problem=row.problem.message
                )
                raise ValidationFailed.on("file", row.problem.code, message)
            kept = row.cells[-1] if numbered else ""
            known = whole_number(kept, 7)
            number = row.number if known is None else known
            customers.append(CustomerRow(number, _customer(row.cells, columns)))
    if not customers:
        raise UnreadableFile("no_rows")
    return CustomerFile(customers, unused)


def _unused(header: Sequence[str], columns: dict[str, int]) -> Iterator[str]:
    """Return the unused columns, except those without a name of their own."""
    for at, head in enumerate(header):
        name = trimmed(head)[:MAX_CELL_LENGTH]
        known = at in columns.values() or name.casefold() == PROBLEM_COLUMN
        if not known and name != made_name(at):
            yield name


def _customer(cells: Sequence[str], columns: dict[str, int]) -> CustomerDetails:
    def cell(part: str) -> str | None:
        if part not in columns:
            return None
        text = unguard_cell(trimmed(cells[columns[part]])).strip()
        return text[:MAX_CELL_LENGTH] or None

    country = cell("country")
    return CustomerDetails(
        name=cell("name") or "",
        email=cell("email"),
        user_name=cell("user_name"),
        country=region_code(country) if country else None,
        timezone=cell("timezone"),
    )
