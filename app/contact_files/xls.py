"""Read XLS: the visible sheet, with values as the spreadsheet shows them.

Its records are read here, because a library that builds the full table of the sheet allocates as
much memory as a damaged file asks for, which ends the whole process.
"""

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

from app.contact_files.biff import (
    MACRO_SHEET,
    WorkbookGlobals,
    read_workbook_globals,
    records,
)
from app.contact_files.errors import UnreadableFile
from app.contact_files.number_formats import without_exponent
from app.contact_files.ole import OleContainer
from app.contact_files.table import FileRow, ReadOptions, RowSource, choose_sheet
from app.errors import Sentence

MAX_BYTES = 32 * 1024 * 1024
MAX_CELLS = 2_000_000
_CELLS = Sentence.gettext("%(count)s cells")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
"""The part that is in an encrypted XLSX."""
_MACROS = "_VBA_PROJECT_CUR"
_ERRORS = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?",
    0x24: "#NUM!", 0x2A: "#N/A",
}  # fmt: skip
_FORMULA_TEXT, _RUN = 0x0207, 0x00BD
_ROW, _COLUMNS = 0x0208, 0x007D

Cells = dict[int, dict[int, str]]


class OldWorkbook(RowSource):
    kind = "xls"

    def __init__(self, stream: BinaryIO, options: ReadOptions):
        super().__init__(stream, options)
        container = _open_container(stream)
        name = next((name for name in ("Workbook", "Book") if name in container.names), None)
        if name is None:
            description = (
                "a document of the old kind" if container.names else "a damaged old document"
            )
            raise UnreadableFile("unsupported_type", what=description)
        try:
            self._data = container.stream(name)
            self._workbook = read_workbook_globals(self._data)
        except (struct.error, IndexError, KeyError):
            raise UnreadableFile("unreadable_workbook") from None
        sheets = self._workbook.sheets
        self.sheets = tuple(sheet.name for sheet in sheets if sheet.readable)
        if not self.sheets and any(sheet.kind == MACRO_SHEET for sheet in sheets):
            raise UnreadableFile("macro_file")
        selected = choose_sheet(sheets, self._workbook.active, options.sheet)
        self.sheet = selected.name
        notes = []
        if sum(sheet.visible and sheet.readable for sheet in sheets) > 1:
            notes.append("other_sheets")
        if not selected.visible:
            notes.append("hidden_sheet")
        if _MACROS in container.names:
            notes.append("macros_ignored")
        self.notes = tuple(notes)
        try:
            sheet = _SheetCells(self._workbook)
            self._cells = sheet.read(self._data, selected.offset)
        except (struct.error, IndexError):
            raise UnreadableFile("unreadable_workbook") from None
        self._hidden_rows = sheet.hidden_rows
        self.hidden_columns = sheet.hidden_columns

    def records(self) -> Iterator[FileRow]:
        """Yield rows from the first of the sheet; rows without a record are blank."""
        limits = self._limits
        for index in range(max(self._cells, default=-1) + 1):
            texts = self._cells.get(index, {})
            cells = [""] * (max(texts, default=-1) + 1)
            for column, text in texts.items():
                cells[column] = text
                if len(text) > limits.cell:
                    raise UnreadableFile("field_too_long", row=index + 1, limit=limits.cell)
            if len(cells) > limits.columns:
                raise UnreadableFile("too_many_columns", row=index + 1, limit=limits.columns)
            self.row_is_hidden = index in self._hidden_rows
            yield FileRow(index + 1, cells)


def _open_container(stream: BinaryIO) -> OleContainer:
    stream.seek(0)
    data = stream.read(MAX_BYTES + 1)
    if _ENCRYPTED in data:
        raise UnreadableFile("password_protected")
    if len(data) > MAX_BYTES:
        raise UnreadableFile("too_large", limit=f"{MAX_BYTES // 1024 // 1024} MiB")
    return OleContainer(data)


class _SheetCells:
    """The non-empty cells of one sheet, as they are shown."""

    def __init__(self, workbook: WorkbookGlobals):
        self._workbook = workbook
        self._cells: Cells = {}
        self._count = 0
        self._awaited: tuple[int, int] | None = None
        self.hidden_rows: set[int] = set()
        self.hidden_columns: set[int] = set()
        self._readers: dict[int, Callable[[bytes], str]] = {
            0x0203: lambda body: self._number(body, struct.unpack_from("<d", body, 6)[0]),
            0x027E: lambda body: self._number(body, _unpack_rk(body, 6)),
            0x00FD: lambda body: workbook.strings[struct.unpack_from("<I", body, 6)[0]],
            0x0204: lambda body: workbook.text(body, 6),
            0x00D6: lambda body: workbook.text(body, 6),
            0x0205: lambda body: _boolean_text(body[6], is_error=bool(body[7])),
            0x0006: self._formula,
            0x0406: self._formula,
        }

    def read(self, data: bytes, offset: int) -> Cells:
        for code, body in records(data, offset):
            if reader := self._readers.get(code):
                row, column = struct.unpack_from("<HH", body)
                self._awaited = None
                self._put(row, column, reader(body))
            elif code == _RUN:
                row, column = struct.unpack_from("<HH", body)
                for cell_offset in range(4, len(body) - 2, 6):
                    show = self._format(struct.unpack_from("<H", body, cell_offset)[0])
                    self._put(
                        row,
                        column + (cell_offset - 4) // 6,
                        show(repr(_unpack_rk(body, cell_offset + 2))),
                    )
            elif code == _FORMULA_TEXT and self._awaited:
                self._put(*self._awaited, self._workbook.text(body, 0))
                self._awaited = None
            elif code == _ROW and body[12] & 0x20:
                self.hidden_rows.add(struct.unpack_from("<H", body)[0])
            elif code == _COLUMNS and body[8] & 1:
                first, last = struct.unpack_from("<HH", body)
                self.hidden_columns.update(range(first, last + 1))
        return self._cells

    def _put(self, row: int, column: int, text: str) -> None:
        if text:
            self._count += 1
            if self._count > MAX_CELLS:
                raise UnreadableFile("too_large", limit=_CELLS(count=f"{MAX_CELLS:,}"))
            self._cells.setdefault(row, {})[column] = text

    def _format(self, style: int) -> Callable[[str], str]:
        formats = self._workbook.formats
        return formats[style] if style < len(formats) else without_exponent

    def _number(self, body: bytes, value: float) -> str:
        return self._format(struct.unpack_from("<H", body, 4)[0])(repr(value))

    def _formula(self, body: bytes) -> str:
        """Return the result of a formula when the file was saved; a text is in the next record."""
        if body[12:14] != b"\xff\xff":
            return self._number(body, struct.unpack_from("<d", body, 6)[0])
        if body[6] == 0:
            row, column = struct.unpack_from("<HH", body)
            self._awaited = (row, column)
            return ""
        return _boolean_text(body[8], is_error=body[6] == 2) if body[6] in {1, 2} else ""


def _boolean_text(value: int, *, is_error: bool) -> str:
    if is_error:
        return _ERRORS.get(value, "#VALUE!")
    return "TRUE" if value else "FALSE"


def _unpack_rk(body: bytes, position: int) -> float:
    """Return a number packed into 30 bits, an integer or the upper part of a double: section
    2.5.217."""
    (packed,) = struct.unpack_from("<i", body, position)
    value: float
    if packed & 2:
        value = packed >> 2
    else:
        (value,) = struct.unpack("<d", struct.pack("<II", 0, packed & 0xFFFFFFFC))
    return value / 100 if packed & 1 else value
