"""Read the container of old workbooks, a small file system ([MS-CFB]), without trusting it."""

import struct
from typing import NamedTuple

from app.contact_files.errors import UnreadableFile

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENTRY = 128
_STREAM = 2
_ROOT = 5
_FREE = 0xFFFFFFFA
"""Sector numbers from here on have special meanings."""


class _DirectoryEntry(NamedTuple):
    name: str
    kind: int
    start: int
    size: int


class OleContainer:
    """The streams of a file that is completely in memory. Raises UnreadableFile for damage."""

    def __init__(self, data: bytes):
        self._data = data
        try:
            shift, small_shift = struct.unpack_from("<HH", data, 30)
            (directory,) = struct.unpack_from("<I", data, 48)
            self._cutoff, small_table = struct.unpack_from("<II", data, 56)
            extra, extra_count = struct.unpack_from("<II", data, 68)
            if shift not in (9, 12) or small_shift != 6:
                raise UnreadableFile("unreadable_workbook")
            self._size, self._small_size = 1 << shift, 1 << small_shift
            self._table = self._allocation(extra, extra_count)
            self._small_table = self._numbers(self._chain(small_table, self._table))
            self._entries = self._directory(self._chain(directory, self._table))
            root = next((e for e in self._entries if e.kind == _ROOT), None)
            self._small = self._chain(root.start, self._table) if root else b""
        except struct.error:
            raise UnreadableFile("unreadable_workbook") from None
        self.names = {entry.name for entry in self._entries}

    def stream(self, name: str) -> bytes:
        """Return the bytes of a stream. Raises KeyError for an unknown name."""
        for entry in self._entries:
            if entry.name == name and entry.kind == _STREAM:
                if entry.size < self._cutoff:
                    data = self._chain(entry.start, self._small_table, small=True)
                else:
                    data = self._chain(entry.start, self._table)
                return data[: entry.size]
        raise KeyError(name)

    def _allocation(self, extra: int, extra_count: int) -> tuple[int, ...]:
        """Return the table of the sector that follows each sector."""
        sectors = [n for n in struct.unpack_from("<109I", self._data, 76) if n < _FREE]
        per_sector = self._size // 4 - 1
        for _ in range(min(extra_count, len(self._data) // self._size)):
            if extra >= _FREE:
                break
            numbers = self._numbers(self._sector(extra))
            sectors += [n for n in numbers[:per_sector] if n < _FREE]
            extra = numbers[per_sector] if len(numbers) > per_sector else _FREE
        if len(sectors) > len(self._data) // self._size + 1:
            raise UnreadableFile("unreadable_workbook")
        return self._numbers(b"".join(map(self._sector, sectors)))

    def _sector(self, number: int) -> bytes:
        start = (number + 1) * self._size
        return self._data[start : start + self._size]

    def _numbers(self, data: bytes) -> tuple[int, ...]:
        return struct.unpack_from(f"<{len(data) // 4}I", data)

    def _chain(self, number: int, table: tuple[int, ...], *, small: bool = False) -> bytes:
        chunks = []
        sector_count = 0
        while number < _FREE:
            if number >= len(table) or sector_count > len(table):
                raise UnreadableFile("unreadable_workbook")
            if small:
                start = number * self._small_size
                chunks.append(self._small[start : start + self._small_size])
            else:
                chunks.append(self._sector(number))
            number = table[number]
            sector_count += 1
        return b"".join(chunks)

    def _directory(self, data: bytes) -> list[_DirectoryEntry]:
        entries = []
        for offset in range(0, len(data) - _ENTRY + 1, _ENTRY):
            (length,) = struct.unpack_from("<H", data, offset + 64)
            name = data[offset : offset + max(0, min(length, 64) - 2)].decode(
                "utf-16-le", "replace"
            )
            start, size = struct.unpack_from("<II", data, offset + 116)
            if data[offset + 66]:
                entries.append(_DirectoryEntry(name, data[offset + 66], start, size))
        return entries
