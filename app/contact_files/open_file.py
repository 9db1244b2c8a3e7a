"""Open a contact file: its content decides what kind it is."""

from itertools import dropwhile, filterfalse, islice
from pathlib import Path
from typing import BinaryIO

from app.contact_files.delimited import DelimitedText
from app.contact_files.errors import UnreadableFile, reading_one_of
from app.contact_files.header import SAMPLE_ROWS, find_header
from app.contact_files.ole import MAGIC
from app.contact_files.table import ContactTable, FileRow, ReadOptions, RowSource
from app.contact_files.vcard import VCards
from app.contact_files.xls import OldWorkbook
from app.contact_files.xlsx import Workbook

_HEAD = 1024
_ZIP = b"PK\x03\x04"
_KINDS = dict.fromkeys(("csv", "tsv", "tab"), "csv")
_KINDS |= {"xls": "xls", "xlsx": "xlsx", "xlsm": "xlsx", "vcf": "vcard", "vcard": "vcard"}
"""The kind that a file's extension suggests."""
# Files that users choose by mistake. Binary kinds also have NULs, which a contact list never has.
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
    (b"RIFF", "a sound or a film"),
    (b"ID3", "a sound"),
    (b"II*\0", "a picture"),
    (b"MM\0*", "a picture"),
)
_TEXTS = (
    (b"%pdf-", "a PDF"),
    (b"{\\rtf", "a text document"),
    (b"#!", "a program"),
    (b'{"', "a JSON file"),
    (b"[{", "a JSON file"),
    (b"dn: ", "an address book in LDIF"),
    (b"version: 1", "an address book in LDIF"),
    (b"begin:vcalendar", "a calendar"),
    (b"mime-version:", "a web archive or a mail"),
    (b"id;p", "a SYLK file"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML file"),
    (b"<head", "a web page"),
    (b"<meta", "a web page"),
    (b"<table", "a web page"),
    (b"<svg", "a picture"),
)
_ROWS_ABOVE = 1000
"""Rows above the header: how far down the user may choose it, and how many blank rows may precede
it."""
_MARKUP = frozenset({"a web page", "an XML file"})
"""Programs give such files the names of workbooks, because spreadsheets open them anyway."""


def open_table(
    file: BinaryIO | Path, *, name: str = "", options: ReadOptions | None = None
) -> ContactTable:
    """Open a contact file for reading, whatever its name is. Raises UnreadableFile.

    ``file`` is a path, or a seekable binary stream, which the Table then owns. ``name`` is the
    user's name of the file: it decides nothing, but a name of another kind is noted
    (``content_mismatch``).
    """
    options = options or ReadOptions()
    stream: BinaryIO = file.open("rb") if isinstance(file, Path) else file
    try:
        source = _open_source(stream, name, options)
        header = source.header
        if header is None:
            ragged = not source.wide_rows_are_broken
            with reading_one_of(source.sheets):
                sample = _first_rows(source, options.header_row)
                header = find_header(sample, options.header_row, ragged=ragged)
    except BaseException:
        stream.close()
        raise
    if _kind_of_extension(name) not in (None, source.kind):
        header = header._replace(notes=("content_mismatch", *header.notes))
    return ContactTable(name, source, header, options.limits)


def _first_rows(source: RowSource, header_row: int | None) -> list[FileRow]:
    """Return the rows among which the header is searched: from the first row that is not blank."""
    rows = dropwhile(_is_blank, source.records())
    limit = SAMPLE_ROWS + min(header_row or 0, _ROWS_ABOVE)
    sample = list(islice(filterfalse(_is_blank, islice(rows, limit + _ROWS_ABOVE)), limit))
    if not sample and len(source.sheets) > 1:
        sheets = ", ".join(source.sheets)
        raise UnreadableFile("choose_sheet", sheet=source.sheet, sheets=sheets)
    return sample


def _is_blank(row: FileRow) -> bool:
    return not "".join(row.cells).strip()


def _kind_of_extension(name: str) -> str | None:
    _, dot, ending = name.rpartition(".")
    return _KINDS.get(ending.lower()) if dot else None


def _open_source(stream: BinaryIO, name: str, options: ReadOptions) -> RowSource:
    stream.seek(0)
    head = stream.read(_HEAD)
    if head.startswith(_ZIP):
        return Workbook(stream, options)
    if head.startswith(MAGIC):
        return OldWorkbook(stream, options)
    if _first_characters(head).startswith(b"begin:vcard"):
        return VCards(stream, options)
    _refuse_other_types(head, name)
    return DelimitedText(stream, options)


def _first_characters(head: bytes) -> bytes:
    """Return the first characters in lower case, also of UTF-16."""
    return head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()


def _refuse_other_types(head: bytes, name: str) -> None:
    binaries = _BINARIES if b"\0" in head else ()
    for kind in (kind for signature, kind in binaries if head.startswith(signature)):
        raise UnreadableFile("unsupported_type", what=kind)
    text = _first_characters(head)
    if text[:1] in (b"{", b"["):
        text = b"".join(text.split())
    for kind in (kind for signature, kind in _TEXTS if text.startswith(signature)):
        if kind in _MARKUP and _kind_of_extension(name):
            raise UnreadableFile("content_mismatch", name=name[:100], what=kind)
        raise UnreadableFile("unsupported_type", what=kind)
