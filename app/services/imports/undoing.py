"""Undoing an upload: what it would do, and doing it, a batch at a time, the last rows first.

As in applying, a batch is one transaction, with what became of its changes and how far it has
come. Whoever is killed, the next one goes on exactly behind the last batch.
"""

from collections import Counter
from dataclasses import asdict
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.enums import ImportState, WebhookEvent
from app.errors import Conflict
from app.gateways import job_queue
from app.models import Campaign, ContactImport, ImportChange, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit
from app.services.contacts.undoing import Undone, undo
from app.services.imports.finishing import upload_facts
from app.services.imports.undo_sums import Sums, fields_left_by, steps_left
from app.services.imports.uploads import author_of, get, record
from app.services.webhooks.publishing import publish

BATCH = 250
UNDOING, UNDONE, STOPPED = "undoing", "undone", "stopped"
_ENDED = frozenset({ImportState.DONE, ImportState.CANCELLED, ImportState.FAILED})


def ends_at(upload: ContactImport, days: int) -> datetime | None:
    """The last moment to undo the upload; None where there is nothing to undo."""
    if upload.state not in _ENDED or not upload.rows_applied or upload.finished_at is None:
        return None
    return upload.finished_at + timedelta(days=days)


def can_be_undone(upload: ContactImport, days: int) -> bool:
    """Whether the undo of the upload can begin, or begin again after a fault."""
    end = ends_at(upload, days)
    return (
        end is not None
        and utcnow() < end
        and upload.undo_state in (None, STOPPED)
        and upload.rows_forgotten_at is None
    )


def start(session: Session, caller: Caller, upload_id: UUID, days: int) -> ContactImport:
    """Hands in the undo. Asking again while it is at work, or after, changes nothing.

    Raises `Forbidden`, `NotFound` and `Conflict` (``upload_not_undoable``) where there is nothing
    to undo or the time for it is over.
    """
    caller.require(Permission.CONTACTS_WRITE)
    upload = get(session, caller, upload_id, for_change=True)
    if upload.undo_state in (UNDOING, UNDONE):
        return upload
    if not can_be_undone(upload, days):
        message = "The upload can’t be undone any more; nothing was changed."
        raise Conflict(message, "upload_not_undoable")
    if upload.undo_state is None:
        upload.undo_started_at = utcnow()
        changes = select(func.count()).where(ImportChange.import_id == upload.id)
        upload.undo_changes = session.scalar(changes) or 0
    upload.undo_state, upload.undo_author = UNDOING, author_of(session, caller)
    upload.undo_number += 1
    job_queue.enqueue_job(
        session,
        "undo_import",
        f"undo-{upload.id}-{upload.undo_number}",
        str(upload.id),
        str(upload.undo_number),
    )
    record(session, caller, upload, "undo_started", after={"changes": upload.undo_changes})
    return upload


def undo_batch(session: Session, import_id: UUID, undo_number: int) -> bool:
    """Undoes the next changes; False where there is nothing more to do but to `finish`."""
    upload = _at_work(session, import_id, undo_number)
    if upload is None:
        return False
    steps = steps_left(session, upload, BATCH)
    if not steps:
        return False
    campaign = session.get_one(Campaign, upload.campaign_id)
    found = undo(session, campaign, steps, left_before=fields_left_by(session, upload, steps))
    first = steps[-1].row_number
    usual = Counter(one.outcome for one in found).most_common(1)[0][0]
    session.execute(
        update(ImportChange)
        .where(ImportChange.import_id == upload.id)
        .where(ImportChange.row_number.between(first, steps[0].row_number))
        .values(undone=usual)
    )
    others = [one for one in found if one.outcome != usual or one.fields_left]
    if others:
        session.execute(update(ImportChange), [_told(upload, one) for one in others])
    upload.undo_from_row, upload.undo_done = first, upload.undo_done + len(steps)
    session.flush()
    return True


def finish(session: Session, import_id: UUID, undo_number: int, result: Sums) -> None:
    """The undo is over, with this result."""
    upload = _at_work(session, import_id, undo_number)
    if upload is None:
        return
    upload.undo_state, upload.undone_at = UNDONE, utcnow()
    upload.undo_result = asdict(result)
    _record_end(session, upload, "undone", upload.undo_result)
    publish(
        session,
        upload.organization_id,
        WebhookEvent.IMPORT_UNDONE,
        lambda: {
            **upload_facts(upload),
            "undoneAt": upload.undone_at,
            "undone": {
                "removed": result.removed,
                "restored": result.restored,
                "broughtBack": result.brought_back,
                "contactsLeft": result.contacts_left,
            },
        },
    )


def stop(session: Session, import_id: UUID, undo_number: int) -> None:
    """The undo can't go on; what has been undone stays so, and the rest can be tried again."""
    upload = _at_work(session, import_id, undo_number)
    if upload is not None:
        upload.undo_state = STOPPED
        _record_end(session, upload, "undo_stopped", {"changes": upload.undo_done})


def _at_work(session: Session, import_id: UUID, undo_number: int) -> ContactImport | None:
    query = select(ContactImport).where(ContactImport.id == import_id).with_for_update()
    upload = session.scalars(query).one_or_none()
    wanted = upload and upload.undo_state == UNDOING and upload.undo_number == undo_number
    return upload if wanted else None


def _told(upload: ContactImport, one: Undone) -> dict[str, object]:
    return {
        "import_id": upload.id,
        "row_number": one.step.row_number,
        "undone": one.outcome,
        "fields_left": one.fields_left or None,
    }


def _record_end(
    session: Session, upload: ContactImport, verb: str, after: dict[str, object]
) -> None:
    audit.record(
        session,
        system_caller(upload.undo_author or upload.author, partner_id=upload.partner_id),
        action=f"upload.{verb}",
        target_type="upload",
        target_id=upload.id,
        organization_id=upload.organization_id,
        target=upload.file_name,
        after=after,
    )
    session.flush()
