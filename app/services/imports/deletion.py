"""Early deletion of what an upload stores: file, rows and undo log. The contacts stay."""

from uuid import UUID

from sqlalchemy import JSON, ColumnElement, Text, cast, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.errors import Conflict
from app.gateways import job_queue
from app.languages import gettext
from app.models import ContactImport, ImportBlock, ImportChange, ImportProblem, ImportRow, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.imports.records import BESIDES_VALUES
from app.services.imports.undo import UNDOING
from app.services.imports.uploads import ENDED, get


def can_be_deleted(upload: ContactImport) -> bool:
    """Return whether the upload has ended and still stores something."""
    stores = upload.rows_forgotten_at is None or bool(upload.file_key)
    return not is_at_work(upload) and stores and upload.deletion_requested_at is None


def is_at_work(upload: ContactImport) -> bool:
    """Return whether the upload, or its undo, hasn't ended."""
    return upload.status not in ENDED or upload.undo_status == UNDOING


def delete_data(session: Session, caller: Caller, upload_id: UUID) -> ContactImport:
    """Delete file, rows and undo log of an upload; the worker does it, and from now on they don't
    count as storage. A repeated request changes nothing.

    Raises `Forbidden`, `NotFound` and `Conflict` (``upload_not_ended``).
    """
    caller.require(Permission.CONTACTS_WRITE)
    upload = get(session, caller, upload_id, for_change=True)
    if is_at_work(upload):
        message = gettext(
            "The upload is still running. Nothing was deleted. Wait until it has finished."
        )
        raise Conflict(message, "upload_not_ended")
    if not can_be_deleted(upload):
        return upload
    before = {"bytes": (upload.stored_bytes or 0) + (upload.file_size if upload.file_key else 0)}
    upload.deletion_requested_at = utcnow()
    upload.rows_forgotten_at = upload.rows_forgotten_at or upload.deletion_requested_at
    upload.samples, upload.packed, upload.stored_bytes = [], None, 0
    session.flush()
    job_queue.enqueue_job(
        session, "delete_upload_data", f"delete-upload-data-{upload.id}", str(upload.id)
    )
    audit.record_change(session, caller, "upload.data_deleted", upload, before=before)
    return upload


def next_unmeasured(session: Session) -> UUID | None:
    """Return an upload of unknown size, stored by an earlier version."""
    query = select(ContactImport.id).where(ContactImport.stored_bytes.is_(None))
    return session.scalar(query.where(ContactImport.status.in_(ENDED)).limit(1))


def measure(session: Session, upload_id: UUID) -> None:
    """Measure what an upload stores besides its file."""
    upload = session.get_one(ContactImport, upload_id, with_for_update=True)
    size = 0
    for model, texts in (
        (ImportRow, (ImportRow.cells, ImportRow.contact)),
        (ImportProblem, (ImportProblem.message,)),
        (ImportChange, (ImportChange.before, ImportChange.after)),
    ):
        values = sum(
            (_total_length(text) for text in texts), start=func.count() * BESIDES_VALUES[model]
        )
        size += session.scalar(select(values).where(model.import_id == upload_id)) or 0
    blocks = select(func.sum(func.length(ImportBlock.content)))
    size += session.scalar(blocks.where(ImportBlock.import_id == upload_id)) or 0
    upload.stored_bytes = size


def _total_length(column: InstrumentedAttribute[object]) -> ColumnElement[int]:
    text = cast(column, Text) if isinstance(column.type, JSON) else column
    return func.coalesce(func.sum(func.length(text)), 0)
