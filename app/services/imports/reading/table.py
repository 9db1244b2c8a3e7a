"""What every kind of file becomes: a header and numbered rows, read as a stream."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

from app.services.imports.reading.errors import UnreadableFile


@dataclass(frozen=True, slots=True)
class Limits:
    """What a contact list may hold; beyond it the file is refused."""

    columns: int = 512
    cell: int = 64 * 1024
    rows: int = 1_048_576
    unpacked: int = 1024 * 1024 * 1024
    """Bytes that a workbook may unpack to, all parts together."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person changed about the reading; None leaves it to detection.

    ``header_row`` is the row number as the spreadsheet shows it, 0 when there is no header.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None
    sheet: str | None = None
    limits: Limits = field(default_factory=Limits)


class RowProblem(NamedTuple):
    """Why a row cannot be used: its cells are shown to the person and never applied."""

    code: str
    message: str


class Row(NamedTuple):
    """One row: its number as a spreadsheet shows it, and its cells as text.

    ``cells`` are as many as the header has; ``missing`` counts those that the file left out.
    """

    number: int
    cells: list[str]
    problem: RowProblem | None = None
    missing: int = 0


class Header(NamedTuple):
    """Names that are unique, the row they stand in (None: nowhere), and notes for the person."""

    names: list[str]
    row_number: int | None
    notes: tuple[str, ...]


class Source(Protocol):
    """One container that is open: what it is, and its rows from the first, blank ones included."""

    kind: str
    encoding: str | None
    delimiter: str | None
    sheet: str | None
    sheets: tuple[str, ...]
    notes: tuple[str, ...]
    wide_rows_are_broken: bool
    """True where a cell too many means that a separator stood inside a value (text files)."""

    def records(self) -> Iterator[Row]:
        """Starts again from the first row at every call. Raises UnreadableFile on the way."""
        ...

    def close(self) -> None: ...


class Table:
    """An open contact file. Use it in a ``with`` block, or close it.

    ``kind`` csv or xlsx; ``encoding``, ``delimiter``, ``sheet`` where they apply, else None;
    ``sheets`` every sheet that can be chosen; ``header`` one unique name per column;
    ``header_row_number`` None when the file has no header (names are then Column A, B, …);
    ``notes`` what was assumed about the whole file (``encoding_guessed``, ``other_sheets``,
    ``title_rows``, ``unnamed_column``, ``duplicate_columns``).
    """

    def __init__(
        self,
        name: str,
        source: Source,
        header: Header,
        limits: Limits,
    ):
        self.name = name
        self.kind = source.kind
        self.encoding = source.encoding
        self.delimiter = source.delimiter
        self.sheet = source.sheet
        self.sheets = source.sheets
        self.header = header.names
        self.header_row_number = header.row_number
        self.notes = source.notes + header.notes
        self.blank_rows = 0
        self._source = source
        self._limits = limits

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file if it was opened here."""
        self._source.close()

    def rows(self) -> Iterator[Row]:
        """The rows below the header, streamed, from the first at every call.

        Blank rows are left out and counted in ``blank_rows`` (complete once the iterator is).
        A row that cannot be trusted carries its ``problem``. Raises UnreadableFile.
        """
        self.blank_rows = 0
        width = len(self.header)
        first = (self.header_row_number or 0) + 1
        last = first + self._limits.rows
        for row in self._source.records():
            number, cells, problem, _ = row
            if number < first:
                continue
            if number >= last:
                raise UnreadableFile("too_many_rows", limit=self._limits.rows)
            if not "".join(cells).strip():
                self.blank_rows += 1
                continue
            if len(cells) == width:
                yield row
            elif len(cells) < width:
                missing = width - len(cells)
                yield Row(number, cells + [""] * missing, problem, 0 if problem else missing)
            else:
                yield self._wide(row, width)

    def _wide(self, row: Row, width: int) -> Row:
        extra = row.cells[width:]
        problem = row.problem
        if problem is None and any(cell.strip() for cell in extra):
            problem = RowProblem("column_count", self._count_message(len(row.cells), width))
            return Row(row.number, row.cells, problem)
        return Row(row.number, row.cells[:width], problem)

    def _count_message(self, count: int, width: int) -> str:
        message = f"Has {count} cells where the header has {width} columns."
        if self._source.wide_rows_are_broken:
            return f"{message} Put quotation marks around the value that holds a separator."
        return f"{message} Give the further columns a name in the header."
