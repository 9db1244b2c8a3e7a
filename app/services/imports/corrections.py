"""What a person has typed for the rows of an upload, as the check reads it instead of the file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ImportCorrection
from app.services.imports.reading import Row

LEFT_OUT = "left_out"
"""Why a row is ignored: a person said so."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Cells by the index of their column: as typed, and as the file has them."""

    cells: Mapping[int, str] = field(default_factory=dict)
    was: Mapping[int, str] = field(default_factory=dict)
    skipped: bool = False


Corrections = Mapping[int, Correction]
"""By row number."""


def corrections_of(session: Session, import_id: UUID) -> dict[int, Correction]:
    query = select(
        ImportCorrection.row_number,
        ImportCorrection.cells,
        ImportCorrection.was,
        ImportCorrection.skipped,
    )
    return {
        number: Correction(_by_index(cells), _by_index(was), skipped)
        for number, cells, was, skipped in session.execute(
            query.where(ImportCorrection.import_id == import_id)
        )
    }


def mended(row: Row, correction: Correction, width: int) -> Row:
    """The row with the cells that were typed, where the file still has what they replaced.

    A row that could not be trusted can be once all of its ``width`` cells have been confirmed.
    """
    cells, was = row.cells, correction.was
    if not was or any(i >= len(cells) or storable(cells[i]) != text for i, text in was.items()):
        return row
    typed = [correction.cells.get(index, cell) for index, cell in enumerate(cells)]
    if row.problem and all(index in was for index in range(width)):
        return Row(row.number, typed[:width])
    return row._replace(cells=typed)


def storable(text: str) -> str:
    """PostgreSQL takes no NUL."""
    return text.replace("\0", "\ufffd")


def _by_index(cells: Mapping[str, str]) -> dict[int, str]:
    return {int(index): text for index, text in cells.items()}
