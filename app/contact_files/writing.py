"""Write rows as files that spreadsheets open unchanged: XLSX or delimited text.

Every cell is text, so that no zero and no plus gets lost, and nothing runs as a formula. Both
writers stream; in a workbook, marked cells have a color.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import IO, NamedTuple, Protocol
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from app.contact_files.column_names import column_letters
from app.contact_files.formulas import guard_cell

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_LOOKS_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_FORMULA = re.compile(r"[=+\-@\t\r\n]")
_BAD_IN_NAME = re.compile(r"[\[\]:*?/\\]")
_NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_DOCUMENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MARKED, _QUOTED, _HEADER = 1, 2, 4
"""Styles: 0 text, 1 marked, 2 quoted, 3 both, 4 names of columns."""
_PARTS = {
    "[Content_Types].xml": (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_DOCUMENT}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_DOCUMENT}.styles+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{_DOCUMENT}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId2" Type="{_RELATIONS}/styles" Target="styles.xml"/>'
        "</Relationships>"
    ),
    "xl/styles.xml": (
        f'<styleSheet xmlns="{_NAMESPACE}">'
        '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
        '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="3"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill>'
        '<fill><patternFill patternType="solid"><fgColor rgb="FFFFD6D1"/></patternFill></fill>'
        '</fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border>'
        '</borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
        '</cellStyleXfs><cellXfs count="5">'
        '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        '<xf numFmtId="49" fontId="0" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" '
        'applyFill="1"/>'
        '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" '
        'quotePrefix="1"/>'
        '<xf numFmtId="49" fontId="0" fillId="2" borderId="0" xfId="0" applyNumberFormat="1" '
        'applyFill="1" quotePrefix="1"/>'
        '<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" '
        'applyFont="1"/></cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        "</styleSheet>"
    ),
}
UTF_8 = "utf-8-sig"
"""UTF-8 with a byte order mark: without it spreadsheets don't recognize UTF-8 in a CSV file."""
_STREAMED = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", UTF_8: "utf-8"}
"""Encodings that would write a byte order mark before every chunk."""
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("“”„«»", '"'),
        "’": "'",
        "–": "-",
        "…": "...",
        "ß": "ss",
        "œ": "oe",
        "Œ": "OE",
    }
)


class MarkedRow(NamedTuple):
    """The cells of a row, and the indexes of those with a problem."""

    cells: list[str]
    marked: frozenset[int] = frozenset()


class WorkbookWriter:
    """Write one sheet as a stream: send the bytes of `begin`, `rows` and `end` in this order."""

    def __init__(self, sheet: str):
        self._sheet = _BAD_IN_NAME.sub(" ", _escape_cell(sheet)).strip(" '")[:31] or "Contacts"
        self._pipe = _Pipe()
        self._archive = ZipFile(self._pipe, "w", ZIP_DEFLATED)
        self._open: IO[bytes] | None = None
        self._row = 0

    def begin(self, header: MarkedRow) -> bytes:
        for name, text in _PARTS.items():
            self._archive.writestr(name, _DECLARATION + text)
        name = escape(self._sheet, {'"': "&quot;"})
        self._archive.writestr(
            "xl/workbook.xml",
            f'{_DECLARATION}<workbook xmlns="{_NAMESPACE}" xmlns:r="{_RELATIONS}"><sheets>'
            f'<sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>',
        )
        self._open = self._archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True)
        self._write(
            f'{_DECLARATION}<worksheet xmlns="{_NAMESPACE}"><sheetViews><sheetView '
            'workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" '
            'state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultColWidth="18" '
            'defaultRowHeight="15"/><sheetData>'
        )
        self._write(self._line(header.cells, [_HEADER] * len(header.cells)))
        return self._pipe.pop()

    def rows(self, rows: Iterable[MarkedRow]) -> bytes:
        for cells, marked in rows:
            styles = [
                (_MARKED if index in marked else 0) | (_QUOTED if _FORMULA.match(cell) else 0)
                for index, cell in enumerate(cells)
            ]
            self._write(self._line(cells, styles))
        return self._pipe.pop()

    def end(self) -> bytes:
        self._write("</sheetData></worksheet>")
        if self._open is not None:
            self._open.close()
        self._archive.close()
        return self._pipe.pop()

    def _line(self, cells: Sequence[str], styles: Sequence[int]) -> str:
        self._row += 1
        line = [
            f'<c r="{column_letters(index)}{self._row}" s="{style}" t="inlineStr"><is>'
            f'<t xml:space="preserve">{escape(_escape_cell(cell))}</t></is></c>'
            for index, (cell, style) in enumerate(zip(cells, styles, strict=True))
            if cell or style
        ]
        return f'<row r="{self._row}">{"".join(line)}</row>'

    def _write(self, text: str) -> None:
        if self._open is not None:
            self._open.write(text.encode())


def _escape_cell(text: str) -> str:
    """Escape what XML or a workbook would change. Characters that XML can't hold become the
    replacement character, which no check accepts."""
    escaped = _LOOKS_ESCAPED.sub("_x005F_", text) if "_x" in text else text
    return _ILLEGAL.sub("\ufffd", escaped.replace("\r", "_x000D_"))


class _Pipe(io.RawIOBase):
    """A buffer: what is written stays until it is popped."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: bytes) -> int:  # type: ignore[override]  # any buffer there, bytes here
        self._held += data
        return len(data)

    def pop(self) -> bytes:
        data = bytes(self._held)
        self._held.clear()
        return data


class RowWriter(Protocol):
    """Write a file piece by piece."""

    def begin(self, header: MarkedRow) -> bytes: ...

    def rows(self, rows: Iterable[MarkedRow]) -> bytes: ...

    def end(self) -> bytes: ...


class DelimitedWriter:
    """Write delimited text that spreadsheets open unchanged, without running formulas."""

    def __init__(self, delimiter: str, encoding: str):
        self._delimiter = delimiter
        self._encoding = _STREAMED.get(encoding, encoding)
        self._is_unicode = self._encoding.startswith("utf")

    def begin(self, header: MarkedRow) -> bytes:
        bom = "\ufeff".encode(self._encoding) if self._is_unicode else b""
        return bom + self.rows([header])

    def rows(self, rows: Iterable[MarkedRow]) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self._delimiter).writerows(
            [guard_cell(self._fitting(cell)) for cell in row.cells] for row in rows
        )
        return text.getvalue().encode(self._encoding, errors="replace")

    def end(self) -> bytes:
        return b""

    def _fitting(self, cell: str) -> str:
        """Return the cell in the file's encoding; only the added problem texts may lack characters
        in it."""
        if self._is_unicode or cell.isascii():
            return cell
        try:
            cell.encode(self._encoding)
        except UnicodeEncodeError:
            return "".join(map(self._without_accent, cell.translate(_TYPOGRAPHY)))
        return cell

    def _without_accent(self, character: str) -> str:
        """Return the character, without its accent if the encoding lacks it."""
        try:
            character.encode(self._encoding)
        except UnicodeEncodeError:
            decomposed = unicodedata.normalize("NFKD", character)
            return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
        return character
