"""The records of an old workbook ([MS-XLS]): its sheets, texts and number formats.

Both kinds that programs still write are read: BIFF8 (since 1997) and BIFF5.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from app.contact_files.errors import UnreadableFile
from app.contact_files.formulas import unguard_cell
from app.contact_files.number_formats import BUILT_IN, Formatter, formatter, without_exponent

_BOF, _EOF, _CONTINUE = 0x0809, 0x000A, 0x003C

_STRINGS = 0x00FC
_BIFF8 = 0x0600
WORKSHEET, MACRO_SHEET = 0, 1


class SheetEntry(NamedTuple):
    """``offset`` is where its records begin; ``kind`` WORKSHEET, MACRO_SHEET or a chart."""

    name: str
    offset: int
    visible: bool
    kind: int

    @property
    def readable(self) -> bool:
        return self.kind == WORKSHEET


@dataclass(slots=True)
class WorkbookGlobals:
    """The properties of the workbook in the first substream; ``active`` is the sheet that was
    open last."""

    is_unicode: bool = True
    encoding: str = "cp1252"
    epoch_1904: bool = False
    active: int = 0
    sheets: list[SheetEntry] = field(default_factory=list)
    strings: list[str] = field(default_factory=list)
    formats: list[Formatter] = field(default_factory=list)

    def text(self, body: bytes, position: int, *, short: bool = False) -> str:
        """Return the text at a position of a record."""
        length = body[position] if short else struct.unpack_from("<H", body, position)[0]
        position += 1 if short else 2
        if not self.is_unicode:
            return body[position : position + length].decode(self.encoding, "replace")
        wide = body[position] & 1
        end = position + 1 + length * (1 + wide)
        return _decode(body[position + 1 : end], wide)


def records(stream: bytes, position: int) -> Iterator[tuple[int, bytes]]:
    """Yield the records of one part; parts inside it (charts) are skipped."""
    depth = 0
    while position + 4 <= len(stream):
        code, size = struct.unpack_from("<HH", stream, position)
        position += 4
        body = stream[position : position + size]
        position += size
        if code == _BOF:
            depth += 1
        if code == _EOF:
            depth -= 1
            if depth <= 0:
                return
        elif depth == 1:
            yield code, body


def read_workbook_globals(stream: bytes) -> WorkbookGlobals:  # noqa: C901 one case for each kind of record
    """Return the globals of the workbook. Raises UnreadableFile (``password_protected``,
    ``unreadable_workbook``)."""
    workbook = WorkbookGlobals()
    codes = dict(BUILT_IN)
    styles: list[int] = []
    texts: list[bytes] = []
    previous = 0
    for code, body in records(stream, 0):
        match code:
            case 0x0809:
                workbook.is_unicode = struct.unpack_from("<H", body)[0] >= _BIFF8
            case 0x002F:
                raise UnreadableFile("password_protected")
            case 0x0042:
                workbook.encoding = _code_page(body)
            case 0x0022:
                workbook.epoch_1904 = body[0] == 1
            case 0x003D:
                (workbook.active,) = struct.unpack_from("<H", body, 10)
            case 0x0085:
                offset, state, kind = struct.unpack_from("<IBB", body)
                name = workbook.text(body, 6, short=True)
                workbook.sheets.append(SheetEntry(name, offset, state & 3 == 0, kind))
            case 0x041E:
                (number,) = struct.unpack_from("<H", body)
                codes[number] = workbook.text(body, 2, short=not workbook.is_unicode)
            case 0x00E0:
                styles.append(struct.unpack_from("<H", body, 2)[0])
            case 0x00FC:
                texts = [body]
            case 0x003C if previous in {_STRINGS, _CONTINUE} and texts:
                texts.append(body)
        previous = code
    formatters = {
        number: formatter(codes[number], epoch_1904=workbook.epoch_1904)
        for number in set(styles)
        if number in codes
    }
    workbook.formats = [formatters.get(number, without_exponent) for number in styles]
    workbook.strings = list(map(unguard_cell, _SharedTexts(texts).all())) if texts else []
    return workbook


def _code_page(body: bytes) -> str:
    (page,) = struct.unpack_from("<H", body)
    name = "mac_roman" if page == 10000 else f"cp{page}"
    try:
        b"".decode(name)
    except LookupError:
        return "cp1252"
    return name


def _decode(data: bytes, wide: int) -> str:
    return data.decode("utf-16-le", "replace") if wide else data.decode("latin-1")


class _SharedTexts:
    """The shared texts. They continue across records, where the width of characters may change."""

    def __init__(self, parts: list[bytes]):
        self._parts = parts
        self._part = 0
        self._position = 8

    def all(self) -> Iterator[str]:
        (count,) = struct.unpack_from("<I", self._parts[0], 4)
        for _ in range(count):
            if not self._more():
                return
            yield self._text()

    def _text(self) -> str:
        length, options = struct.unpack("<HB", self._read_bytes(3))
        runs = struct.unpack("<H", self._read_bytes(2))[0] if options & 8 else 0
        further = struct.unpack("<I", self._read_bytes(4))[0] if options & 4 else 0
        wide = options & 1
        pieces = []
        while length:
            record = self._parts[self._part]
            room = (len(record) - self._position) // (1 + wide)
            count = min(room, length)
            end = self._position + count * (1 + wide)
            pieces.append(_decode(record[self._position : end], wide))
            self._position = end
            length -= count
            if length:
                self._position = len(record)
                if not self._more():
                    raise UnreadableFile("unreadable_workbook")
                wide = self._parts[self._part][0] & 1
                self._position = 1
        self._skip(runs * 4 + further)
        return "".join(pieces)

    def _more(self) -> bool:
        """Continue in the next record when this one is used up."""
        while self._position >= len(self._parts[self._part]):
            if self._part + 1 >= len(self._parts):
                return False
            self._part += 1
            self._position = 0
        return True

    def _read_bytes(self, count: int) -> bytes:
        if not self._more():
            raise UnreadableFile("unreadable_workbook")
        record = self._parts[self._part]
        data = record[self._position : self._position + count]
        self._position += count
        return data

    def _skip(self, count: int) -> None:
        while count and self._more():
            step = min(count, len(self._parts[self._part]) - self._position)
            self._position += step
            count -= step
