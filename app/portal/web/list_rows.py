"""The rows of a list for a file, read in parts, so that long lists need no memory."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from app import languages
from app.extensions import figures
from app.portal.web.list_definitions import ListColumn, ListDefinition
from app.services.csv_files import Cell

R = TypeVar("R")
CHUNK = 1000


def chunks(
    definition: ListDefinition[R], columns: Sequence[ListColumn[R]], sort: str
) -> Iterator[list[list[Cell]]]:
    """Read the list, each part in its own transaction. Its words are English, because scripts read
    them."""
    cursor: str | None = None
    while True:
        with figures() as session:
            page = definition.load(session, sort, cursor, CHUNK)
            chunk = cells_of(page.items, columns)
        yield chunk
        cursor = page.next_cursor
        if cursor is None:
            return


def cells_of(rows: Sequence[R], columns: Sequence[ListColumn[R]]) -> list[list[Cell]]:
    """Return the values of the rows, in English; within the transaction that has loaded them."""
    with languages.using_language(languages.DEFAULT):
        return [[column.value(row) for column in columns] for row in rows]


def sheet_name(definition: ListDefinition[R]) -> str:
    """Return the name of the list in a workbook, in English in every language."""
    with languages.using_language(languages.DEFAULT):
        name = str(definition.nouns[1])
    return name[:1].upper() + name[1:]


def headings_of(columns: Sequence[ListColumn[R]]) -> list[str]:
    """Return the names of the columns, in English in every language."""
    return [column.heading for column in columns]
