"""The retention of uploads: the file until the upload has ended, its rows for some more days, its
figures and history forever."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, or_, select, true, update
from sqlalchemy.orm import Session

from app.enums import ImportStatus
from app.gateways.files.base import FileStore
from app.models import (
    CallRecording,
    ContactImport,
    ImportBlock,
    ImportChange,
    ImportCorrection,
    ImportProblem,
    ImportRow,
    ListExport,
    utcnow,
)
from app.services.imports.records import delete_some
from app.services.imports.undo import UNDOING
from app.services.imports.uploads import ENDED

KEPT_AFTER_FAILURE = timedelta(days=1)
"""How long a file that could not be read can be read with other options."""
ORPHAN_AFTER = timedelta(days=1)
"""How long a file may exist without an upload, recording or export: its row is written right after
it."""
_FILE_BATCH = 100
_KEY_BATCH = 500
_ROW_BATCH = 2000
"""Row numbers deleted at once, not rows."""


def cancel_unapplied(session: Session, days: int) -> None:
    """Cancel checked uploads that have waited for this many days."""
    session.execute(
        update(ContactImport)
        .where(ContactImport.status == ImportStatus.CHECKED)
        .where(ContactImport.checked_at < utcnow() - timedelta(days=days))
        .values(status=ImportStatus.CANCELLED, finished_at=utcnow())
    )


def unneeded_files(session: Session) -> dict[UUID, str]:
    """Return the file keys of uploads that have ended, by upload; a limited number at once."""
    ended = or_(
        ContactImport.status.in_((ImportStatus.DONE, ImportStatus.CANCELLED)),
        (ContactImport.status == ImportStatus.FAILED)
        & (ContactImport.finished_at < utcnow() - KEPT_AFTER_FAILURE),
    )
    query = select(ContactImport.id, ContactImport.file_key).where(
        ended, ContactImport.file_key != ""
    )
    rows = session.execute(query.order_by(ContactImport.id).limit(_FILE_BATCH))
    return {row.id: row.file_key for row in rows}


def list_orphans(session: Session, files: FileStore) -> list[str]:
    """Return the keys of files that no upload, recording or export has: their request ended between
    file and row, or the row was deleted with its contact, user or organization."""
    stored_keys = files.keys_before(utcnow() - ORPHAN_AFTER)
    used_keys: set[str] = set()
    for start in range(0, len(stored_keys), _KEY_BATCH):
        chunk = stored_keys[start : start + _KEY_BATCH]
        for column in (ContactImport.file_key, CallRecording.file_key, ListExport.file_key):
            used_keys.update(session.scalars(select(column).where(column.in_(chunk))))
    return [key for key in stored_keys if key not in used_keys]


def file_key_of(session: Session, upload_id: UUID) -> str:
    return session.get_one(ContactImport, upload_id).file_key


def record_files_deleted(session: Session, upload_ids: list[UUID]) -> None:
    """Record that the files of these uploads were deleted."""
    session.execute(
        update(ContactImport).where(ContactImport.id.in_(upload_ids)).values(file_key="")
    )


def to_purge(session: Session, days: int, partner_id: UUID | None = None) -> UUID | None:
    """Return an upload, of all partners or of one, that ended so many days ago, still has its rows
    and isn't being undone. From now on it is neither undone nor continued."""
    query = (
        select(ContactImport)
        .where(ContactImport.status.in_(ENDED), ContactImport.rows_forgotten_at.is_(None))
        .where(ContactImport.undo_status.is_distinct_from(UNDOING))
        .where(ContactImport.finished_at < utcnow() - timedelta(days=days))
        .where(ContactImport.partner_id == partner_id if partner_id else true())
        .order_by(ContactImport.id)
        .limit(1)
        .with_for_update()
    )
    upload = session.scalar(query)
    if upload is None:
        return None
    upload.deletion_requested_at = upload.deletion_requested_at or utcnow()
    return upload.id


def kept_until(upload: ContactImport, days: int) -> datetime | None:
    """Return when the rows of an ended upload are deleted; None for another."""
    return upload.finished_at + timedelta(days=days) if upload.finished_at else None


def purge_some(session: Session, upload_id: UUID) -> bool:
    """Delete some of what the rows of an upload held; return False when nothing is left.

    The log keeps the ids of changed contacts, without values.
    """
    upload = session.get_one(ContactImport, upload_id, with_for_update=True)
    upload.deletion_requested_at = upload.deletion_requested_at or utcnow()  # downloads end
    models = (ImportProblem, ImportCorrection, ImportBlock, ImportRow)
    has_more = delete_some(session, upload_id, models, _ROW_BATCH)
    logged = ImportChange.import_id == upload_id
    has_values = or_(ImportChange.before.is_not(None), ImportChange.after.is_not(None))
    first = session.scalar(select(func.min(ImportChange.row_number)).where(logged, has_values))
    if first is not None:
        has_more = True
        session.execute(
            update(ImportChange)
            .where(logged, ImportChange.row_number.between(first, first + _ROW_BATCH))
            .values(before=None, after=None)
        )
    if not has_more:
        upload.samples, upload.packed, upload.stored_bytes = [], None, 0
        upload.rows_forgotten_at = upload.rows_forgotten_at or utcnow()
        upload.deletion_requested_at = None
    return has_more
