"""Undo an upload, a batch at a time, the last rows first.

As in applying, a batch is one transaction with its outcome and position. After a crash, undoing
continues right after the last batch.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Text, cast, func, or_, select, update
from sqlalchemy.orm import Session

from app.enums import WebhookEvent
from app.errors import Conflict
from app.languages import gettext
from app.models import Campaign, ContactImport, ImportChange, utcnow
from app.policy import Permission
from app.policy.caller import Caller, system_caller
from app.services import audit
from app.services.contacts.results import CREATED, UPDATED, UndoStep
from app.services.contacts.undo import (
    BROUGHT_BACK,
    ERASED,
    GONE,
    LEFT,
    PARTLY,
    REMOVED,
    REMOVED_CHANGED,
    RESTORED,
    TAKEN,
    UNCHANGED,
    UndoneChange,
    fields_differing,
    undo,
)
from app.services.imports.apply import upload_payload
from app.services.imports.corrected_files import count_fixed
from app.services.imports.uploads import ENDED, author_of, enqueue, get, keeps_rows, lock_upload
from app.services.webhooks.publishing import publish

BATCH_SIZE = 250
UNDOING, UNDONE, STOPPED = "undoing", "undone", "stopped"
FIGURES = (
    {REMOVED, REMOVED_CHANGED},
    {RESTORED, PARTLY},
    {BROUGHT_BACK},
    {LEFT, PARTLY, GONE, TAKEN, UNCHANGED},
)
"""The outcomes counted by each of `UndoTotals.figures`."""
_CHANGING = (RESTORED, PARTLY, LEFT, GONE)
CAN_BE_UNDONE = ImportChange.undone.is_distinct_from(ERASED)


@dataclass(frozen=True, slots=True)
class UndoTotals:
    """The effects of an undo, in contacts.

    ``removed_changed`` are those of the removed that have changed since they were created.
    ``fields_left`` counts fields of ``contacts_left`` contacts that keep their value: changed
    since, or needed by another contact. ``gone`` contacts left the campaign before; ``taken`` can't
    come back, because another contact has their number, address or id; ``erased`` are people whose
    data was erased; ``unchanged`` contacts have the values from before the upload already. In an
    estimate (``estimated``), ``contacts_left`` are those that have changed since, in fields that
    may or may not be those of the upload.
    """

    removed: int = 0
    removed_changed: int = 0
    restored: int = 0
    brought_back: int = 0
    contacts_left: int = 0
    fields_left: int = 0
    gone: int = 0
    taken: int = 0
    erased: int = 0
    unchanged: int = 0
    estimated: bool = False

    @property
    def figures(self) -> tuple[int, ...]:
        """The contacts removed, restored, brought back and left as they are, as in `FIGURES`."""
        untouched = self.contacts_left + self.gone + self.taken + self.unchanged
        return self.removed, self.restored, self.brought_back, untouched

    @property
    def change_nothing(self) -> bool:
        """Whether each contact certainly stays as it is."""
        return not (self.estimated or self.removed or self.restored or self.brought_back)


def count_changes(session: Session, upload: ContactImport) -> tuple[int, int]:
    """Return how many changes the upload made, and to how many contacts: several rows of a file can
    change the same one. Rows that changed nothing are logged, but aren't counted."""
    differs = cast(ImportChange.before, Text).is_distinct_from(cast(ImportChange.after, Text))
    query = select(func.count(), func.count(ImportChange.contact_id.distinct()))
    of_upload = (ImportChange.import_id == upload.id) & or_(differs, ~CAN_BE_UNDONE)
    changes, changed = session.execute(query.where(of_upload)).one()
    return changes, changed


def totals_of(session: Session, import_id: UUID) -> UndoTotals:
    """Return the totals of an upload's undo, from the outcomes of its changes."""
    of_upload = ImportChange.import_id == import_id
    grouped = select(ImportChange.undone, func.count()).group_by(ImportChange.undone)
    by_outcome = {row[0]: row[1] for row in session.execute(grouped.where(of_upload))}
    of_others = of_upload & ImportChange.contact_id.not_in(
        select(ImportChange.contact_id).where(of_upload, ImportChange.action == CREATED)
    )
    contacts = func.count(ImportChange.contact_id.distinct())

    def updated(*outcomes: str) -> int:
        query = select(contacts).where(of_others, ImportChange.undone.in_(outcomes))
        return session.scalar(query.where(ImportChange.action == UPDATED)) or 0

    fields = session.scalars(
        select(ImportChange.fields_left).where(of_others, ImportChange.undone.in_((PARTLY, LEFT)))
    )
    created_gone = select(func.count()).where(
        of_upload, ImportChange.undone == GONE, ImportChange.action == CREATED
    )
    return UndoTotals(
        removed=by_outcome.get(REMOVED, 0) + by_outcome.get(REMOVED_CHANGED, 0),
        removed_changed=by_outcome.get(REMOVED_CHANGED, 0),
        restored=updated(RESTORED, PARTLY),
        brought_back=by_outcome.get(BROUGHT_BACK, 0),
        contacts_left=updated(LEFT, PARTLY),
        fields_left=sum(map(fields_differing, fields)),
        gone=updated(GONE) + (session.scalar(created_gone) or 0),
        taken=by_outcome.get(TAKEN, 0),
        erased=count_erased(session, import_id),
        unchanged=updated(UNCHANGED, *_CHANGING) - updated(*_CHANGING),
    )


def count_erased(session: Session, import_id: UUID) -> int:
    """Return how many people of an upload were erased before their change was undone."""
    query = select(func.count(ImportChange.contact_id.distinct()))
    return session.scalar(query.where(ImportChange.import_id == import_id, ~CAN_BE_UNDONE)) or 0


def result_of(upload: ContactImport) -> UndoTotals | None:
    """Return the result of an upload's undo; None before."""
    return UndoTotals(**upload.undo_result) if upload.undo_result is not None else None


def steps_left(session: Session, upload: ContactImport, limit: int | None = None) -> list[UndoStep]:
    """Return the changes that are still to be undone, the last first."""
    query = select(
        ImportChange.row_number,
        ImportChange.contact_id,
        ImportChange.action,
        ImportChange.before,
        ImportChange.after,
    ).where(ImportChange.import_id == upload.id, CAN_BE_UNDONE)
    if upload.undo_from_row is not None:
        query = query.where(ImportChange.row_number < upload.undo_from_row)
    rows = session.execute(query.order_by(ImportChange.row_number.desc()).limit(limit))
    return [UndoStep(row[0], str(row[1]), row[2], row[3], row[4]) for row in rows]


def fields_left_by(
    session: Session, upload: ContactImport, steps: Iterable[UndoStep]
) -> dict[str, set[str]]:
    """Return the fields that earlier undone steps left as they were, by contact of these steps."""
    fields_by_contact: dict[str, set[str]] = defaultdict(set)
    if upload.undo_from_row is None:
        return fields_by_contact
    query = select(ImportChange.contact_id, ImportChange.fields_left).where(
        ImportChange.import_id == upload.id,
        ImportChange.row_number >= upload.undo_from_row,
        ImportChange.fields_left.is_not(None),
        ImportChange.contact_id.in_({UUID(step.contact_id) for step in steps}),
    )
    for contact_id, fields in session.execute(query):
        fields_by_contact[str(contact_id)].update(fields or ())
    return fields_by_contact


def ends_at(upload: ContactImport, days: int) -> datetime | None:
    """Return the last moment to undo the upload; None if there is nothing to undo."""
    if upload.status not in ENDED or not upload.rows_applied or upload.finished_at is None:
        return None
    return upload.finished_at + timedelta(days=days)


def can_be_undone(upload: ContactImport, days: int) -> bool:
    """Return whether the undo can start, or start again after a fault."""
    end = ends_at(upload, days)
    return (
        end is not None
        and utcnow() < end
        and upload.undo_status in (None, STOPPED)
        and keeps_rows(upload)
    )


def start(session: Session, caller: Caller, upload_id: UUID, days: int) -> ContactImport:
    """Start the undo; a repeated request changes nothing.

    Raises `Forbidden`, `NotFound` and `Conflict` (``upload_not_undoable``) if there is nothing to
    undo or it is too late.
    """
    caller.require(Permission.CONTACTS_WRITE)
    upload = get(session, caller, upload_id, for_change=True)
    if upload.undo_status in (UNDOING, UNDONE):
        return upload
    if not can_be_undone(upload, days):
        message = gettext("The upload can no longer be undone. Nothing was changed.")
        raise Conflict(message, "upload_not_undoable")
    if upload.undo_status is None:
        upload.undo_started_at = utcnow()
        of_upload = ImportChange.import_id == upload.id
        changes = select(func.count()).where(of_upload, CAN_BE_UNDONE)
        upload.undo_changes = session.scalar(changes) or 0
    upload.undo_status, upload.undo_author = UNDOING, author_of(session, caller)
    upload.undo_number += 1
    enqueue(session, upload, "undo", upload.undo_number)
    audit.record_change(
        session, caller, "upload.undo_started", upload, after={"changes": upload.undo_changes}
    )
    return upload


def undo_batch(session: Session, import_id: UUID, undo_number: int) -> bool:
    """Undo the next changes; return False when only `finish` is left."""
    upload = _lock_running(session, import_id, undo_number)
    if upload is None:
        return False
    steps = steps_left(session, upload, BATCH_SIZE)
    if not steps:
        return False
    campaign = session.get_one(Campaign, upload.campaign_id)
    undone = undo(session, campaign, steps, left_before=fields_left_by(session, upload, steps))
    first = steps[-1].row_number
    most_common = Counter(change.outcome for change in undone).most_common(1)[0][0]
    session.execute(
        update(ImportChange)
        .where(ImportChange.import_id == upload.id)
        .where(ImportChange.row_number.between(first, steps[0].row_number), CAN_BE_UNDONE)
        .values(undone=most_common)
    )
    exceptions = [
        change for change in undone if change.outcome != most_common or change.fields_left
    ]
    if exceptions:
        session.execute(
            update(ImportChange), [_outcome_values(upload, change) for change in exceptions]
        )
    upload.undo_from_row, upload.undo_done = first, upload.undo_done + len(steps)
    session.flush()
    return True


def finish(session: Session, import_id: UUID, undo_number: int, result: UndoTotals) -> None:
    upload = _lock_running(session, import_id, undo_number)
    if upload is None:
        return
    upload.undo_status, upload.undone_at = UNDONE, utcnow()
    upload.undo_result = asdict(result)
    count_fixed(session, upload)
    _record_end(session, upload, "undone", upload.undo_result)
    publish(
        session,
        upload.partner_id,
        upload.organization_id,
        WebhookEvent.IMPORT_UNDONE,
        lambda: {
            **upload_payload(upload),
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
    """Stop the undo after a fault; undone changes stay undone, and the rest can be retried."""
    upload = _lock_running(session, import_id, undo_number)
    if upload is not None:
        upload.undo_status = STOPPED
        _record_end(session, upload, "undo_stopped", {"changes": upload.undo_done})


def _lock_running(session: Session, import_id: UUID, undo_number: int) -> ContactImport | None:
    upload = lock_upload(session, import_id)
    is_current = upload and upload.undo_status == UNDOING and upload.undo_number == undo_number
    return upload if is_current else None


def _outcome_values(upload: ContactImport, change: UndoneChange) -> dict[str, object]:
    return {
        "import_id": upload.id,
        "row_number": change.step.row_number,
        "undone": change.outcome,
        "fields_left": change.fields_left or None,
    }


def _record_end(
    session: Session, upload: ContactImport, verb: str, after: dict[str, object]
) -> None:
    audit.record_change(
        session,
        system_caller(upload.undo_author or upload.author, partner_id=upload.partner_id),
        f"upload.{verb}",
        upload,
        after=after,
    )
    session.flush()
