"""The person's own file again, in its own kind: CSV as it was written, workbooks as XLSX."""

import csv
import io
from collections.abc import Iterable
from typing import Protocol

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ContactImport, ImportCorrection, ImportProblem
from app.services.imports.failures import MarkedRow
from app.services.imports.reading import guard_cell
from app.services.imports.workbook_writing import WorkbookWriter

UTF_8 = "utf-8-sig"
"""Spreadsheets take a CSV file for UTF-8 only with a mark in front."""
_STREAMED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", UTF_8: "utf-8"}
"""Names that would put their mark in front of every piece."""
_TYPOGRAPHY = str.maketrans({"“": '"', "”": '"', "’": "'", "–": "-", "…": "..."})


class Writer(Protocol):
    """Bytes of a file, piece by piece."""

    def begin(self, header: MarkedRow) -> bytes: ...

    def rows(self, rows: Iterable[MarkedRow]) -> bytes: ...

    def end(self) -> bytes: ...


def ending_of(upload: ContactImport) -> str:
    """xlsx or csv: what the file comes back as."""
    return "xlsx" if upload.file_kind in ("xlsx", "xls") else "csv"


def writer_of(session: Session, upload: ContactImport) -> Writer:
    """What writes rows in the kind, the encoding and with the separator of the upload's file."""
    if ending_of(upload) == "xlsx":
        return WorkbookWriter(upload.found.get("sheet") or "")
    encoding = upload.found.get("encoding") or UTF_8
    if encoding == "utf-8" or not _holds_all(session, upload, encoding):
        encoding = UTF_8
    return DelimitedWriter(upload.found.get("delimiter") or ",", encoding)


class DelimitedWriter:
    """CSV that a spreadsheet opens as it is meant, and that runs nothing there."""

    def __init__(self, delimiter: str, encoding: str):
        self._delimiter = delimiter
        self._encoding = _STREAMED.get(encoding, encoding)
        self._is_unicode = self._encoding.startswith("utf")

    def begin(self, header: MarkedRow) -> bytes:
        mark = "\ufeff".encode(self._encoding) if self._is_unicode else b""
        return mark + self.rows([header])

    def rows(self, rows: Iterable[MarkedRow]) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self._delimiter).writerows(
            [guard_cell(self._fitting(cell)) for cell in row.cells] for row in rows
        )
        return text.getvalue().encode(self._encoding, errors="replace")

    def end(self) -> bytes:
        return b""

    def _fitting(self, cell: str) -> str:
        """Only our own sentences can hold what the file's encoding lacks."""
        if self._is_unicode or cell.isascii():
            return cell
        try:
            cell.encode(self._encoding)
        except UnicodeEncodeError:
            return cell.translate(_TYPOGRAPHY)
        return cell


def _holds_all(session: Session, upload: ContactImport, encoding: str) -> bool:
    """Whether the file's encoding has every character of its rows: some may have been typed, and
    some may not have been readable."""
    unreadable = select(ImportProblem.row_number).where(
        ImportProblem.import_id == upload.id, ImportProblem.code == "undecodable_text"
    )
    if session.scalar(unreadable.limit(1)) is not None:
        return False
    typed = session.scalars(
        select(ImportCorrection.cells).where(ImportCorrection.import_id == upload.id)
    )
    try:
        for cells in typed:
            "".join(cells.values()).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
