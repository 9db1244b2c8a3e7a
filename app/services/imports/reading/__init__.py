"""Reading contact files: any container, as a header and numbered rows of text."""

from app.services.imports.reading.damage import Damage, inspect_phone
from app.services.imports.reading.errors import UnreadableFile, reading_one_of
from app.services.imports.reading.guard import guard_cell, unguard_cell
from app.services.imports.reading.opening import open_table
from app.services.imports.reading.table import Limits, ReadOptions, Row, RowProblem, Table

__all__ = [
    "Damage",
    "Limits",
    "ReadOptions",
    "Row",
    "RowProblem",
    "Table",
    "UnreadableFile",
    "guard_cell",
    "inspect_phone",
    "open_table",
    "reading_one_of",
    "unguard_cell",
]
