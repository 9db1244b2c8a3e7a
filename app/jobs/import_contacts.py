"""Durable workflows that check, apply and undo uploaded contact files.

They may be killed at any moment and continue: see `app.services.imports.pipeline`.
"""

import logging
from collections.abc import Callable
from uuid import UUID

from dbos import DBOS

from app.database import Database
from app.gateways.files.outages import retry_on_file_outage
from app.jobs import purging
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services.imports import apply as applying
from app.services.imports import check as checking
from app.services.imports import pipeline, steps
from app.services.imports import undo as undoing
from app.telemetry import metrics

log = logging.getLogger(__name__)

CHECK_FAILED = (
    "The file could not be checked because of an error on our side, which was logged. "
    "Nothing was changed. Upload the file again."
)
APPLY_FAILED = (
    "Applying stopped because of an error on our side, which was logged. "
    "Rows applied so far stay. The others were not touched."
)

_Step = Callable[..., None]


@DBOS.workflow(name="check_import")
@observe_job
def check_import(import_id: str, check_number: str) -> None:
    """Find out what applying an upload would do."""
    _run("check", "an upload could not be checked", check, give_up_check, import_id, check_number)


@DBOS.workflow(name="apply_import")
@observe_job
def apply_import(import_id: str, apply_number: str) -> None:
    """Apply the good rows of an upload, batch by batch."""
    _run("apply", "an upload could not be applied", apply, give_up_apply, import_id, apply_number)


@DBOS.workflow(name="undo_import")
@observe_job
def undo_import(import_id: str, undo_number: str) -> None:
    """Undo what an upload has changed, batch by batch."""
    _run("undo", "an upload could not be undone", undo, give_up_undo, import_id, undo_number)


def _run(name: str, problem: str, work: _Step, give_up: _Step, *args: str) -> None:
    try:
        work(*args)
        metrics.IMPORTS.labels(name, "ok").inc()
    except Exception:
        metrics.IMPORTS.labels(name, "failed").inc()
        log.exception(problem)
        give_up(*args)


@DBOS.workflow(name="delete_upload_data")
@observe_job
def delete_upload_data(import_id: str) -> None:
    """Delete the file, the rows and the undo log of an upload, and free their space."""
    delete_data(import_id)


@DBOS.step(name="check_import")
@retry_on_database_outage
@retry_on_file_outage
def check(import_id: str, check_number: str) -> None:
    """Run the whole check; after an interruption it starts again."""
    worker = context()
    pipeline.check_file(
        worker.bulk_database,
        worker.files,
        UUID(import_id),
        int(check_number),
        max_rows=worker.settings.max_import_rows,
        storage_defaults=worker.settings.storage_defaults,
    )


@DBOS.step(name="apply_import")
def apply(import_id: str, apply_number: str) -> None:
    """Apply the remaining batches."""
    pipeline.apply_rows(
        context().bulk_database, UUID(import_id), int(apply_number), retry=retry_on_database_outage
    )


@DBOS.step(name="undo_import")
def undo(import_id: str, undo_number: str) -> None:
    """Undo the remaining batches."""
    pipeline.undo_rows(
        context().bulk_database, UUID(import_id), int(undo_number), retry=retry_on_database_outage
    )


@DBOS.step(name="delete_upload_data")
@retry_on_database_outage
@retry_on_file_outage
def delete_data(import_id: str) -> None:
    worker = context()
    purging.delete_upload(worker.bulk_database, worker.files, UUID(import_id))
    worker.database.release_space()


@DBOS.step(name="give_up_check")
@retry_on_database_outage
def give_up_check(import_id: str, check_number: str) -> None:
    with context().database.transaction() as session:
        checking.fail(session, UUID(import_id), int(check_number), CHECK_FAILED)


@DBOS.step(name="give_up_apply")
@retry_on_database_outage
def give_up_apply(import_id: str, apply_number: str) -> None:
    with context().database.transaction() as session:
        applying.fail(session, UUID(import_id), int(apply_number), APPLY_FAILED)


@DBOS.step(name="give_up_undo")
@retry_on_database_outage
def give_up_undo(import_id: str, undo_number: str) -> None:
    with context().database.transaction() as session:
        undoing.stop(session, UUID(import_id), int(undo_number))


def take_over(database: Database) -> None:
    """Continue imports whose command has died."""
    with database.transaction(read_only=True) as session:
        import_ids = steps.expired_leases(session)
    for import_id in import_ids:
        with database.transaction() as session:
            if steps.take_over(session, import_id):
                log.warning("took over an import from a command that is gone")
