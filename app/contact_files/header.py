"""Find the row of the column names, and name the columns."""

import re
from collections import Counter

from app.contact_files.cleaning import without_invisible
from app.contact_files.column_names import field_of, made_name
from app.contact_files.errors import UnreadableFile
from app.contact_files.table import FileHeader, FileRow

SAMPLE_ROWS = 50
_SEARCHED_ROWS = 25
_IDENTIFIER = re.compile(r"[^@\s]@[^@\s]+\.|(?:\d[\s().+/-]*){7}")
_NUMBER = re.compile(r"[\s\d.,:/+()-]*\d[\s\d.,:/+()-]*")


def find_header(sample: list[FileRow], header_row: int | None, *, ragged: bool) -> FileHeader:
    """Find the header among the first rows, or take the row that the user chose (0: none).

    ``ragged``: rows may be wider than the header without an error.
    """
    filled = [row for row in sample if "".join(row.cells).strip()]
    if not filled:
        raise UnreadableFile("empty_file")
    if header_row:
        header = next((row for row in filled if row.number == header_row), None)
        if header is None:
            raise UnreadableFile("no_header", row=header_row)
    else:
        header = None if header_row == 0 else _guess_header(filled)
    if header is not None and header.problem is not None:
        raise UnreadableFile(header.problem.code, row=header.number, encoding="UTF-8")
    below = [row for row in filled if header is None or row.number > header.number]
    if header is not None and not below:
        raise UnreadableFile("no_rows")
    width = _table_width(header, below, ragged=ragged)
    cells = header.cells if header else []
    names, notes = _unique_names([*cells, *[""] * (width - len(cells))][:width])
    if header is None:
        return FileHeader(names, None, (), (), max(len(row.cells) for row in filled))
    titles = tuple(row.number for row in filled if row.number < header.number)
    if titles:
        notes = ("title_rows", *notes)
    return FileHeader(names, header.number, notes, titles, len(cells), _repeated_names(cells))


def _repeated_names(cells: list[str]) -> tuple[str, ...]:
    counts = Counter(map(_clean_name, cells))
    return tuple(name for name, count in counts.items() if name and count > 1)


def _clean_name(cell: str) -> str:
    """Return the name in a cell as users see it."""
    return " ".join(without_invisible(cell, joiners=False).split())


def _guess_header(filled: list[FileRow]) -> FileRow | None:
    """Return the first row that names columns: by known names, else because it looks unlike
    data."""
    widest = max(_count_filled(row) for row in filled)
    candidates = filled[:_SEARCHED_ROWS]
    for row in candidates:
        if _count_known(row) >= min(2, widest) and not _holds_data(row):
            return _below_groups(row, filled)
    needed = max(min(2, widest), -(-widest // 2))
    for row in candidates:
        if _count_filled(row) < needed:
            continue
        if _holds_data(row) or not _names_the_data(row, filled):
            return None
        return row
    return None


def _below_groups(row: FileRow, filled: list[FileRow]) -> FileRow:
    """Return the row itself, or the next if the first only names groups of columns."""
    below = next((candidate for candidate in filled if candidate.number == row.number + 1), None)
    if below and _count_known(below) > _count_known(row) and not _holds_data(below):
        return below
    return row


def _count_known(row: FileRow) -> int:
    return sum(1 for cell in row.cells if cell.strip() and field_of(cell))


def _count_filled(row: FileRow) -> int:
    return sum(1 for cell in row.cells if cell.strip())


def _holds_data(row: FileRow) -> bool:
    return any(map(looks_like_data, row.cells))


def looks_like_data(cell: str) -> bool:
    """Return whether a text can't be a column name: a number, or an address."""
    return bool(_IDENTIFIER.search(cell) or _NUMBER.fullmatch(cell))


def _names_the_data(row: FileRow, filled: list[FileRow]) -> bool:
    """Return whether every column with numbers or addresses below has a name in this row."""
    for data_row in filled:
        if data_row.number <= row.number:
            continue
        for index, cell in enumerate(data_row.cells):
            if _IDENTIFIER.search(cell) and not "".join(row.cells[index : index + 1]).strip():
                return False
    return True


def _table_width(header: FileRow | None, below: list[FileRow], *, ragged: bool) -> int:
    widths = sorted(_used_width(row) for row in below) or [0]
    # A stray separator makes one row too wide; columns without a name make most rows wide.
    data = widths[-1] if ragged or header is None else widths[(len(widths) - 1) // 2]
    if header is None:
        return max(data, 1)
    # Columns without a name at the end of the header, if a row has a value there.
    header_width = len(header.cells)
    nameless = max((_used_width(row) for row in below if len(row.cells) <= header_width), default=0)
    return max(_used_width(header), nameless, data, 1)


def _used_width(row: FileRow) -> int:
    cells = row.cells
    return max((index for index, cell in enumerate(cells, 1) if cell.strip()), default=0)


def _unique_names(cells: list[str]) -> tuple[list[str], tuple[str, ...]]:
    names: list[str] = []
    used_names: set[str] = set()
    notes: list[str] = []
    for index, cell in enumerate(cells):
        name = _clean_name(cell)
        if not name:
            name = made_name(index)
            notes.append("unnamed_column")
        unique, count = name, 1
        while unique in used_names:
            count += 1
            unique = f"{name} ({count})"
            notes.append("duplicate_columns")
        used_names.add(unique)
        names.append(unique)
    return names, tuple(dict.fromkeys(notes))
