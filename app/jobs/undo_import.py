"""Undoing an upload as a durable workflow, which goes on behind its last batch when killed."""

import logging
import time
from uuid import UUID

from dbos import DBOS

from app.database import Database
from app.jobs.context import context
from app.jobs.resilience import retry_on_database_outage
from app.services.imports import undo_sums, undoing

log = logging.getLogger(__name__)

PAUSE_SECONDS = 0.02
"""Between two batches: on SQLite others want to write too."""


@DBOS.workflow(name="undo_import")
def undo_import(import_id: str, undo_number: str) -> None:
    """Takes back what an upload has changed, batch by batch."""
    try:
        undo(import_id, undo_number)
    except Exception:
        log.exception("an upload could not be undone")
        give_up_undo(import_id, undo_number)


@DBOS.step(name="undo_import")
def undo(import_id: str, undo_number: str) -> None:
    """All batches that are left."""
    run_undo(context().bulk_database, UUID(import_id), int(undo_number))


@DBOS.step(name="give_up_undo")
@retry_on_database_outage
def give_up_undo(import_id: str, undo_number: str) -> None:
    with context().database.transaction() as session:
        undoing.stop(session, UUID(import_id), int(undo_number))


def run_undo(database: Database, import_id: UUID, undo_number: int) -> None:
    """Undoes batch after batch, each in a transaction of its own, and says how it went."""

    @retry_on_database_outage
    def batch() -> bool:
        with database.transaction() as session:
            return undoing.undo_batch(session, import_id, undo_number)

    @retry_on_database_outage
    def finish() -> None:
        with database.transaction(read_only=True) as session:
            result = undo_sums.sums(session, import_id)
        with database.transaction() as session:
            undoing.finish(session, import_id, undo_number, result)

    while batch():
        time.sleep(PAUSE_SECONDS)
    finish()
