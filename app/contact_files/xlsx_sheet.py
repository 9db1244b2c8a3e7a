"""Parse the XML of a workbook as it streams: one worksheet's rows, and the texts that cells
share."""

from collections.abc import Callable

from app.contact_files.errors import UnreadableFile
from app.contact_files.formulas import UNCALCULATED, unguard_cell
from app.contact_files.number_formats import Formatter, without_exponent
from app.contact_files.table import FileLimits
from app.contact_files.xlsx_package import local_name, parser, unescaped

_LAST_ROW = 1_048_576
_DIGITS = "0123456789"
_TRUE = frozenset({"1", "true"})
SheetRow = tuple[int, list[str], bool]
"""Number, cells, and whether the spreadsheet hides the row."""


class SharedStrings:
    """Feed ``parser`` with the part; ``found`` has its texts in order, without phonetic
    readings."""

    def __init__(self, limits: FileLimits):
        self.found: list[str] = []
        self._longest = limits.cell
        self._text: list[str] = []
        self._size = 0
        self._keep = self._phonetic = False
        self.parser = parser()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def _start(self, tag: str, _: dict[str, str]) -> None:
        name = local_name(tag)
        if name == "rPh":
            self._phonetic = True
        self._keep = name == "t" and not self._phonetic

    def _end(self, tag: str) -> None:
        name = local_name(tag)
        self._keep = False
        if name == "rPh":
            self._phonetic = False
        elif name == "si":
            self.found.append(unguard_cell(unescaped("".join(self._text))))
            self._text, self._size = [], 0

    def _characters(self, data: str) -> None:
        if self._keep:
            self._text.append(data)
            self._size += len(data)
            if self._size > self._longest:
                raise UnreadableFile("field_too_long", limit=self._longest)


class SheetReader:
    """Feed ``parser`` with the sheet's bytes and ``pop_rows`` the complete ones.

    ``hidden_columns`` has the indexes of hidden columns, known before the first row.
    """

    def __init__(self, strings: list[str], formats: list[Formatter], limits: FileLimits):
        self._strings = strings
        self._formats = formats
        self._limits = limits
        self.hidden_columns: set[int] = set()
        self._rows: list[SheetRow] = []
        self._hidden = False
        self._row_number = 0
        self._cells: list[str] = []
        self._column = -1
        self._kind = ""
        self._style = ""
        self._text: list[str] = []
        self._keep = False
        self._phonetic = False
        self._formula = self._has_value = False
        self._written = ""
        self._size = 0
        self._columns: dict[str, int] = {}
        # Element names come with their namespace; each is looked up once and remembered.
        self._starts: dict[str, Callable[[dict[str, str]], None] | None] = {}
        self._ends: dict[str, Callable[[], None] | None] = {}
        self.parser = parser()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def pop_rows(self) -> list[SheetRow]:
        """Return the rows completed since the last call."""
        rows, self._rows = self._rows, []
        return rows

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        try:
            handler = self._starts[tag]
        except KeyError:
            handler = self._starts[tag] = {
                "col": self._start_column,
                "row": self._start_row,
                "c": self._start_cell,
                "f": self._start_formula,
                "v": self._start_value,
                "t": self._start_text,
                "rPh": self._start_phonetic,
            }.get(local_name(tag))
        if handler:
            handler(attributes)

    def _end(self, tag: str) -> None:
        try:
            handler = self._ends[tag]
        except KeyError:
            handler = self._ends[tag] = {
                "row": self._end_row,
                "c": self._end_cell,
                "f": self._end_formula,
                "v": self._end_value,
                "t": self._end_text,
                "rPh": self._end_phonetic,
            }.get(local_name(tag))
        if handler:
            handler()

    def _characters(self, data: str) -> None:
        if self._keep:
            self._text.append(data)
            self._size += len(data)
            if self._size > self._limits.cell:
                limit = self._limits.cell
                raise UnreadableFile("field_too_long", row=self._row_number, limit=limit)

    def _start_column(self, attributes: dict[str, str]) -> None:
        first, last = attributes.get("min", ""), attributes.get("max", "")
        if attributes.get("hidden") in _TRUE and first.isdigit() and last.isdigit():
            end = min(int(last), self._limits.columns)
            self.hidden_columns.update(range(int(first) - 1, end))

    def _start_row(self, attributes: dict[str, str]) -> None:
        number = attributes.get("r", "")
        following = int(number) if number.isdigit() else self._row_number + 1
        if not self._row_number < following <= _LAST_ROW:
            raise UnreadableFile("unreadable_workbook")
        self._row_number = following
        self._hidden = attributes.get("hidden") in _TRUE
        self._cells = []
        self._column = -1

    def _end_row(self) -> None:
        self._rows.append((self._row_number, self._cells, self._hidden))

    def _start_cell(self, attributes: dict[str, str]) -> None:
        reference = attributes.get("r")
        if reference is None:
            self._column += 1
        else:
            letters = reference.rstrip(_DIGITS)
            column = self._columns.get(letters)
            if column is None:
                column = self._columns[letters] = _column_index(letters)
            self._column = column
        self._kind = attributes.get("t", "n")
        self._style = attributes.get("s", "")
        self._text = []
        self._size = 0
        self._formula = self._has_value = False
        self._written = ""

    def _start_formula(self, _: dict[str, str]) -> None:
        self._formula = self._keep = True

    def _end_formula(self) -> None:
        self._keep = False
        self._written = "".join(self._text)
        self._text, self._size = [], 0

    def _start_value(self, _: dict[str, str]) -> None:
        self._keep = True

    def _end_value(self) -> None:
        """Note whether a value was saved: programs that don't calculate write an empty one, and
        only an empty text is a result."""
        self._keep = False
        self._has_value = bool(self._text) or self._kind == "str"

    def _start_text(self, _: dict[str, str]) -> None:
        self._keep = not self._phonetic

    def _end_text(self) -> None:
        self._keep = False

    def _start_phonetic(self, _: dict[str, str]) -> None:
        self._phonetic = True

    def _end_phonetic(self) -> None:
        self._phonetic = False

    def _end_cell(self) -> None:
        if self._formula and not self._has_value:
            # Of a formula that cells share, only one cell has the text.
            value = f"{UNCALCULATED}{self._written or '…'}"
        elif self._text:
            value = self._format_value("".join(self._text))
        else:
            return
        column, cells = self._column, self._cells
        if column >= self._limits.columns:
            raise UnreadableFile(
                "too_many_columns", row=self._row_number, limit=self._limits.columns
            )
        if len(value) > self._limits.cell:
            raise UnreadableFile("field_too_long", row=self._row_number, limit=self._limits.cell)
        gap = column - len(cells)
        if gap < 0:
            raise UnreadableFile("unreadable_workbook")
        if gap:
            cells.extend([""] * gap)
        cells.append(value)

    def _format_value(self, value: str) -> str:
        kind = self._kind
        if kind == "s":
            index = int(value) if value.isdigit() else -1
            if not 0 <= index < len(self._strings):
                raise UnreadableFile("unreadable_workbook")
            return self._strings[index]
        if kind == "n":
            index = int(self._style) if self._style.isdigit() else 0
            show = self._formats[index] if index < len(self._formats) else without_exponent
            return show(value)
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind == "d":
            return value.replace("T", " ").removesuffix(" 00:00:00")
        return unguard_cell(unescaped(value))


def _column_index(letters: str) -> int:
    """Return the index of a column: ``A`` is 0. Other texts and columns beyond any spreadsheet's
    are damage."""
    if not (letters.isascii() and letters.isalpha() and len(letters) <= 3):
        raise UnreadableFile("unreadable_workbook")
    index = 0
    for letter in letters.upper():
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1
