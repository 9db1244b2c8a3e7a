"""The way of a contact file: from its bytes to the campaign, and back.

1. Read: `contact_files.open_table` turns the bytes of any format into numbered rows of text;
   `ImportPreview.read` gives them a thousand at a time, with the cells that people corrected.
2. Map: `preview.prepare` decides what each column becomes, `ImportPreview.map_rows` turns each row
   into a contact with notes on its cells.
3. Plan: `ImportPreview.plan` tries the contacts out against the campaign and the rows before
   them, and says what applying would do to each row.
4. Check: `check.store_rows` stores the rows with their outcome, for people to review and correct.
   Of a file with very many problems, only the first are listed one by one (`packing`). At the end,
   `check.mark_unchanged` marks the rows of a contact that the file leaves as it was.
5. Apply: `apply.apply_batch` writes the good rows to the campaign, and an undo log.
6. Undo: `undo.undo_batch` takes the changes of that log back, the last row first.

A file is too long for one transaction, so these functions open one for each step. All of them may
be killed at any moment: a check begins again, applying and undoing go on after their last batch.
"""

import time
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol, TypeVar, cast
from uuid import UUID

from app.config.limits import StorageDefaults
from app.contact_files import UnreadableFile, open_table, reading_one_of
from app.database import Database
from app.errors import Sentence
from app.gateways.files import FileStore
from app.services.imports import apply, check, preview, records, steps, undo
from app.services.imports.check import CheckSuperseded, CheckTask
from app.services.imports.packing import RowPacker
from app.services.imports.preview import ImportPreview
from app.services.imports.records import RowRecord

_STORAGE = StorageDefaults()
FILE_GONE = Sentence.gettext(
    "The file is no longer available. Nothing was changed. Upload it again."
)
MAX_PAUSE_SECONDS = 0.1
UNDO_PAUSE_SECONDS = 0.02
"""Seconds between two batches: on SQLite others need to write, too."""
ANALYZED_FROM = 4
"""The batch from which contacts are analyzed, and then each time that their number has doubled."""

T = TypeVar("T")


class RetryWrapper(Protocol):
    """Wraps work so that it is repeated while the database can't be reached."""

    def __call__(self, work: Callable[[], T], /) -> Callable[[], T]: ...


def without_retry(work: Callable[[], T], /) -> Callable[[], T]:
    """Retry nothing."""
    return work


def check_file(
    database: Database,
    files: FileStore,
    import_id: UUID,
    check_number: int,
    *,
    max_rows: int = check.MAX_ROWS,
    storage_defaults: StorageDefaults = _STORAGE,
) -> None:
    """Check an uploaded file: the effects of applying it are stored row by row.

    Problems of the whole file become the upload's failure.
    """
    with database.transaction() as session:
        task = check.start(
            session,
            import_id,
            check_number,
            max_rows=max_rows,
            storage_defaults=storage_defaults,
        )
    if task is None:
        return
    try:
        _check(database, files, task)
    except CheckSuperseded:
        return
    except (UnreadableFile, FileNotFoundError) as error:
        _refuse(database, task, check_number, error)


def _check(database: Database, files: FileStore, task: CheckTask) -> None:
    file = cast(BinaryIO, files.fetch(task.file_key))
    opened = open_table(file, name=task.file_name, options=task.order.options)
    with opened as table, reading_one_of(table.sheets):
        _delete_earlier_rows(database, task)
        with database.transaction(read_only=True) as session:
            planned = preview.prepare(session, task.order, table)
        with planned:
            packer = RowPacker()
            for chunk in preview_rows(database, planned, task.import_id):
                listed, packed = packer.split(chunk)
                with database.transaction() as session:
                    check.store_rows(session, task, listed, packed)
            for numbers in planned.rows_without_effect():
                with database.transaction() as session:
                    check.mark_unchanged(session, task, planned, numbers)
        with database.transaction() as session:
            check.analyze_tables(session, planned)
        with database.transaction() as session:
            check.finish(session, task, planned, packer)
            steps.apply_unattended(session, task.import_id)


def preview_rows(
    database: Database, planned: ImportPreview, import_id: UUID
) -> Iterator[list[RowRecord]]:
    """Read, map and plan the rows of an open file, a chunk at a time. Raises `UnreadableFile`."""
    for rows in planned.read():
        mapped = planned.map_rows(rows)
        with database.transaction(read_only=True) as session:
            chunk = planned.plan(session, import_id, mapped)
        yield chunk


def apply_rows(
    database: Database, import_id: UUID, apply_number: int, *, retry: RetryWrapper = without_retry
) -> None:
    """Apply the remaining good rows, each batch in its own transaction."""

    @retry
    def batch() -> bool:
        with database.transaction() as session:
            return apply.apply_batch(session, import_id, apply_number, size)

    @retry
    def finish() -> None:
        with database.transaction(read_only=True) as session:
            changed_back = apply.count_changed_back(session, import_id)
        with database.transaction() as session:
            apply.finish(session, import_id, apply_number, changed_back)

    began, batches, size = time.monotonic(), 0, apply.BATCH_SIZE
    while batch():
        size = apply.next_size(size, time.monotonic() - began)
        batches += 1
        if batches >= ANALYZED_FROM and batches.bit_count() == 1:
            with database.transaction() as session:
                records.analyze_contacts(session)
        _yield_to_other_writers(database, time.monotonic() - began)
        began = time.monotonic()
    finish()


def undo_rows(
    database: Database, import_id: UUID, undo_number: int, *, retry: RetryWrapper = without_retry
) -> None:
    """Undo the remaining changes, each batch in its own transaction, and sum them up."""

    @retry
    def batch() -> bool:
        with database.transaction() as session:
            return undo.undo_batch(session, import_id, undo_number)

    @retry
    def finish() -> None:
        with database.transaction(read_only=True) as session:
            result = undo.totals_of(session, import_id)
        with database.transaction() as session:
            undo.finish(session, import_id, undo_number, result)

    while batch():
        time.sleep(UNDO_PAUSE_SECONDS)
    finish()


def _refuse(
    database: Database,
    task: CheckTask,
    check_number: int,
    error: UnreadableFile | FileNotFoundError,
) -> None:
    """Delete the rows above a problem of the whole file, which may be found late."""
    try:
        _delete_earlier_rows(database, task)
    except CheckSuperseded:
        return
    refusal = error if isinstance(error, UnreadableFile) else None
    message = refusal.message if refusal else FILE_GONE()
    with database.transaction() as session:
        check.fail(session, task.import_id, check_number, message, refusal)


def _delete_earlier_rows(database: Database, task: CheckTask) -> None:
    while True:
        with database.transaction() as session:
            if not check.delete_earlier_rows(session, task):
                return


def _yield_to_other_writers(database: Database, seconds: float) -> None:
    """SQLite lets one write at a time: others have their turn for half as long as a batch took."""
    if database.is_sqlite:
        time.sleep(min(seconds / 2, MAX_PAUSE_SECONDS))
