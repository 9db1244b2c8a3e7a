"""How long an upload's file is kept: until it has ended, and never for ever."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from app.enums import ImportState
from app.models import ContactImport, utcnow

OPEN_FOR = timedelta(days=30)
"""An upload that nobody applies is cancelled after this time."""
KEPT_AFTER_FAILURE = timedelta(days=1)
"""A file that could not be read may be read otherwise for so long."""
_AT_ONCE = 100


def expire(session: Session) -> None:
    """Cancels checked uploads that have waited too long."""
    session.execute(
        update(ContactImport)
        .where(ContactImport.state == ImportState.CHECKED)
        .where(ContactImport.checked_at < utcnow() - OPEN_FOR)
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
    rows = session.execute(query.order_by(ContactImport.id).limit(_AT_ONCE))
    return {upload_id: key for upload_id, key in rows}  # noqa: C416 - rows are no pairs to the type checker


def files_gone(session: Session, upload_ids: list[UUID]) -> None:
    """Writes down that the files of these uploads are not kept any more."""
    session.execute(
        update(ContactImport).where(ContactImport.id.in_(upload_ids)).values(file_key="")
    )
