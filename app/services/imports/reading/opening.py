"""What kind of file it is, decided by its content."""

from itertools import islice
from pathlib import Path
from typing import BinaryIO

from app.services.imports.reading.delimited import DelimitedText
from app.services.imports.reading.errors import UnreadableFile
from app.services.imports.reading.header import SAMPLE_ROWS, find_header
from app.services.imports.reading.table import ReadOptions, Source, Table
from app.services.imports.reading.workbook import Workbook

_HEAD = 1024
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PROTECTED = "EncryptedPackage".encode("utf-16-le")
# What people pick by mistake. Binary kinds also hold NULs, which a contact list never does.
_BINARIES = (
    (b"MZ", "a program"),
    (b"\x7fELF", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\x89PNG\r\n", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "a compressed file"),
    (b"7z\xbc\xaf", "a compressed file"),
    (b"Rar!", "a compressed file"),
    (b"SQLite format 3", "a database"),
)
_TEXTS = (
    (b"%pdf-", "a PDF"),
    (b"{\\rtf", "a text document"),
    (b"begin:vcard", "a vCard"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML file"),
)


def open_table(
    file: BinaryIO | Path, *, name: str = "", options: ReadOptions | None = None
) -> Table:
    """Opens a contact file for reading, whatever it is called. Raises UnreadableFile.

    ``file`` is a path, or a seekable binary stream, which then belongs to the Table. ``name`` is
    what the person calls the file: kept in the Table, it decides nothing.
    """
    options = options or ReadOptions()
    stream: BinaryIO = file.open("rb") if isinstance(file, Path) else file
    try:
        source = _source(stream, options)
        sample = list(islice(source.records(), SAMPLE_ROWS))
        header = find_header(sample, options.header_row, ragged=not source.wide_rows_are_broken)
    except BaseException:
        stream.close()
        raise
    return Table(name, source, header, options.limits)


def _source(stream: BinaryIO, options: ReadOptions) -> Source:
    stream.seek(0)
    head = stream.read(_HEAD)
    if head.startswith(_ZIP):
        return Workbook(stream, options)
    _refuse_others(stream, head)
    return DelimitedText(stream, options)


def _refuse_others(stream: BinaryIO, head: bytes) -> None:
    if head.startswith(_OLE):
        if _is_protected(stream):
            raise UnreadableFile("password_protected")
        raise UnreadableFile("unsupported_type", what="a workbook or document of the old kind")
    binaries = _BINARIES if b"\0" in head else ()
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for what in (what for signature, what in binaries if head.startswith(signature)):
        raise UnreadableFile("unsupported_type", what=what)
    for what in (what for signature, what in _TEXTS if text.startswith(signature)):
        raise UnreadableFile("unsupported_type", what=what)


def _is_protected(stream: BinaryIO) -> bool:
    """An encrypted XLSX is an old-style container with one part of this name."""
    stream.seek(0)
    overlap = b""
    for _ in range(512):
        chunk = stream.read(64 * 1024)
        if not chunk:
            return False
        if _PROTECTED in overlap + chunk:
            return True
        overlap = chunk[-len(_PROTECTED) :]
    return False
