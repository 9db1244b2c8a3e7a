"""Apply the good rows of a checked upload, a batch at a time.

A batch is one transaction: the contacts, the outcome of its rows, the undo log, the counts and the
position. After a crash, applying continues right after the last batch.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Text, case, cast, func, select, update
from sqlalchemy.orm import Session, aliased

from app.enums import ImportStatus, WebhookEvent
from app.models import (
    Campaign,
    ContactImport,
    ImportChange,
    ImportProblem,
    ImportRow,
    MailKind,
    User,
    utcnow,
)
from app.policy.caller import Caller, system_caller
from app.services import audit, contacts, mail_queue, notifications
from app.services.contacts.results import CREATED, DELETED, UPDATED, BulkResult
from app.services.imports.corrected_files import count_fixed
from app.services.imports.kinds import UNCHANGED
from app.services.imports.mapping import ColumnTarget, HeaderMapping
from app.services.imports.records import column_of, insert_rows, problem_values
from app.services.imports.uploads import CHANGED_BACK, counts_of, figures_of, lock_upload
from app.services.webhooks.publishing import publish

BATCH_SIZE = 500
MIN_BATCH_SIZE = 250
"""Minimum rows of a batch: smaller ones block others for as long, because of their fixed cost."""
BATCH_SECONDS = 0.1
"""How long a batch may block other writers."""
_APPLICABLE = (CREATED, UPDATED, DELETED)
WORTH_A_MAIL = timedelta(minutes=1)
"""Minimum duration of an import for a mail and a notification; after a shorter one its author is
still on the page."""


def next_size(size: int, seconds: float) -> int:
    """Return the size of the next batch: half after a slow one, twice after a fast one."""
    if seconds > BATCH_SECONDS:
        return max(MIN_BATCH_SIZE, size // 2)
    return min(BATCH_SIZE, size * 2) if seconds < BATCH_SECONDS / 2 else size


def apply_batch(
    session: Session, import_id: UUID, apply_number: int, size: int | None = None
) -> bool:
    """Apply the next ``size`` rows (`BATCH_SIZE`); return False when only `finish` is left.

    Only rows that the check found good are applied, in the order of the file. A request to stop is
    handled first.
    """
    upload = _lock_running(session, import_id, apply_number)
    if upload is None or upload.cancel_requested_at is not None:
        return False
    rows = _next_rows(session, upload, size or BATCH_SIZE)
    if not rows:
        return False
    upload.applied_to_row = rows[-1].number
    rows = [row for row in rows if row.outcome in _APPLICABLE]
    if not rows:
        return True
    result = contacts.apply(
        session,
        session.get_one(Campaign, upload.campaign_id),
        [orjson.loads(row.contact) for row in rows],
        upload.action,
        row_numbers=[row.number for row in rows],
        collect_changes=True,
    )
    _store_outcomes(session, upload, rows, result)
    return True


def count_changed_back(session: Session, import_id: UUID) -> int:
    """Count the applied rows that change a contact which is at the end what it was before them."""
    if not session.get_one(ContactImport, import_id).updated:
        return 0
    differs = cast(ImportChange.before, Text).is_distinct_from(cast(ImportChange.after, Text))
    changes = func.sum(case((differs, 1), else_=0)).label("changes")
    repeated = (
        select(
            func.min(ImportChange.row_number).label("first"),
            func.max(ImportChange.row_number).label("last"),
            changes,
        )
        .where(ImportChange.import_id == import_id)
        .group_by(ImportChange.contact_id)
        .having(changes > 1)
        .subquery()
    )
    first, last = aliased(ImportChange), aliased(ImportChange)
    query = (
        select(first.before, last.after, repeated.c.changes)
        .join(first, first.row_number == repeated.c.first)
        .join(last, last.row_number == repeated.c.last)
        .where(first.import_id == import_id, last.import_id == import_id)
        .where(first.before.is_not(None), last.after.is_not(None))
    )
    rows = session.execute(query, execution_options={"yield_per": BATCH_SIZE})
    return sum(
        changes
        for before, after, changes in rows
        if all(before.get(name) == value for name, value in after.items())  # before may log more
    )


def finish(session: Session, import_id: UUID, apply_number: int, changed_back: int) -> None:
    """End applying after its last row, or because a user stops it; ``changed_back`` is the result
    of `count_changed_back`."""
    upload = _lock_running(session, import_id, apply_number)
    if upload is None:
        return
    upload.found = upload.found | {CHANGED_BACK: changed_back}
    is_stopped = upload.cancel_requested_at is not None
    _end(session, upload, ImportStatus.CANCELLED if is_stopped else ImportStatus.DONE)


def _lock_running(session: Session, import_id: UUID, apply_number: int) -> ContactImport | None:
    upload = lock_upload(session, import_id)
    if upload is None or upload.status is not ImportStatus.APPLYING:
        return None
    return upload if upload.apply_number == apply_number else None


class _CheckedRow(NamedTuple):
    """A row, its outcome in the check, and its contact as JSON."""

    number: int
    outcome: str
    contact: str


def _next_rows(session: Session, upload: ContactImport, size: int) -> list[_CheckedRow]:
    contact = cast(ImportRow.contact, Text)  # decoded here, in a fraction of the ORM's time
    # Outcomes are filtered below: in the query, the databases may choose another index and sort the
    # rest of the file for each batch.
    rows = session.execute(
        select(ImportRow.row_number, contact, ImportRow.outcome)
        .where(ImportRow.import_id == upload.id, ImportRow.row_number > upload.applied_to_row)
        .order_by(ImportRow.row_number)
        .limit(size)
    )
    return [_CheckedRow(number, outcome, text) for number, text, outcome in rows]


def fail(session: Session, import_id: UUID, apply_number: int, sentence: str) -> None:
    """Stop applying after a fault; applied rows stay, and the rest can be retried."""
    upload = _lock_running(session, import_id, apply_number)
    if upload is not None:
        upload.failure = str(sentence)  # a lazy message too
        _end(session, upload, ImportStatus.FAILED)


def _store_outcomes(
    session: Session, upload: ContactImport, rows: Sequence[_CheckedRow], result: BulkResult
) -> None:
    ignored = {entry["index"]: entry["code"] for entry in result.ignored}
    codes = {number: problems[0].code for number, problems in result.problems.items()} | ignored
    changed_outcomes = [
        {
            "import_id": upload.id,
            "row_number": row.number,
            "outcome": outcome,
            "code": codes.get(row.number),
        }
        for row, outcome in zip(rows, result.outcomes, strict=True)
        if outcome != row.outcome
    ]
    if changed_outcomes:
        session.execute(update(ImportRow), changed_outcomes)
    if result.problems:
        _store_problems(session, upload, result)
    changes = [
        {
            "import_id": upload.id,
            "row_number": change.row_number,
            "contact_id": change.contact_id,
            "action": change.action,
            "before": change.before,
            "after": change.after,
        }
        for change in result.changes
    ]
    size = insert_rows(session, ImportChange, changes)
    upload.stored_bytes = (upload.stored_bytes or 0) + size
    for name, count in result.counts.items():
        setattr(upload, name, getattr(upload, name) + count)
    if unchanged := sum(change.before == change.after for change in result.changes):
        unchanged += upload.found.get(UNCHANGED, 0)
        upload.found = upload.found | {UNCHANGED: unchanged}
    upload.rows_applied += len(rows)
    session.flush()


def _store_problems(session: Session, upload: ContactImport, result: BulkResult) -> None:
    """Keep the problems that are new since the check because the campaign has changed."""
    mapping = HeaderMapping(upload.columns, [ColumnTarget.parse(text) for text in upload.mapping])
    last_positions = session.execute(
        select(ImportProblem.row_number, func.max(ImportProblem.position))
        .where(ImportProblem.import_id == upload.id)
        .where(ImportProblem.row_number.in_(result.problems))
        .group_by(ImportProblem.row_number)
    )
    last = dict(last_positions.all())
    rows = session.scalars(
        select(ImportRow)
        .where(ImportRow.import_id == upload.id)
        .where(ImportRow.row_number.in_(result.problems))
    )
    problems = [
        problem_values(
            column_of(problem, row.cells, row.contact or {}, mapping),
            problem.code,
            problem.message,
            problem.field,
        )
        | {
            "import_id": upload.id,
            "row_number": row.row_number,
            "position": last.get(row.row_number, -1) + 1 + index,
        }
        for row in rows
        for index, problem in enumerate(result.problems[row.row_number])
    ]
    insert_rows(session, ImportProblem, problems)


def _end(session: Session, upload: ContactImport, status: ImportStatus) -> None:
    upload.status, upload.finished_at, upload.lease_until = status, utcnow(), None
    count_fixed(session, upload)
    audit.record_change(
        session,
        _applied_by(upload),
        "upload.applied" if status is ImportStatus.DONE else f"upload.{status}",
        upload,
        after=figures_of(upload),
    )
    session.flush()
    publish(
        session,
        upload.partner_id,
        upload.organization_id,
        WebhookEvent.IMPORT_FINISHED,
        lambda: {**upload_payload(upload), "state": status.value, "finishedAt": upload.finished_at},
    )
    if status is not ImportStatus.CANCELLED:  # the user who stopped it knows
        notify_author(session, upload)


def _applied_by(upload: ContactImport) -> Caller:
    """Return the application; if the upload was quick to apply, with its author as subject, who is
    not notified."""
    caller = system_caller(upload.author, partner_id=upload.partner_id)
    is_quick = upload.status is ImportStatus.DONE and not _was_slow(upload)
    return replace(caller, subject_id=upload.created_by) if is_quick else caller


def _was_slow(upload: ContactImport) -> bool:
    """Return whether the author may have left the page."""
    started, finished = upload.apply_started_at, upload.finished_at
    return started is not None and finished is not None and finished - started >= WORTH_A_MAIL


def upload_payload(upload: ContactImport) -> dict[str, Any]:
    """Return the facts of an upload for webhooks: names and results, no contact data."""
    return {
        "importId": upload.id,
        "organizationId": upload.organization_id,
        "campaignId": upload.campaign_id,
        "fileName": upload.file_name,
        "action": upload.action.value,
        "rows": upload.rows_total,
        "rowsApplied": upload.rows_applied,
        **counts_of(upload),
    }


def notify_author(session: Session, upload: ContactImport) -> None:
    """Mail the author that the import has ended, unless it was quick or the mail is turned off."""
    user = session.get(User, upload.created_by) if upload.created_by else None
    if user is None or not _was_slow(upload):
        return
    if not notifications.wants_mail(user, notifications.IMPORT_FINISHED):
        return
    mail_queue.enqueue(
        session,
        MailKind.IMPORT_FINISHED,
        partner_id=user.partner_id,
        user_id=user.id,
        details={
            **figures_of(upload),
            "uploadId": str(upload.id),
            "file": upload.file_name,
            "campaign": session.get_one(Campaign, upload.campaign_id).name,
            "state": upload.status.value,
            "rows": upload.rows_applied,
            "total": upload.rows_total,
        },
    )
