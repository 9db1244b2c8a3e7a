"""A contact file of any kind as a table: a header and numbered rows, read as a stream.

Rows below the list that aren't part of it (totals, copyright, who made the export and when) are
left out: a row is a footer if only blank rows and other footers follow it.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import BinaryIO, NamedTuple, Protocol, Self, TypeVar

from app.contact_files.column_names import column_letters
from app.contact_files.errors import UnreadableFile
from app.errors import Sentence

MAX_ROWS = 30
_WORDS = re.compile(
    r"(?:grand |sub-?)?totals?\s*(?:$|[:(=]|records|rows|contacts|\d)|copyright\b|©|\(c\) ?\d{4}|"
    r"confidential information|confidential$|(?:generated|exported|created|printed) (?:by|on|at)\b|"
    r"report (?:generated|created|name|date)\b|(?:record|row|contact)s? ?count\b|"
    r"\d+ (?:records?|rows?|contacts?)\b|page \d+|[-*= ]*end of (?:report|file|list|export)|"
    r"do not distribute|all rights reserved|"
    r"(?:gesamt|summe|gesamtsumme|anzahl|total général|totales?)\s*(?:$|[:(=]|\d)|"
    r"(?:erstellt|exportiert|gedruckt|generado|creado|exportado|impreso|criado|gerado|impresso) "
    r"(?:am|von|durch|el|por|em)\b|(?:généré|créé|exporté|imprimé)e? (?:le|par)\b|"
    r"druckdatum\b|(?:seite|página|pagina) \d+|\d+ (?:datensätze|einträge|kontakte|registros|"
    r"contactos|contatos|enregistrements)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\+\d[\d\s().-]{6,}|\(?\b\d{3}\)?[ .-]\d{3}[.-]\d{4}\b")
"""The form of phone numbers only: sums and dates look different."""
_IDENTIFIER = re.compile(r"[^@\s]@[^@\s]|(?:\d[\s().+-]*){7}")
_MAX_RUNS = 10_000
_BLANK_ROWS = 1_048_576
"""The number of rows of a sheet: spreadsheets also save rows that only have a format."""


def filled(cells: Sequence[str]) -> list[str]:
    return [text for cell in cells if (text := cell.strip())]


def is_footer(cells: Sequence[str]) -> bool:
    """Return whether the words of a row say that it is a footer. ``cells`` are the
    non-empty ones."""
    return (
        len(cells) <= 3
        and _WORDS.match(cells[0]) is not None
        and not any("@" in cell or _NUMBER.search(cell) for cell in cells)
    )


def may_be_footer(cells: Sequence[str]) -> bool:
    """Return whether a row after a gap may belong to a footer: one text that identifies no
    contact."""
    return len(cells) == 1 and not _IDENTIFIER.search(cells[0])


@dataclass(frozen=True, slots=True)
class FileLimits:
    """The largest contact list that is read; a larger file is refused."""

    columns: int = 512
    cell: int = 64 * 1024
    rows: int = 1_048_576
    unpacked: int = 1024 * 1024 * 1024
    """Bytes that a workbook may unpack to, all parts together."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The user's choices for reading a file; None leaves a choice to detection.

    ``header_row`` is the row number as the spreadsheet shows it, 0 for no header.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None
    sheet: str | None = None
    limits: FileLimits = field(default_factory=FileLimits)


class Sheet(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def visible(self) -> bool: ...

    @property
    def readable(self) -> bool:
        """Return whether it has rows, unlike sheets of charts and macros."""


AnySheet = TypeVar("AnySheet", bound=Sheet)


def choose_sheet(sheets: Sequence[AnySheet], active: int, name: str | None) -> AnySheet:
    """Return the requested sheet, else the active one, else the first visible one. Raises
    `UnreadableFile`."""
    readable = [sheet for sheet in sheets if sheet.readable]
    if not readable:
        raise UnreadableFile("unreadable_workbook")
    if name is None:
        ordered = [*sheets[active : active + 1], *readable]
        return next((s for s in ordered if s.readable and s.visible), readable[0])
    requested = next((sheet for sheet in readable if sheet.name == name), None)
    if requested is None:
        names = ", ".join(sheet.name for sheet in readable)
        raise UnreadableFile("choose_sheet", sheet=name, sheets=names)
    return requested


class RowProblem(NamedTuple):
    """Why a row can't be used: its cells are shown to the user and never applied."""

    code: str
    template: Sentence
    values: Mapping[str, object] = MappingProxyType({})

    @property
    def message(self) -> str:
        return self.template(**self.values)


class FileRow(NamedTuple):
    """One row: its number as a spreadsheet shows it, and its cells as text.

    There are as many ``cells`` as columns; ``missing`` counts those that a text file left out,
    negative for extra empty ones.
    """

    number: int
    cells: list[str]
    problem: RowProblem | None = None
    missing: int = 0


class FileHeader(NamedTuple):
    """Unique names, the row that has them (None: no row), and notes for the user.

    ``titles`` are the numbers of the non-blank rows above it, ``cell_count`` how many cells its row
    has, ``repeated`` the names that are there more than once.
    """

    names: list[str]
    row_number: int | None
    notes: tuple[str, ...]
    titles: tuple[int, ...] = ()
    cell_count: int = 0
    repeated: tuple[str, ...] = ()


class RowSource(ABC):
    """An open container: its kind, and its rows from the first, blank ones included."""

    kind: str
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    sheets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    wide_rows_are_broken = False
    """Whether an extra cell means that a separator was inside a value (text files)."""
    row_is_hidden = False
    """Whether the spreadsheet hides the row that `records` gave last."""
    hidden_columns: Collection[int] = ()
    """The indexes of hidden columns, known with the first row."""
    header: FileHeader | None = None
    """The columns of a container without a header row."""

    def __init__(self, stream: BinaryIO, options: ReadOptions):
        self._stream = stream
        self._limits = options.limits

    @abstractmethod
    def records(self) -> Iterator[FileRow]:
        """Yield the rows from the first, at every call. Raises UnreadableFile on the way."""

    def close(self) -> None:
        self._stream.close()


class SkippedRows(NamedTuple):
    """Rows from ``first`` to ``last`` that hold no contact; ``kind`` None: they are blank."""

    first: int
    last: int
    kind: str | None


class ContactTable:
    """An open contact file. Use it in a ``with`` block, or close it.

    ``kind`` csv, xlsx, xls or vcard; ``encoding``, ``delimiter``, ``sheet`` where they apply, else
    None; ``sheets`` every sheet that can be chosen; ``header`` one unique name per column;
    ``header_row_number`` None when the file has no header (names are then Column A, B, …).
    """

    def __init__(
        self,
        name: str,
        source: RowSource,
        header: FileHeader,
        limits: FileLimits,
    ):
        self.name = name
        self.kind = source.kind
        self.encoding = source.encoding
        self.delimiter = source.delimiter
        self.sheet = source.sheet
        self.sheets = source.sheets
        self.header = header.names
        self.header_row_number = header.row_number
        self.header_is_made = header.row_number is None and source.header is None
        self.title_rows = header.titles
        self.repeated_names = header.repeated
        self.blank_rows = self.footer_rows = self.hidden_rows = 0
        self.skipped: list[SkippedRows] = []
        self._notes = source.notes + header.notes
        self._header_cells = header.cell_count
        self._source = source
        self._limits = limits

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file if it was opened here."""
        self._source.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about the whole file; ``footer_rows`` and ``hidden_rows`` only after the rows
        were read."""
        notes = {
            "hidden_columns": any(
                index < len(self.header) for index in self._source.hidden_columns
            ),
            "hidden_rows": self.hidden_rows,
            "footer_rows": self.footer_rows,
        }
        return (*self._notes, *(kind for kind, is_so in notes.items() if is_so))

    def rows(self) -> Iterator[FileRow]:
        """Yield the rows below the header, streamed, from the first at every call.

        Blank rows and footers are left out and counted in ``blank_rows`` and ``footer_rows``;
        ``skipped`` has their places when the iterator ends. Hidden rows are read like all others
        and counted in ``hidden_rows``. A row with a structural problem carries its ``problem``.
        Raises UnreadableFile.
        """
        self.blank_rows = self.footer_rows = self.hidden_rows = 0
        self.skipped = []
        for title in self.title_rows:
            self._skip(title, "title_rows")
        pending: list[FileRow] = []
        after_blank = footers = False
        count = 0
        for row in self._from_first():
            texts = row.cells if "" not in row.cells else filled(row.cells)
            if not "".join(texts).strip():
                self.blank_rows += 1
                self._skip(row.number, None)
                after_blank = True
                continue
            count += 1
            if count > self._limits.rows:
                raise UnreadableFile("too_many_rows", limit=self._limits.rows)
            self.hidden_rows += self._source.row_is_hidden
            says_so = len(texts) <= 3 and is_footer(filled(texts))
            apart = (after_blank or bool(pending)) and may_be_footer(texts)
            after_blank = False
            if (says_so or apart) and len(pending) < MAX_ROWS:
                footers = footers or says_so
                pending.append(row)
                continue
            if pending:
                yield from map(self._shaped, pending)
                pending, footers = [], False
            yield row if len(row.cells) == len(self.header) else self._shaped(row)
        if footers:
            self.footer_rows = len(pending)
            for row in pending:
                self._skip(row.number, "footer_rows")
        else:
            yield from map(self._shaped, pending)

    def _from_first(self) -> Iterator[FileRow]:
        first = (self.header_row_number or 0) + 1
        last = first + self._limits.rows + _BLANK_ROWS
        for row in self._source.records():
            if row.number >= last:
                raise UnreadableFile("too_many_rows", limit=self._limits.rows)
            if row.number >= first:
                yield row

    def _skip(self, number: int, kind: str | None) -> None:
        """Add a skipped row; neighbors are one run, and of very many runs only the first
        are kept."""
        runs = self.skipped
        if runs and runs[-1].last == number - 1 and runs[-1].kind == kind:
            runs[-1] = runs[-1]._replace(last=number)
        elif kind or len(runs) < _MAX_RUNS:
            runs.append(SkippedRows(number, number, kind))

    def _shaped(self, row: FileRow) -> FileRow:
        number, cells, problem, _ = row
        width, broken = len(self.header), self._source.wide_rows_are_broken
        if len(cells) == width:
            return row
        if len(cells) < width:
            missing = width - len(cells)
            left_out = missing if broken and not problem else 0
            return FileRow(number, cells + [""] * missing, problem, left_out)
        if problem is None and any(cell.strip() for cell in cells[width:]):
            return FileRow(number, cells, self._too_wide(cells))
        extra = min(0, self._header_cells - len(cells)) if broken and not problem else 0
        return FileRow(number, cells[:width], problem, extra)

    def _too_wide(self, cells: Sequence[str]) -> RowProblem:
        if self._source.wide_rows_are_broken and len(cells) <= self._header_cells:
            last = max(index for index, cell in enumerate(cells) if cell.strip())
            return RowProblem("column_count", _NAMELESS, {"column": column_letters(last)})
        sentence = _MORE_CELLS if self._source.wide_rows_are_broken else _MORE_COLUMNS
        columns = max(len(self.header), self._header_cells)
        return RowProblem("column_count", sentence, {"cells": len(cells), "columns": columns})


_MORE_CELLS = Sentence.gettext(
    "Has %(cells)s cells where the header has %(columns)s columns. "
    "Put quotation marks around the value that holds a separator."
)
_MORE_COLUMNS = Sentence.gettext(
    "Has %(cells)s cells where the header has %(columns)s columns. "
    "Give the further columns a name in the header."
)
_NAMELESS = Sentence.gettext(
    "Has a value in column %(column)s, which has no name in the header. Give this column a name."
)
