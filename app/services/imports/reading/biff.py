"""What must be known of an old workbook before anything of it is loaded ([MS-XLS]).

How large its sheets really are, whether it is protected, and which cells show errors, for the
loader turns those into empty ones.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.services.imports.reading.errors import UnreadableFile

_BOF, _EOF, _FILE_PASS, _WINDOW, _BOUND_SHEET = 0x0809, 0x000A, 0x002F, 0x003D, 0x0085
_FORMULA, _STRING, _BOOL_OR_ERROR = 0x0006, 0x0207, 0x0205
_CELLS = frozenset({0x0203, 0x0205, 0x027E, 0x00FD, 0x0204, 0x00D6, 0x0006, 0x0406, 0x0201})
_RUNS = frozenset({0x00BD, 0x00BE})
_WORKSHEET, _MACRO_SHEET = 0, 1
_ERRORS = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!", 0x1D: "#NAME?",
    0x24: "#NUM!", 0x2A: "#N/A",
}  # fmt: skip


@dataclass(slots=True)
class Sheet:
    """``errors`` by (row, column) from 0. ``rows`` and ``columns`` reach to the last cell."""

    visible: bool
    kind: int
    rows: int = 0
    columns: int = 0
    errors: dict[tuple[int, int], str] = field(default_factory=dict)


@dataclass(slots=True)
class Facts:
    """``active`` is the index of the sheet that the program showed last."""

    sheets: list[Sheet]
    active: int

    @property
    def only_macros(self) -> bool:
        return bool(self.sheets) and all(sheet.kind == _MACRO_SHEET for sheet in self.sheets)


def facts_of(stream: bytes) -> Facts:
    """Raises UnreadableFile (``password_protected``, ``unreadable_workbook``)."""
    active = 0
    offsets: list[int] = []
    sheets: list[Sheet] = []
    try:
        for code, body in _records(stream, 0):
            if code == _FILE_PASS:
                raise UnreadableFile("password_protected")
            if code == _WINDOW:
                (active,) = struct.unpack_from("<H", body, 10)
            elif code == _BOUND_SHEET:
                offset, state, kind = struct.unpack_from("<IBB", body)
                offsets.append(offset)
                sheets.append(Sheet(state & 3 == 0, kind))
        for offset, sheet in zip(offsets, sheets, strict=True):
            for code, body in _records(stream, offset):
                _measure(sheet, code, body)
    except struct.error:
        raise UnreadableFile("unreadable_workbook") from None
    return Facts(sheets, active)


def _records(stream: bytes, position: int) -> Iterator[tuple[int, bytes]]:
    """The records of one part; parts within it (charts) are passed over."""
    depth = 0
    while position + 4 <= len(stream):
        code, size = struct.unpack_from("<HH", stream, position)
        position += 4
        if code == _BOF:
            depth += 1
        elif code == _EOF:
            depth -= 1
            if depth <= 0:
                return
        elif depth == 1:
            yield code, stream[position : position + size]
        position += size


def _measure(sheet: Sheet, code: int, body: bytes) -> None:
    if code in _CELLS:
        row, column = struct.unpack_from("<HH", body)
        last = column
        error = _error(code, body)
        if error:
            sheet.errors[row, column] = error
    elif code in _RUNS:
        (row,) = struct.unpack_from("<H", body)
        (last,) = struct.unpack_from("<H", body, len(body) - 2)
    else:
        return
    sheet.rows, sheet.columns = max(sheet.rows, row + 1), max(sheet.columns, last + 1)


def _error(code: int, body: bytes) -> str | None:
    if code == _BOOL_OR_ERROR and body[7]:
        return _ERRORS.get(body[6])
    if code == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2:
        return _ERRORS.get(body[8])
    return None
