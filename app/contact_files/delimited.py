"""Read CSV and its relatives: any delimiter, any line end, and quotes that never swallow a row."""

import csv
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO

from app.contact_files.encodings import TextEncoding, detect, text_of
from app.contact_files.errors import UnreadableFile
from app.contact_files.formulas import unguard_cell
from app.contact_files.table import (
    FileLimits,
    FileRow,
    ReadOptions,
    RowProblem,
    RowSource,
)
from app.errors import Sentence

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_ROWS = 60
_SEP_LINE = re.compile(r"\ufeff?sep=(.)[\r\n]*", re.IGNORECASE)
_END_OF_FILE = "\x1a"
"""The end mark of MS-DOS texts."""
_IDENTIFIER = re.compile(r"[^@\s]@[^@\s]|(?:\d[\s().+-]*){7}")
_SURROGATE = re.compile(r"[\udc80-\udcff]")

BAD_QUOTE = RowProblem(
    "bad_quote",
    Sentence.gettext("A quotation mark is inside a quoted value: double it or remove it."),
)
UNCLOSED_QUOTE = RowProblem(
    "unclosed_quote",
    Sentence.gettext(
        "A quotation mark opens in this row and does not close. Close it or remove it."
    ),
)
UNDECODABLE = RowProblem(
    "undecodable_text",
    Sentence.gettext("Some characters are not in the file's encoding: type them again."),
)


class DelimitedText(RowSource):
    kind = "csv"
    wide_rows_are_broken = True

    def __init__(self, stream: BinaryIO, options: ReadOptions):
        super().__init__(stream, options)
        self._encoding: TextEncoding = detect(stream, options.encoding)
        self.encoding = self._encoding.name
        self.notes = ("encoding_guessed",) if self._encoding.guessed else ()
        self._separator_line = self._spaced = False
        lines = self._first_lines()
        self.delimiter = self._find_delimiter(lines)
        if options.delimiter:
            self.delimiter = options.delimiter
        self._spaced = _quotes_are_spaced(lines, self.delimiter or ",")
        self._width = self._usual_width()

    def records(self) -> Iterator[FileRow]:
        """Yield rows with their number; a broken quote breaks its own row and no other."""
        text = text_of(self._stream, self._encoding)
        try:
            yield from self._records(_CsvLines(text.readline, self._limits))
        finally:
            text.detach()

    def _records(self, lines: "_CsvLines") -> Iterator[FileRow]:
        number = 0
        if self._separator_line:
            next(lines)
            number = 1
            yield FileRow(number, [])
        reader = self._reader(lines)
        while True:
            number += 1
            record = lines.begin(number)
            problem = None
            try:
                cells = next(reader)
                broken = len(record) > 1 and self._swallowed(record, cells)
            except StopIteration:
                return
            except csv.Error:
                broken = True
            if broken:
                cells, problem = self._broken(lines, number)
                reader = self._reader(lines)
            yield self._row(number, record, cells, problem)

    def _row(
        self, number: int, record: list[str], cells: list[str], problem: RowProblem | None
    ) -> FileRow:
        limits = self._limits
        if len(cells) > limits.columns:
            raise UnreadableFile("too_many_columns", row=number, limit=limits.columns)
        text = record[0] if len(record) == 1 else "".join(record)
        if len(text) > limits.cell and max(map(len, cells)) > limits.cell:
            raise UnreadableFile("field_too_long", row=number, limit=limits.cell)
        if self._encoding.damaged and any(map(_SURROGATE.search, cells)):
            cells = [_SURROGATE.sub("\ufffd", cell) for cell in cells]
            problem = problem or UNDECODABLE
        if text == _END_OF_FILE:
            cells = [""]
        if "'" in text:
            cells = [unguard_cell(cell) for cell in cells]
        return FileRow(number, cells, problem)

    def _reader(self, lines: Iterator[str]) -> "csv._reader":  # type: ignore[name-defined]  # stub only
        delimiter, spaced = self.delimiter or ",", self._spaced
        return csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=spaced)

    def _literal(self, line: str) -> list[str]:
        return literal_cells(line, self.delimiter or ",", spaced=self._spaced)

    def _broken(self, lines: "_CsvLines", number: int) -> tuple[list[str], RowProblem]:
        """Keep the first line of a broken record as its row and give the others back."""
        record = lines.record
        cells = self._literal(record[0])
        if len(record) == 1:
            return cells, BAD_QUOTE if _has_paired_quotes(record[0], cells) else UNCLOSED_QUOTE
        if self._is_too_long(record):
            raise UnreadableFile("field_too_long", row=number, limit=self._limits.cell)
        lines.push_back()
        return cells, UNCLOSED_QUOTE

    def _swallowed(self, record: list[str], cells: list[str]) -> bool:
        """Return whether a quoted value of several lines is really an unclosed quote that swallowed
        rows.

        It is if its first line alone would be a full row, and a later line too: with the usual
        number of cells, and a phone number or an email address in them.
        """
        width = self._width
        if len(self._literal(record[0])) < width:
            return False
        if len(cells) != width and width > 1:
            return True
        return any(self._looks_like_row(line) for line in record[1:])

    def _is_too_long(self, record: list[str]) -> bool:
        """Return whether a quoted value is longer than any limit and swallowed nothing like
        a row."""
        if not self._width or sum(map(len, record)) <= self._limits.cell:
            return False
        return not any(self._is_as_wide(line) for line in record[1:])

    def _is_as_wide(self, line: str) -> bool:
        return len(self._literal(line)) == self._width > 1 or self._looks_like_row(line)

    def _looks_like_row(self, line: str) -> bool:
        cells = self._literal(line)
        return len(cells) == self._width and any(map(_IDENTIFIER.search, cells))

    def _first_lines(self) -> list[str]:
        text = text_of(self._stream, self._encoding)
        try:
            return list(islice(_CsvLines(text.readline, self._limits), _SAMPLE_ROWS))
        finally:
            text.detach()

    def _find_delimiter(self, lines: list[str]) -> str:
        """Return the candidate that splits most rows of the sample into the same number of
        cells."""
        if lines and (declared := _SEP_LINE.fullmatch(lines[0])):
            self._separator_line = True
            return declared[1]
        best, best_score = ",", (0.0, 0)
        for delimiter in DELIMITERS:
            counts = Counter(len(literal_cells(line, delimiter)) for line in lines if line.strip())
            total = counts.total()
            del counts[1]
            if counts:
                width, rows = max(counts.items(), key=lambda item: (item[1], item[0]))
                score = (round(rows / total, 1), width)
                if score > best_score:
                    best, best_score = delimiter, score
        return best

    def _usual_width(self) -> int:
        """Return how many cells most rows of the sample have."""
        self._width = 0
        widths = Counter(
            len(row.cells) for row in islice(self.records(), _SAMPLE_ROWS) if row.cells
        )
        return max(widths.items(), key=lambda item: (item[1], item[0]))[0] if widths else 1


class _CsvLines:
    """Lines for the csv reader, remembered for the current record."""

    def __init__(self, readline: Callable[[int], str], limits: FileLimits):
        self._readline = readline
        self._limits = limits
        self._longest = limits.cell * 16
        self._pending: deque[str] = deque()
        self.record: list[str] = []
        self.row_number = 0

    def begin(self, row_number: int) -> list[str]:
        self.record = []
        self.row_number = row_number
        return self.record

    def push_back(self) -> None:
        """Read all lines of the record but the first again, as separate rows."""
        self._pending.extendleft(reversed(self.record[1:]))
        del self.record[1:]

    def __iter__(self) -> "_CsvLines":
        return self

    def __next__(self) -> str:
        if self._pending:
            line = self._pending.popleft()
        else:
            line = self._readline(self._longest)
            if not line:
                raise StopIteration
            if len(line) >= self._longest:
                raise self._overlong(line)
        self.record.append(line)
        return line

    def _overlong(self, line: str) -> UnreadableFile:
        row = self.row_number or len(self.record) + 1
        if max(map(line.count, DELIMITERS)) >= self._limits.columns:
            return UnreadableFile("too_many_columns", row=row, limit=self._limits.columns)
        return UnreadableFile("field_too_long", row=row, limit=self._limits.cell)


def _quotes_are_spaced(lines: list[str], delimiter: str) -> bool:
    """Return whether a space precedes the quotes of values: ``"Lee", "Ann"``."""
    opening = rf'{re.escape(delimiter)} +"'
    whole = rf'{opening}(?:[^"]|"")*"(?=\s*$|{re.escape(delimiter)})'
    if any(f'{delimiter}"' in line for line in lines):
        return False
    spaced = [line for line in lines if f'{delimiter} "' in line]
    return bool(spaced) and all(
        len(re.findall(opening, line)) == len(re.findall(whole, line)) for line in spaced
    )


def _has_paired_quotes(line: str, cells: list[str]) -> bool:
    """Return whether the quotes of a broken line come in pairs, or one is inside a quoted value:
    ``"the 5" pipe"``."""
    inside = any(len(cell) > 2 and cell[0] == cell[-1] == '"' for cell in cells)
    return line.count('"') % 2 == 0 or inside


def literal_cells(line: str, delimiter: str, *, spaced: bool = False) -> list[str]:
    """Return the cells of one line by itself; a quote that is not closed is an ordinary
    character."""
    line = line.rstrip("\r\n")
    if '"' not in line:
        return line.split(delimiter)
    cells, position = [], 0
    lead = " *" if spaced else ""
    quoted = re.compile(rf'{lead}"((?:[^"]|"")*)"(?={re.escape(delimiter)}|$)')
    while True:
        match = quoted.match(line, position)
        if match:
            cells.append(match[1].replace('""', '"'))
            end = match.end()
        else:
            end = line.find(delimiter, position)
            end = len(line) if end < 0 else end
            cells.append(line[position:end])
        if end >= len(line):
            return cells
        position = end + 1
