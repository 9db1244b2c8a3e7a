"""Mending the rows of a checked upload: cells are typed again, rows are left out."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.models import ContactImport, ImportCorrection, ImportRow
from app.policy import Permission
from app.policy.caller import Caller
from app.services.imports.corrections import storable
from app.services.imports.uploads import can_be_read_again, get, hand_in_check, record


@dataclass(frozen=True, slots=True)
class Mended:
    """How much of an upload has been mended: cells that were typed, rows that were left out."""

    cells: int
    left_out: int


def mend(
    session: Session,
    caller: Caller,
    upload_id: UUID,
    typed: Mapping[int, Mapping[int, str]],
    left_out: Collection[int],
    *,
    expected_check: int | None = None,
) -> ContactImport:
    """Keeps the cells (by row number and index of the column) that differ from what the check has
    shown, leaves rows out, and checks anew; without any change it does nothing.

    ``expected_check`` is the check that the person has looked at. Raises `Forbidden`, `NotFound`
    and `Conflict` (``upload_not_open``, ``changed_meanwhile``).
    """
    upload = _open(session, caller, upload_id)
    if expected_check is not None and expected_check != upload.check_number:
        message = "Somebody else changed the check meanwhile; nothing was saved."
        raise Conflict(message, "changed_meanwhile")
    numbers = {*typed, *left_out}
    rows = session.scalars(
        select(ImportRow)
        .where(ImportRow.import_id == upload.id, ImportRow.row_number.in_(numbers))
        .order_by(ImportRow.row_number)
    ).all()
    cells = 0
    skipped = 0
    for row in rows:
        changed = _changed(row, typed.get(row.row_number, {}))
        is_left_out = row.row_number in left_out
        if changed or is_left_out:
            _keep(session, row, typed.get(row.row_number, {}), changed, skipped=is_left_out)
            cells, skipped = cells + len(changed), skipped + is_left_out
    if cells or skipped:
        hand_in_check(session, upload)
        after = {"cells": cells, "rowsLeftOut": skipped}
        record(session, caller, upload, "mended", after=after)
    return upload


def take_back_left_out(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    """Looks at the rows again that were left out. Raises as `mend` does."""
    upload = _open(session, caller, upload_id)
    own = ImportCorrection.import_id == upload.id
    session.execute(update(ImportCorrection).where(own).values(skipped=False))
    hand_in_check(session, upload)
    record(session, caller, upload, "mended", after={"rowsLeftOut": 0})
    return upload


def forget(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    """Reads the file as it is, without anything that was typed. Raises as `mend` does."""
    upload = _open(session, caller, upload_id)
    session.execute(delete(ImportCorrection).where(ImportCorrection.import_id == upload.id))
    hand_in_check(session, upload)
    record(session, caller, upload, "mended", after={"cells": 0, "rowsLeftOut": 0})
    return upload


def mended_in(session: Session, upload: ContactImport) -> Mended:
    """What has been typed and left out so far."""
    query = select(ImportCorrection.cells, ImportCorrection.was, ImportCorrection.skipped)
    cells = left_out = 0
    for typed, was, skipped in session.execute(
        query.where(ImportCorrection.import_id == upload.id)
    ):
        cells += sum(text != was[index] for index, text in typed.items())
        left_out += skipped
    return Mended(cells, left_out)


def _open(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    caller.require(Permission.CONTACTS_WRITE)
    upload = get(session, caller, upload_id, for_change=True)
    if not can_be_read_again(upload):
        message = "The upload has moved on meanwhile; nothing was changed."
        raise Conflict(message, "upload_not_open")
    return upload


def _changed(row: ImportRow, typed: Mapping[int, str]) -> dict[int, str]:
    """The cells that were changed. A text field of a page loses line breaks: they are no change."""
    return {
        index: storable(text)
        for index, text in typed.items()
        if index < len(row.cells) and text != _on_one_line(row.cells[index])
    }


def _on_one_line(text: str) -> str:
    return text.replace("\r", "").replace("\n", "")


def _keep(
    session: Session,
    row: ImportRow,
    typed: Mapping[int, str],
    changed: Mapping[int, str],
    *,
    skipped: bool,
) -> None:
    """Cells that were sent unchanged are kept too: with them a person has confirmed the row."""
    found = session.get(ImportCorrection, (row.import_id, row.row_number))
    if found is None:
        found = ImportCorrection(import_id=row.import_id, row_number=row.row_number)
        found.cells, found.was, found.skipped = {}, {}, False
        session.add(found)
    if changed:
        sent = [index for index in typed if index < len(row.cells)]
        new = {str(index): changed.get(index, row.cells[index]) for index in sent}
        found.was = {str(index): row.cells[index] for index in sent} | found.was
        found.cells = found.cells | new
    found.skipped = skipped or found.skipped
