"""Checking and applying uploaded contact files as durable workflows.

Both may be killed at any moment: a check begins again, applying goes on behind its last batch.
"""

import logging
import time
from uuid import UUID

from dbos import DBOS

from app.database import Database
from app.gateways.files import FileStore
from app.jobs.context import context
from app.jobs.resilience import retry_on_database_outage
from app.services.imports import applying, bulk_rows, checking, leases, trial
from app.services.imports.checking import Superseded, Task
from app.services.imports.reading import UnreadableFile, open_table, reading_one_of

log = logging.getLogger(__name__)

LONGEST_PAUSE = 0.1
COUNTED_FROM = 4
"""Contacts are counted after so many batches, and each time that they have doubled."""
CHECK_FAILED = (
    "The file could not be checked because of a fault on our side, which has been noted. "
    "Nothing was changed. Upload the file again."
)
FILE_GONE = "The file is not kept any more. Nothing was changed. Upload it again."
APPLY_FAILED = (
    "Applying stopped because of a fault on our side, which has been noted. "
    "What was applied until then stays; the other rows were not touched."
)


@DBOS.workflow(name="check_import")
def check_import(import_id: str, check_number: str) -> None:
    """Finds out what applying an upload would do."""
    try:
        check(import_id, check_number)
    except Exception:
        log.exception("an upload could not be checked")
        give_up_check(import_id, check_number)


@DBOS.workflow(name="apply_import")
def apply_import(import_id: str, apply_number: str) -> None:
    """Applies the good rows of an upload, batch by batch."""
    try:
        apply(import_id, apply_number)
    except Exception:
        log.exception("an upload could not be applied")
        give_up_apply(import_id, apply_number)


@DBOS.step(name="check_import")
@retry_on_database_outage
def check(import_id: str, check_number: str) -> None:
    """The whole check; done again from the beginning where it was cut off."""
    own = context()
    most = own.settings.max_import_rows
    run_check(own.bulk_database, own.files, UUID(import_id), int(check_number), max_rows=most)


@DBOS.step(name="apply_import")
def apply(import_id: str, apply_number: str) -> None:
    """All batches that are left."""
    run_apply(context().bulk_database, UUID(import_id), int(apply_number))


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


def take_over(database: Database) -> None:
    """Goes on with what a command had begun that is gone."""
    with database.transaction(read_only=True) as session:
        left = leases.left_behind(session)
    for import_id in left:
        with database.transaction() as session:
            if leases.take_over(session, import_id):
                log.warning("took over an import from a command that is gone")


def run_check(
    database: Database,
    files: FileStore,
    import_id: UUID,
    check_number: int,
    *,
    max_rows: int = checking.MAX_ROWS,
) -> None:
    """Checks the file; what is wrong with the whole of it becomes the upload's failure."""
    with database.transaction() as session:
        task = checking.begin(session, import_id, check_number, max_rows=max_rows)
    if task is None:
        return
    try:
        _check(database, files, task)
    except Superseded:
        return
    except (UnreadableFile, FileNotFoundError) as error:
        _refuse(database, task, check_number, error)


def _refuse(
    database: Database, task: Task, check_number: int, error: UnreadableFile | FileNotFoundError
) -> None:
    """What is wrong may stand far down in the file: nothing is kept of the rows above it."""
    try:
        _forget_rows(database, task)
    except Superseded:
        return
    refusal = error if isinstance(error, UnreadableFile) else None
    sentence = refusal.message if refusal else FILE_GONE
    with database.transaction() as session:
        checking.fail(session, task.import_id, check_number, sentence, refusal)


def run_apply(database: Database, import_id: UUID, apply_number: int) -> None:
    """Applies batch after batch, each in a transaction of its own."""

    @retry_on_database_outage
    def batch() -> bool:
        with database.transaction() as session:
            return applying.apply_batch(session, import_id, apply_number, size)

    began, batches, size = time.monotonic(), 0, applying.BATCH
    while batch():
        size = applying.next_size(size, time.monotonic() - began)
        batches += 1
        if batches >= COUNTED_FROM and batches.bit_count() == 1:
            with database.transaction() as session:
                bulk_rows.count_contacts(session)
        _give_way(database, time.monotonic() - began)
        began = time.monotonic()


def _give_way(database: Database, seconds: float) -> None:
    """SQLite lets one write at a time: others have their turn for half as long as a batch took."""
    if database.is_sqlite:
        time.sleep(min(seconds / 2, LONGEST_PAUSE))


def _check(database: Database, files: FileStore, task: Task) -> None:
    path = files.path(task.file_key)
    opened = open_table(path, name=task.file_name, options=task.order.options)
    with opened as table, reading_one_of(table.sheets):
        _forget_rows(database, task)
        with database.transaction(read_only=True) as session:
            attempt = trial.prepare(session, task.order, table)
        with attempt:
            for chunk in attempt.chunks():
                with database.transaction(read_only=True) as session:
                    records = attempt.records(session, task.import_id, chunk)
                with database.transaction() as session:
                    checking.keep(session, task, records)
        with database.transaction() as session:
            checking.weigh(session, attempt)
        with database.transaction() as session:
            checking.finish(session, task, attempt)
            leases.apply_unattended(session, task.import_id)


def _forget_rows(database: Database, task: Task) -> None:
    while True:
        with database.transaction() as session:
            if not checking.forget_rows(session, task):
                return
