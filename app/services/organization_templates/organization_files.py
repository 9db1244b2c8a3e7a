"""Organizations in a file: a header, and a row for each organization to create."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import BinaryIO

from app.contact_files import (
    FileLimits,
    ReadOptions,
    UnreadableFile,
    made_name,
    open_table,
    unguard_cell,
)
from app.errors import ValidationFailed
from app.languages import LANGUAGES, gettext, using_language
from app.phone import regions
from app.services.csv_files import first_line, lines
from app.services.organization_templates.creating import OrganizationDetails
from app.services.organization_templates.organization_columns import columns_of
from app.services.pasted_lines import PastedLine
from app.validation.texts import trim

MAX_ROWS = 200
MAX_BYTES = 1_000_000
MAX_CELL_LENGTH = 300
"""Characters that are read of a cell, more than any value may have: a truncated value is refused by
its length."""
_LIMITS = FileLimits(unpacked=64 * 1024 * 1024)
COLUMNS = ("name", "email", "user name", "country", "time zone")
PARTS = ("name", "email", "user_name", "country", "timezone")
"""The parts of an organization, in the order of `COLUMNS`."""
PROBLEM_COLUMN = "problem"


@dataclass(frozen=True, slots=True)
class OrganizationFileRow:
    """An organization with the number of the row, as a spreadsheet shows it."""

    number: int
    details: OrganizationDetails


@dataclass(frozen=True, slots=True)
class OrganizationFile:
    """The organizations of a file, and the names of its columns that aren't used."""

    rows: list[OrganizationFileRow]
    unused: tuple[str, ...]


def read_organizations(file: BinaryIO, name: str = "") -> OrganizationFile:
    """Return the organizations of a CSV or Excel file.

    Raises `UnreadableFile`, and `ValidationFailed` (``no_name_column``, ``too_many``).
    """
    rows: list[OrganizationFileRow] = []
    with open_table(file, name=name, options=ReadOptions(limits=_LIMITS)) as table:
        columns = {} if table.header_is_made else columns_of(table.header)
        if "name" not in columns:
            message = gettext(
                "The first row must name the columns, such as name, email and country."
            )
            raise ValidationFailed.on("file", "no_name_column", message)
        for row in islice(table.rows(), MAX_ROWS + 1):
            if row.problem is not None:
                message = gettext(
                    "Row %(row)s: %(problem)s", row=row.number, problem=row.problem.message
                )
                raise ValidationFailed.on("file", row.problem.code, message)
            cells = (row.cells[columns[part]] if part in columns else "" for part in PARTS)
            rows.append(
                OrganizationFileRow(row.number, _to_details(*map(unguard_cell, map(trim, cells))))
            )
        unused = tuple(_unused(table.header, columns))
    _check_count(len(rows))
    return OrganizationFile(rows, unused)


def _check_count(rows: int) -> None:
    """Raises `UnreadableFile` and `ValidationFailed` (``too_many``)."""
    if not rows:
        raise UnreadableFile("no_rows")
    if rows > MAX_ROWS:
        message = gettext(
            "The file has more than %(most)s rows. Split it into several files.", most=MAX_ROWS
        )
        raise ValidationFailed.on("file", "too_many", message)


def to_lines(rows: Sequence[OrganizationFileRow]) -> list[PastedLine]:
    """Return the rows as lines with `PARTS`, for `from_lines`."""
    return [PastedLine(row.number, tuple(cell or "" for cell in _cells(row))) for row in rows]


def from_lines(lines: Sequence[PastedLine]) -> list[OrganizationFileRow]:
    """Return the rows of such lines. Raises `UnreadableFile` and `ValidationFailed`
    (``too_many``)."""
    _check_count(len(lines))
    return [OrganizationFileRow(line.number, _to_details(*line.cells)) for line in lines]


def corrected_file(rows: Sequence[tuple[OrganizationFileRow, str]]) -> bytes:
    """Return a CSV file of rows with their problems, to be fixed and chosen again: the column of
    the problems is ignored then."""
    return first_line((*COLUMNS, PROBLEM_COLUMN)) + lines(
        [*_cells(row), problem] for row, problem in rows
    )


def sample_file() -> bytes:
    """Return a CSV file with two organizations to start from."""
    return first_line(COLUMNS) + lines(
        [
            ("Alder Books", "ann@example.com", "Ann Moreau", "US", "America/New_York"),
            ("Harbour Bikes", "ben@example.com", "", "", ""),
        ]
    )


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


def _cells(row: OrganizationFileRow) -> tuple[str | None, ...]:
    return tuple(getattr(row.details, part) for part in PARTS)


def _key(name: str) -> str:
    return name.casefold().removeprefix("the ").replace("’", "'")


def _unused(header: Sequence[str], columns: dict[str, int]) -> Iterator[str]:
    """Return the unused columns, except those without a name of their own."""
    for at, head in enumerate(header):
        name = trim(head)[:MAX_CELL_LENGTH]
        known = at in columns.values() or name.casefold() == PROBLEM_COLUMN
        if not known and name != made_name(at):
            yield name


def _to_details(*cells: str) -> OrganizationDetails:
    """Return the organization of the cells in the order of `PARTS`."""
    texts = (" ".join(cell.splitlines())[:MAX_CELL_LENGTH] for cell in cells)
    name, email, user_name, country, timezone = (text or None for text in texts)
    return OrganizationDetails(
        name=name or "",
        email=email,
        user_name=user_name,
        country=region_code(country) if country else None,
        timezone=timezone,
    )
