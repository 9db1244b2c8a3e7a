"""Jobs that ended with an error: listed, and run again."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import (
    ColumnElement,
    TableClause,
    and_,
    func,
    literal_column,
    select,
    true,
    update,
)
from sqlalchemy.orm import Session

from app.database import changed_rows
from app.gateways import dbos_adapter
from app.gateways.job_queue import engine_table, enqueue
from app.telemetry.scrubbing import scrub

MAX_ERROR_LENGTH = 300
"""Maximum characters of an error that is shown."""

_IS_FAILED: ColumnElement[bool] = and_(
    # Written out, so that the engine's index of failed work is used.
    literal_column("status IN ('ERROR', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED')"),
    literal_column("NOT was_forked_from"),
)
"""Jobs that failed and weren't run again."""


@dataclass(frozen=True, slots=True)
class FailedJob:
    """Work that ended with an error and isn't tried again. ``error`` is the error without personal
    data; None if the work was given up after it was interrupted too often."""

    id: str
    workflow: str
    queue: str
    at: datetime
    error: str | None


def count_failed(session: Session, since: datetime) -> int:
    """Return how many jobs enqueued since then failed for good."""
    work = engine_table(session, "workflow_status", "status", "created_at")
    query = select(func.count()).select_from(work).where(*_failed_conditions(work, since))
    return session.scalar(query) or 0


def newest_failed(session: Session, since: datetime, limit: int) -> list[FailedJob]:
    """Return the newest of the jobs that `count_failed` counts."""
    names = ("workflow_uuid", "name", "queue_name", "status", "created_at", "updated_at")
    work = engine_table(session, "workflow_status", *names, "error", "serialization")
    outcome = engine_table(session, "workflow_output", "workflow_uuid", "error")
    rows = session.execute(
        select(
            work.c.workflow_uuid,
            work.c.name,
            work.c.queue_name,
            work.c.updated_at,
            func.coalesce(outcome.c.error, work.c.error),
            work.c.serialization,
        )
        .outerjoin(outcome, outcome.c.workflow_uuid == work.c.workflow_uuid)
        .where(*_failed_conditions(work, since))
        .order_by(work.c.created_at.desc())
        .limit(limit)
    )
    return [
        FailedJob(
            job_id,
            name,
            queue,
            datetime.fromtimestamp(updated_at / 1000, UTC),
            _error_message(*error),
        )
        for job_id, name, queue, updated_at, *error in rows
    ]


def failed_workflow(session: Session, job_id: str) -> str | None:
    """Return the workflow of a failed job that wasn't run again; None if there is no such job."""
    work = engine_table(session, "workflow_status", "workflow_uuid", "name")
    query = select(work.c.name).where(work.c.workflow_uuid == job_id, _IS_FAILED)
    return session.scalar(query)


def run_again(session: Session, job_id: str) -> bool:
    """Enqueue the work of a failed job again, from its beginning; the job no longer counts as
    failed. Return False if it isn't failed, was run again meanwhile, or can't be read by this
    version."""
    names = ("workflow_uuid", "was_forked_from", "name", "queue_name", "queue_partition_key")
    work = engine_table(session, "workflow_status", *names, "inputs", "serialization")
    input_table = engine_table(session, "workflow_input", "workflow_uuid", "inputs")
    is_job = work.c.workflow_uuid == job_id
    result = update(work).where(is_job, _IS_FAILED).values(was_forked_from=true())
    if not changed_rows(session, result):
        return False
    name, queue, partition, *stored = session.execute(
        select(
            work.c.name,
            work.c.queue_name,
            work.c.queue_partition_key,
            func.coalesce(input_table.c.inputs, work.c.inputs),
            work.c.serialization,
        )
        .outerjoin(input_table, input_table.c.workflow_uuid == work.c.workflow_uuid)
        .where(is_job)
    ).one()
    inputs = dbos_adapter.inputs_of(*stored)
    if inputs is None:
        return False
    enqueue(session, queue, name, f"{job_id}:again", *inputs, partition=partition)
    return True


def _error_message(stored: str | None, serialization: str | None) -> str | None:
    error = dbos_adapter.error_of(stored, serialization) if stored else None
    if error is None:
        return None
    first_line = next(iter(str(error).splitlines()), "")
    return scrub(f"{type(error).__name__}: {first_line}")[:MAX_ERROR_LENGTH]


def _failed_conditions(work: TableClause, since: datetime) -> tuple[ColumnElement[bool], ...]:
    return _IS_FAILED, work.c.created_at >= int(since.timestamp() * 1000)
