"""Removing a person from an applied upload: the other rows stay, and can be undone."""

from typing import Any
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.models import (
    ContactImport,
    ImportBlock,
    ImportChange,
    ImportCorrection,
    ImportProblem,
    ImportRow,
)
from app.services.contacts.undo import ERASED
from app.services.imports import deletion
from app.services.imports.packing import remove_entries
from app.services.personal_data.subjects import DataSubject

BATCH_SIZE = 2000
"""Row numbers per step."""
_IDENTIFY = ("phone", "email", "externalIds")


def is_applied(session: Session, upload_id: UUID) -> bool:
    """Return whether the upload has changed contacts, and still has its undo log."""
    upload = session.get_one(ContactImport, upload_id)
    return upload.rows_applied > 0 and upload.rows_forgotten_at is None


def erase_some(
    session: Session, subject: DataSubject, upload_id: UUID, pseudonym: str, after: int
) -> int | None:
    """Erase the person from the next rows of an upload; return the last row number that was read,
    None at the end. Rows that name the person are deleted, and their changes can't be undone. In
    the undo of other contacts the pseudonym replaces the person."""
    upload = session.get_one(ContactImport, upload_id, with_for_update=True)
    terms = subject.search_terms
    end = after + BATCH_SIZE

    def of_these(number: InstrumentedAttribute[int]) -> Any:
        return (number.class_.import_id == upload_id) & number.between(after + 1, end)

    changes = session.scalars(select(ImportChange).where(of_these(ImportChange.row_number))).all()
    row_numbers = {change.row_number for change in changes if change.contact_id in subject.contacts}
    for kind, columns in (
        (ImportRow, (ImportRow.cells, ImportRow.contact)),
        (ImportProblem, (ImportProblem.message, ImportProblem.repair)),
        (ImportCorrection, (ImportCorrection.cells, ImportCorrection.was)),
    ):
        rows = session.execute(select(kind.row_number, *columns).where(of_these(kind.row_number)))
        row_numbers.update(number for number, *values in rows if terms.occur_in(values))
    for kind in (ImportRow, ImportProblem, ImportCorrection):
        condition = (kind.import_id == upload_id) & kind.row_number.in_(row_numbers)
        session.execute(delete(kind).where(condition))
    for block in session.scalars(select(ImportBlock).where(of_these(ImportBlock.row_number))):
        remove_entries(session, block, terms.occur_in)
    for change in changes:
        _erase_change(subject, change, pseudonym)
    kinds = (ImportRow, ImportProblem, ImportBlock, ImportChange)
    if any(session.scalar(_rows_after(kind, upload_id, end)) for kind in kinds):
        return end
    upload.samples = []
    if upload.packed:
        upload.packed = upload.packed | {"repairs": []}
    session.flush()
    deletion.measure(session, upload_id)
    return None


def _rows_after(kind: Any, upload_id: UUID, number: int) -> Any:
    condition = (kind.import_id == upload_id) & (kind.row_number > number)
    return select(kind.row_number).where(condition).limit(1)


def _erase_change(subject: DataSubject, change: ImportChange, pseudonym: str) -> None:
    """Remove the person from a change. Values that identify a contact are not replaced: an undo
    would restore them."""
    states, terms = (change.before, change.after), subject.search_terms
    new = [terms.replace_in(state, pseudonym) for state in states]
    identity = [[(state or {}).get(key) for key in _IDENTIFY] for state in states]
    if change.contact_id in subject.contacts or terms.occur_in(identity) or terms.occur_in(new):
        change.before = change.after = change.fields_left = None
        change.undone = change.undone or ERASED
    else:
        change.before, change.after = new
