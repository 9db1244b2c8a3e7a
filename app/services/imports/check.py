"""Store the check of an uploaded file: its rows, their outcomes, and its end.

`preview` works out the effects of applying; each row is stored with its outcome, one chunk per
transaction. The order of the steps is in `pipeline`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import update
from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.contact_files import FileLimits, ReadOptions, UnreadableFile
from app.database import changed_rows
from app.enums import ImportStatus
from app.models import ContactImport, ImportBlock, ImportProblem, ImportRow, utcnow
from app.services import storage
from app.services.contacts.results import UPDATED
from app.services.imports.corrections import corrections_of
from app.services.imports.kinds import UNCHANGED
from app.services.imports.packing import PackedRow, RowPacker, block_of
from app.services.imports.preview import ImportOrder, ImportPreview
from app.services.imports.records import RowRecord, analyze_rows, delete_some, insert_rows
from app.services.imports.uploads import lock_upload

MAX_ROWS = 1_000_000
_FORGET_BATCH = 5000
"""Row numbers deleted at once, not rows: a repeated check deletes the rows of the previous one."""


_MANY_ROWS = 10_000
_STORAGE = StorageDefaults()


class CheckSuperseded(Exception):
    """Another run has taken over this check, or the upload was cancelled. Nothing is written."""


@dataclass(frozen=True, slots=True)
class CheckTask:
    """A check that has started, with the data that it needs outside a transaction."""

    import_id: UUID
    run: UUID
    file_key: str
    file_name: str
    order: ImportOrder


def start(
    session: Session,
    import_id: UUID,
    check_number: int,
    *,
    max_rows: int = MAX_ROWS,
    storage_defaults: StorageDefaults = _STORAGE,
) -> CheckTask | None:
    """Take over the check; return None if a later check was requested or none is needed. A check
    over the storage limit fails."""
    upload = lock_upload(session, import_id)
    if upload is None or upload.check_number != check_number:
        return None
    if upload.status not in (ImportStatus.UPLOADED, ImportStatus.READING):
        return None
    upload.status, upload.check_run, upload.rows_total = ImportStatus.READING, uuid4(), 0
    upload.packed, upload.stored_bytes = None, 0
    session.flush()
    if storage.is_over_limit(session, upload, storage_defaults):
        fail(session, upload.id, check_number, storage.STORAGE_FULL)
        upload.stored_bytes = None  # rows of an earlier check are still there
        return None
    return CheckTask(
        import_id=upload.id,
        run=upload.check_run,
        file_key=upload.file_key,
        file_name=upload.file_name,
        order=ImportOrder(
            campaign_id=upload.campaign_id,
            action=upload.action,
            options=options_of(upload.read_options, max_rows),
            columns=upload.columns,
            mapping=upload.mapping,
            repairs=frozenset(upload.repairs),
            region=upload.read_options.get("region"),
            phone_order=upload.read_options.get("phoneOrder", ()),
            by_hand=upload.read_options.get("byHand", False),
            corrections=corrections_of(session, upload.id),
        ),
    )


def options_of(stored: Mapping[str, Any], max_rows: int) -> ReadOptions:
    """Return the reading options of a user from their stored form."""
    return ReadOptions(
        encoding=stored.get("encoding"),
        delimiter=stored.get("delimiter"),
        header_row=stored.get("headerRow"),
        sheet=stored.get("sheet"),
        limits=FileLimits(rows=max_rows),
    )


def delete_earlier_rows(session: Session, task: CheckTask) -> bool:
    """Delete some of the rows of an earlier check; return False when there are none left."""
    _lock_upload(session, task)
    models = (ImportProblem, ImportBlock, ImportRow)
    return delete_some(session, task.import_id, models, _FORGET_BATCH)


def store_rows(
    session: Session, task: CheckTask, listed: list[RowRecord], packed: list[PackedRow]
) -> None:
    """Store the next rows as `RowPacker.split` returns them. Raises `CheckSuperseded`."""
    upload = _lock_upload(session, task)
    size = insert_rows(session, ImportRow, [record.row for record in listed])
    size += insert_rows(session, ImportProblem, [p for record in listed for p in record.problems])
    if packed:
        block = block_of(task.import_id, packed)
        session.add(block)
        size += len(block.content)
    upload.rows_total += len(listed) + sum(entry.row is not None for entry in packed)
    upload.stored_bytes = (upload.stored_bytes or 0) + size


def mark_unchanged(
    session: Session, task: CheckTask, planned: ImportPreview, numbers: Sequence[int]
) -> None:
    """Count updating rows as unchanged. Raises `CheckSuperseded`."""
    _lock_upload(session, task)
    planned.equal += changed_rows(
        session,
        update(ImportRow)
        .where(ImportRow.import_id == task.import_id, ImportRow.row_number.in_(numbers))
        .where(ImportRow.outcome == UPDATED, ImportRow.code.is_(None))
        .values(code=UNCHANGED),
    )


def analyze_tables(session: Session, planned: ImportPreview) -> None:
    """Update the database's statistics after many rows, in its own transaction, because it is
    slow."""
    if planned.rows >= _MANY_ROWS:
        analyze_rows(session)


def finish(session: Session, task: CheckTask, planned: ImportPreview, packer: RowPacker) -> None:
    """End the check with its counts and how the file was read. Raises `CheckSuperseded`."""
    upload, table = _lock_upload(session, task), planned.table
    upload.status, upload.checked_at, upload.failure = ImportStatus.CHECKED, utcnow(), None
    upload.file_kind = table.kind
    upload.found = planned.found()
    upload.columns = list(table.header)
    upload.samples = planned.samples
    upload.mapping = [str(target) for target in planned.settings.mapping.targets]
    upload.rows_total = planned.rows
    upload.rows_skipped = table.blank_rows + table.footer_rows
    upload.campaign_revision = planned.revision
    upload.packed = packer.found()
    for name, count in planned.counts.items():
        setattr(upload, name, count)


def fail(
    session: Session,
    import_id: UUID,
    check_number: int,
    sentence: str,
    refusal: UnreadableFile | None = None,
) -> None:
    """End the check with a failure, for the reason in the sentence. Nothing was changed."""
    upload = lock_upload(session, import_id)
    unfinished = (ImportStatus.UPLOADED, ImportStatus.READING)
    if upload and upload.check_number == check_number and upload.status in unfinished:
        upload.status, upload.failure = ImportStatus.FAILED, str(sentence)  # a lazy message too
        upload.finished_at = utcnow()
        upload.check_run = None
        if refusal is not None:
            upload.found = {"refusal": {"kind": refusal.code, "row": refusal.row}}
            if refusal.sheets:
                upload.found |= {"sheets": list(refusal.sheets)}


def _lock_upload(session: Session, task: CheckTask) -> ContactImport:
    upload = lock_upload(session, task.import_id)
    if upload is None or upload.check_run != task.run or upload.status is not ImportStatus.READING:
        raise CheckSuperseded
    return upload
