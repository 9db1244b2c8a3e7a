"""Corrections of an upload: cells that users retyped, and rows that they left out.

The check reads a row with its corrections instead of the file's cells.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.contact_files import FileRow
from app.errors import check_version
from app.models import ContactImport, ImportCorrection, ImportRow
from app.policy.caller import Caller
from app.services import audit
from app.services.imports.cells import storable
from app.services.imports.uploads import get_open, request_check

LEFT_OUT = "left_out"
"""The reason why a row is ignored: a user left it out."""
_ROWS_CORRECTED = "upload.mended"


@dataclass(frozen=True, slots=True)
class RowCorrection:
    """Cells by the index of their column: as typed, and as in the file."""

    cells: Mapping[int, str] = field(default_factory=dict)
    originals: Mapping[int, str] = field(default_factory=dict)
    skipped: bool = False


Corrections = Mapping[int, RowCorrection]
"""Corrections by row number."""


def corrections_of(session: Session, import_id: UUID) -> dict[int, RowCorrection]:
    query = select(
        ImportCorrection.row_number,
        ImportCorrection.cells,
        ImportCorrection.was,
        ImportCorrection.skipped,
    )
    return {
        number: RowCorrection(_by_index(cells), _by_index(was), skipped)
        for number, cells, was, skipped in session.execute(
            query.where(ImportCorrection.import_id == import_id)
        )
    }


def corrected_row(row: FileRow, correction: RowCorrection, width: int) -> FileRow:
    """Return the row with its retyped cells, if the file still has the cells that they replace.

    A row with a structural problem becomes usable when all of its ``width`` cells were confirmed.
    """
    cells, was = row.cells, correction.originals
    if not was or any(i >= len(cells) or storable(cells[i]) != text for i, text in was.items()):
        return row
    corrected = [correction.cells.get(index, cell) for index, cell in enumerate(cells)]
    if row.problem and all(index in was for index in range(width)):
        return FileRow(row.number, corrected[:width])
    return row._replace(cells=corrected)


def _by_index(cells: Mapping[str, str]) -> dict[int, str]:
    return {int(index): text for index, text in cells.items()}


@dataclass(frozen=True, slots=True)
class CorrectionCounts:
    """How many cells were retyped and how many rows were left out."""

    cells: int
    left_out: int


def correct_rows(
    session: Session,
    caller: Caller,
    upload_id: UUID,
    submitted: Mapping[int, Mapping[int, str]],
    left_out: Collection[int],
    *,
    expected_check: int | None = None,
) -> ContactImport:
    """Store the cells that differ from the check (by row number and column index), leave rows out,
    and check again; do nothing without a change.

    ``expected_check`` is the check that the user saw. Raises `Forbidden`, `NotFound` and `Conflict`
    (``upload_not_open``, ``changed_meanwhile``).
    """
    upload = get_open(session, caller, upload_id)
    check_version(expected_check, upload.check_number, "check")
    numbers = {*submitted, *left_out}
    rows = session.scalars(
        select(ImportRow)
        .where(ImportRow.import_id == upload.id, ImportRow.row_number.in_(numbers))
        .order_by(ImportRow.row_number)
    ).all()
    cells = 0
    skipped = 0
    for row in rows:
        changed = _changed_cells(row, submitted.get(row.row_number, {}))
        is_left_out = row.row_number in left_out
        if changed or is_left_out:
            _store_correction(
                session, row, submitted.get(row.row_number, {}), changed, skipped=is_left_out
            )
            cells, skipped = cells + len(changed), skipped + is_left_out
    if cells or skipped:
        request_check(session, upload)
        after = {"cells": cells, "rowsLeftOut": skipped}
        audit.record_change(session, caller, _ROWS_CORRECTED, upload, after=after)
    return upload


def restore_left_out(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    """Include the rows again that were left out. Raises as `correct_rows` does."""
    upload = get_open(session, caller, upload_id)
    of_upload = ImportCorrection.import_id == upload.id
    session.execute(update(ImportCorrection).where(of_upload).values(skipped=False))
    request_check(session, upload)
    audit.record_change(session, caller, _ROWS_CORRECTED, upload, after={"rowsLeftOut": 0})
    return upload


def discard_corrections(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    """Discard all corrections and read the file as it is. Raises as `correct_rows` does."""
    upload = get_open(session, caller, upload_id)
    session.execute(delete(ImportCorrection).where(ImportCorrection.import_id == upload.id))
    request_check(session, upload)
    audit.record_change(
        session, caller, _ROWS_CORRECTED, upload, after={"cells": 0, "rowsLeftOut": 0}
    )
    return upload


def count_corrections(session: Session, upload: ContactImport) -> CorrectionCounts:
    query = select(ImportCorrection.cells, ImportCorrection.was, ImportCorrection.skipped)
    cells = left_out = 0
    for corrected, was, skipped in session.execute(
        query.where(ImportCorrection.import_id == upload.id)
    ):
        cells += sum(text != was[index] for index, text in corrected.items())
        left_out += skipped
    return CorrectionCounts(cells, left_out)


def _changed_cells(row: ImportRow, submitted: Mapping[int, str]) -> dict[int, str]:
    """Return the changed cells. Form fields drop line breaks: that isn't a change."""
    return {
        index: storable(text)
        for index, text in submitted.items()
        if index < len(row.cells) and text != _on_one_line(row.cells[index])
    }


def _on_one_line(text: str) -> str:
    return text.replace("\r", "").replace("\n", "")


def _store_correction(
    session: Session,
    row: ImportRow,
    submitted: Mapping[int, str],
    changed: Mapping[int, str],
    *,
    skipped: bool,
) -> None:
    """Store the corrections of a row; unchanged cells too, because the user has confirmed them."""
    correction = session.get(ImportCorrection, (row.import_id, row.row_number))
    if correction is None:
        correction = ImportCorrection(import_id=row.import_id, row_number=row.row_number)
        correction.cells, correction.was, correction.skipped = {}, {}, False
        session.add(correction)
    if changed:
        indexes = [index for index in submitted if index < len(row.cells)]
        new = {str(index): changed.get(index, row.cells[index]) for index in indexes}
        correction.was = {str(index): row.cells[index] for index in indexes} | correction.was
        correction.cells = correction.cells | new
    correction.skipped = skipped or correction.skipped
