"""XLS: the visible sheet, with values as the spreadsheet shows them as far as the file tells.

The whole sheet is held in memory, so the file and its sheets have limits of their own.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import BinaryIO

from python_calamine import CalamineError, CalamineWorkbook, PasswordError

from app.services.imports.reading.biff import Facts, facts_of
from app.services.imports.reading.errors import UnreadableFile
from app.services.imports.reading.number_formats import exact
from app.services.imports.reading.ole import Container
from app.services.imports.reading.table import Header, ReadOptions, Row

MAX_BYTES = 32 * 1024 * 1024
MAX_CELLS = 3_000_000
"""Of all sheets together, empty ones within their bounds included."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
"""The part that an encrypted XLSX consists of."""
_MACROS = "_VBA_PROJECT_CUR"

Value = int | float | str | bool | time | date | datetime | timedelta


class OldWorkbook:
    """An open XLS."""

    kind = "xls"
    encoding: str | None = None
    delimiter: str | None = None
    wide_rows_are_broken = False
    header: Header | None = None

    def __init__(self, stream: BinaryIO, options: ReadOptions):
        self._stream = stream
        self._limits = options.limits
        container = _container(stream)
        facts = _facts(container)
        try:
            stream.seek(0)
            self._book = CalamineWorkbook.from_filelike(stream)
        except PasswordError:
            raise UnreadableFile("password_protected") from None
        except (CalamineError, OSError, ValueError):
            raise UnreadableFile("unreadable_workbook") from None
        self.sheets: tuple[str, ...] = tuple(self._book.sheet_names)
        index = self._choose(facts, options.sheet)
        self.sheet: str | None = self.sheets[index]
        self._index = index
        known = index < len(facts.sheets)
        self._errors = facts.sheets[index].errors if known else {}
        notes = []
        if sum(sheet.visible for sheet in facts.sheets) > 1:
            notes.append("other_sheets")
        if known and not facts.sheets[index].visible:
            notes.append("hidden_sheet")
        if _MACROS in container.names:
            notes.append("macros_ignored")
        self.notes: tuple[str, ...] = tuple(notes)

    def close(self) -> None:
        self._book.close()
        self._stream.close()

    def records(self) -> Iterator[Row]:
        """Rows from the first of the sheet."""
        sheet = self._book.get_sheet_by_index(self._index)
        limits = self._limits
        for index, values in enumerate(sheet.iter_rows()):
            cells = ["" if value == "" else _shown(value) for value in values]
            if len(cells) > limits.columns and any(cells[limits.columns :]):
                raise UnreadableFile("too_many_columns", row=index + 1, limit=limits.columns)
            if max(map(len, cells), default=0) > limits.cell:
                raise UnreadableFile("field_too_long", row=index + 1, limit=limits.cell)
            if self._errors:
                for column in range(len(cells)):
                    cells[column] = self._errors.get((index, column), cells[column])
            yield Row(index + 1, cells)

    def _choose(self, facts: Facts, wanted: str | None) -> int:
        """The sheet asked for, else the active one, else the first that people see."""
        if wanted is not None:
            if wanted in self.sheets:
                return self.sheets.index(wanted)
            raise UnreadableFile("choose_sheet", sheet=wanted, sheets=", ".join(self.sheets))
        visible = [i for i, s in enumerate(facts.sheets) if s.visible and s.kind == 0]
        if facts.active in visible:
            return facts.active
        if not self.sheets:
            raise UnreadableFile("unreadable_workbook")
        return visible[0] if visible else 0


def _container(stream: BinaryIO) -> Container:
    stream.seek(0)
    data = stream.read(MAX_BYTES + 1)
    if _ENCRYPTED in data:
        raise UnreadableFile("password_protected")
    if len(data) > MAX_BYTES:
        raise UnreadableFile("too_large", limit=f"{MAX_BYTES // 1024 // 1024} MiB")
    return Container(data)


def _facts(container: Container) -> Facts:
    """What the workbook's own records tell. Books before 1997 have no such limits to fear."""
    name = next((name for name in ("Workbook", "Book") if name in container.names), None)
    if name is None:
        what = "a document of the old kind" if container.names else "a damaged old document"
        raise UnreadableFile("unsupported_type", what=what)
    facts = facts_of(container.stream(name))
    if facts.only_macros:
        raise UnreadableFile("macro_file")
    if sum(sheet.rows * sheet.columns for sheet in facts.sheets) > MAX_CELLS:
        raise UnreadableFile("too_large", limit=f"{MAX_CELLS:,} cells")
    return facts


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return exact(repr(value))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}" if value.time() == time() else f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}"
    return f"{value:%H:%M}" if isinstance(value, time) else str(value)
