"""How long an upload is kept: its file until it has ended, its rows for some days more, its figures
and its history for good."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from app.enums import ImportState
from app.models import (
    ContactImport,
    ImportChange,
    ImportCorrection,
    ImportProblem,
    ImportRow,
    utcnow,
)

KEPT_AFTER_FAILURE = timedelta(days=1)
"""A file that could not be read may be read otherwise for so long."""
_FILES_AT_ONCE = 100
_ROWS_AT_ONCE = 2000
"""Row numbers, not rows."""
_ENDED = (ImportState.DONE, ImportState.CANCELLED, ImportState.FAILED)


def expire(session: Session, days: int) -> None:
    """Cancels checked uploads that have waited for so long."""
    session.execute(
        update(ContactImport)
        .where(ContactImport.state == ImportState.CHECKED)
        .where(ContactImport.checked_at < utcnow() - timedelta(days=days))
        .values(state=ImportState.CANCELLED, finished_at=utcnow())
    )


def unneeded_files(session: Session) -> dict[UUID, str]:
    """The file keys of uploads that have ended, by upload; not all at once."""
    ended = or_(
        ContactImport.state.in_((ImportState.DONE, ImportState.CANCELLED)),
        (ContactImport.state == ImportState.FAILED)
        & (ContactImport.finished_at < utcnow() - KEPT_AFTER_FAILURE),
    )
    query = select(ContactImport.id, ContactImport.file_key).where(
        ended, ContactImport.file_key != ""
    )
    rows = session.execute(query.order_by(ContactImport.id).limit(_FILES_AT_ONCE))
    return {upload_id: key for upload_id, key in rows}  # noqa: C416 - rows are no pairs to the type checker


def files_gone(session: Session, upload_ids: list[UUID]) -> None:
    """Writes down that the files of these uploads are not kept any more."""
    session.execute(
        update(ContactImport).where(ContactImport.id.in_(upload_ids)).values(file_key="")
    )


def to_forget(session: Session, days: int) -> UUID | None:
    """An upload that ended so many days ago, and whose rows are still kept."""
    query = (
        select(ContactImport.id)
        .where(ContactImport.state.in_(_ENDED), ContactImport.rows_forgotten_at.is_(None))
        .where(ContactImport.finished_at < utcnow() - timedelta(days=days))
        .order_by(ContactImport.id)
        .limit(1)
    )
    return session.scalar(query)


def kept_until(upload: ContactImport, days: int) -> datetime | None:
    """When the rows of an upload go that has ended; None of another."""
    return upload.finished_at + timedelta(days=days) if upload.finished_at else None


def forget_some(session: Session, upload_id: UUID) -> bool:
    """Removes some of what the rows of an upload held; False once nothing of it is left.

    What was changed in whom stays in the log, without the values.
    """
    found = session.get_one(ContactImport, upload_id, with_for_update=True)
    left = False
    for kept in (ImportProblem, ImportCorrection, ImportRow):
        own = kept.import_id == upload_id
        first = session.scalar(select(func.min(kept.row_number)).where(own))
        if first is not None:
            left = True
            session.execute(delete(kept).where(own, kept.row_number < first + _ROWS_AT_ONCE))
    logged = ImportChange.import_id == upload_id
    held = or_(ImportChange.before.is_not(None), ImportChange.after.is_not(None))
    first = session.scalar(select(func.min(ImportChange.row_number)).where(logged, held))
    if first is not None:
        left = True
        session.execute(
            update(ImportChange)
            .where(logged, ImportChange.row_number.between(first, first + _ROWS_AT_ONCE))
            .values(before=None, after=None)
        )
    if not left:
        found.samples, found.rows_forgotten_at = [], utcnow()
    return left
