"""Applying a checked upload, a batch at a time.

A batch is one transaction: the contacts, what became of its rows, the undo log, the counts and
how far it has come. Whoever is killed, the next one goes on exactly behind the last batch.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from app.caller import system_caller
from app.enums import ImportState
from app.models import (
    Campaign,
    ContactImport,
    ImportChange,
    ImportProblem,
    ImportRow,
    utcnow,
)
from app.services import audit, contacts
from app.services.contacts.results import CREATED, DELETED, FAILED, IGNORED, UPDATED, BulkResult
from app.services.imports import finishing
from app.services.imports.mapping import Mapping, Target
from app.services.imports.records import problem_values
from app.services.imports.rows import column_of

BATCH = 500
_GOOD = (CREATED, UPDATED, DELETED)


def apply_batch(session: Session, import_id: UUID, apply_number: int) -> bool:
    """Applies the next rows; False where there is nothing more to do.

    Only rows that the check found good are applied, in the file's order. A person's wish to stop
    is looked at first.
    """
    query = select(ContactImport).where(ContactImport.id == import_id).with_for_update()
    upload = session.scalars(query).one_or_none()
    if upload is None or upload.state is not ImportState.APPLYING:
        return False
    if upload.apply_number != apply_number:
        return False
    if upload.cancel_requested_at is not None:
        _end(session, upload, ImportState.CANCELLED)
        return False
    rows = session.scalars(
        select(ImportRow)
        .where(ImportRow.import_id == upload.id, ImportRow.outcome.in_(_GOOD))
        .where(ImportRow.row_number > upload.applied_to_row)
        .order_by(ImportRow.row_number)
        .limit(BATCH)
    ).all()
    if not rows:
        _end(session, upload, ImportState.DONE)
        return False
    result = contacts.apply(
        session,
        session.get_one(Campaign, upload.campaign_id),
        [row.contact for row in rows],
        upload.action,
        row_numbers=[row.row_number for row in rows],
        collect_changes=True,
    )
    _keep(session, upload, rows, result)
    return True


def fail(session: Session, import_id: UUID, apply_number: int, sentence: str) -> None:
    """Applying can't go on; what has been applied stays and the rest can be tried again."""
    query = select(ContactImport).where(ContactImport.id == import_id).with_for_update()
    upload = session.scalars(query).one_or_none()
    if upload and upload.state is ImportState.APPLYING and upload.apply_number == apply_number:
        upload.failure = sentence
        _end(session, upload, ImportState.FAILED)


def _keep(
    session: Session, upload: ContactImport, rows: Sequence[ImportRow], result: BulkResult
) -> None:
    ignored = {entry["index"]: entry["code"] for entry in result.ignored}
    for row, outcome in zip(rows, result.outcomes, strict=True):
        row.outcome = outcome
        if outcome == IGNORED:
            row.code = ignored[row.row_number]
        elif outcome == FAILED:
            row.code = result.problems[row.row_number][0].code
    _keep_problems(session, upload, {row.row_number: row for row in rows}, result)
    if result.changes:
        session.execute(
            insert(ImportChange),
            [
                {
                    "import_id": upload.id,
                    "row_number": change.row_number,
                    "contact_id": UUID(change.contact_id),
                    "action": change.action,
                    "before": change.before,
                    "after": change.after,
                }
                for change in result.changes
            ],
        )
    for name, count in result.counts.items():
        setattr(upload, name, getattr(upload, name) + count)
    upload.rows_applied += len(rows)
    upload.applied_to_row = rows[-1].row_number
    session.flush()


def _keep_problems(
    session: Session, upload: ContactImport, rows: dict[int, ImportRow], result: BulkResult
) -> None:
    """What is wrong now and was not when the file was checked: the campaign has changed."""
    if not result.problems:
        return
    mapping = Mapping(upload.columns, [Target.parse(text) for text in upload.mapping])
    held = session.execute(
        select(ImportProblem.row_number, func.max(ImportProblem.position))
        .where(ImportProblem.import_id == upload.id)
        .where(ImportProblem.row_number.in_(result.problems))
        .group_by(ImportProblem.row_number)
    )
    last = {number: position for number, position in held}  # noqa: C416 - rows are no pairs to the type checker
    session.execute(
        insert(ImportProblem),
        [
            problem_values(
                column_of(problem, rows[number].cells, rows[number].contact or {}, mapping),
                problem.code,
                problem.message,
                problem.field,
            )
            | {
                "import_id": upload.id,
                "row_number": number,
                "position": last.get(number, -1) + 1 + place,
            }
            for number, problems in result.problems.items()
            for place, problem in enumerate(problems)
        ],
    )


def _end(session: Session, upload: ContactImport, state: ImportState) -> None:
    upload.state, upload.finished_at, upload.lease_until = state, utcnow(), None
    audit.record(
        session,
        system_caller(upload.author, partner_id=upload.partner_id),
        action="upload.applied" if state is ImportState.DONE else f"upload.{state}",
        target_type="upload",
        target_id=upload.id,
        organization_id=upload.organization_id,
        target=upload.file_name,
        after={
            name: getattr(upload, name) for name in (CREATED, UPDATED, DELETED, IGNORED, FAILED)
        },
    )
    session.flush()
    if state is not ImportState.CANCELLED:  # whoever stopped it knows
        finishing.tell(session, upload)
