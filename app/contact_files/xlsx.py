"""Read XLSX: the visible sheet, streamed, with values as the spreadsheet shows them."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from app.contact_files.errors import UnreadableFile
from app.contact_files.number_formats import BUILT_IN, Formatter, formatter, without_exponent
from app.contact_files.table import FileRow, ReadOptions, RowSource, choose_sheet
from app.contact_files.xlsx_package import XlsxPackage
from app.contact_files.xlsx_sheet import SharedStrings, SheetReader

_ADD_IN = "addin.macroEnabled.main+xml"


class _WorkbookSheet(NamedTuple):
    name: str
    part: str
    visible: bool

    @property
    def readable(self) -> bool:
        return bool(self.part)


class Workbook(RowSource):
    kind = "xlsx"

    def __init__(self, stream: BinaryIO, options: ReadOptions):
        super().__init__(stream, options)
        self._package = XlsxPackage(stream, options.limits)
        main = next(
            (part for kind, part in self._package.related("").values() if kind == "officeDocument"),
            "xl/workbook.xml",
        )
        _refuse_other_types(self._package, main)
        self._parts = self._package.related(main)
        self._epoch_1904 = False
        sheets, active = self._read_sheets(main)
        self.sheets = tuple(sheet.name for sheet in sheets)
        selected = choose_sheet(sheets, active, options.sheet)
        self.sheet = selected.name
        self._part = selected.part
        notes = []
        if sum(sheet.visible for sheet in sheets) > 1:
            notes.append("other_sheets")
        if not selected.visible:
            notes.append("hidden_sheet")
        if any(name.endswith("vbaproject.bin") for name in self._package.names):
            notes.append("macros_ignored")
        self.notes = tuple(notes)
        self._formats = self._read_formats()
        self._strings: list[str] | None = None

    def records(self) -> Iterator[FileRow]:
        """Yield rows by the numbers that the sheet gives them; rows that are left out are blank."""
        if self._strings is None:
            self._strings = self._read_strings()
        reader = SheetReader(self._strings, self._formats, self._limits)
        expected = 1
        for _ in self._package.parse(self._part, reader.parser):
            self.hidden_columns = reader.hidden_columns
            for number, cells, self.row_is_hidden in reader.pop_rows():
                for blank in range(expected, number):
                    yield FileRow(blank, [])
                yield FileRow(number, cells)
                expected = number + 1

    def _read_sheets(self, main: str) -> tuple[list[_WorkbookSheet], int]:
        sheets: list[_WorkbookSheet] = []
        active = 0
        for element in self._package.elements(main):
            attributes = element.attributes
            if element.name == "workbookPr":
                self._epoch_1904 = attributes.get("date1904") in {"1", "true"}
            elif element.name == "workbookView":
                tab = attributes.get("activeTab", "0")
                active = int(tab[:9]) if tab.isdecimal() else 0
            elif element.name == "sheet":
                kind, part = self._parts.get(attributes.get("id", ""), ("", ""))
                visible = attributes.get("state", "visible") == "visible"
                # Chart sheets keep their place, so that the active tab counts right.
                readable = part if kind == "worksheet" and part in self._package.names else ""
                sheets.append(_WorkbookSheet(attributes.get("name", ""), readable, visible))
        return sheets, active

    def _part_of(self, kind: str) -> str | None:
        parts = (part for part_kind, part in self._parts.values() if part_kind == kind)
        return next((part for part in parts if part in self._package.names), None)

    def _read_formats(self) -> list[Formatter]:
        """Return the formatter of each cell style, by its index."""
        part = self._part_of("styles")
        codes = dict(BUILT_IN)
        styles: list[int] = []
        for element in self._package.elements(part) if part else ():
            attributes = element.attributes
            if element.name == "numFmt" and element.parent == "numFmts":
                codes[_format_id(attributes)] = attributes.get("formatCode", "")
            elif element.name == "xf" and element.parent == "cellXfs":
                styles.append(_format_id(attributes))
        formatters: dict[int, Formatter] = {
            number: formatter(codes[number], epoch_1904=self._epoch_1904)
            for number in set(styles)
            if number in codes
        }
        return [formatters.get(number, without_exponent) for number in styles]

    def _read_strings(self) -> list[str]:
        part = self._part_of("sharedStrings")
        if part is None:
            return []
        strings = SharedStrings(self._limits)
        for _ in self._package.parse(part, strings.parser):
            pass
        return strings.found


def _refuse_other_types(package: XlsxPackage, main: str) -> None:
    """Refuse an archive that isn't an XLSX by what it is."""
    names = package.names
    if main in names and main.endswith(".bin"):
        description = "a binary workbook (XLSB)"
    elif main in names and main.startswith("word/"):
        description = "a text document"
    elif main in names and main.startswith("ppt/"):
        description = "a presentation"
    elif main in names:
        addin = any(kind.endswith(_ADD_IN) for kind in package.content_types(main))
        if addin or any(name.startswith("xl/macrosheets/") for name in names):
            raise UnreadableFile("macro_file")
        return
    elif any(name.startswith("index/") and name.endswith(".iwa") for name in names):
        description = "a Numbers document"
    elif "content.xml" in names and "meta-inf/manifest.xml" in names:
        description = "an OpenDocument file"
    else:
        description = "an archive or another kind of document"
    raise UnreadableFile("unsupported_type", what=description)


def _format_id(attributes: dict[str, str]) -> int:
    number = attributes.get("numFmtId", "")
    return int(number) if number.isdecimal() else 0
