"""The worker's periodic tasks that delete what has expired: mails, deliveries, uploads, recordings,
exports, and files that nothing refers to."""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

from sqlalchemy.orm import Session

from app.database import Database
from app.enums import RetentionKind
from app.gateways.files import FileStore
from app.gateways.mailers import open_outbox
from app.jobs.context import context
from app.services import exports, retention
from app.services.imports import deletion, expiry
from app.services.recordings import retention as recording_retention

log = logging.getLogger(__name__)


def purge_outbox() -> None:
    """Remove mails, first their rows, then those that are kept as files."""
    settings = context().settings
    _purge_by_retention(RetentionKind.MAILS, settings.mail_days, retention.purge_mails)
    outbox, now = open_outbox(settings), datetime.now(UTC)
    with context().database.transaction(read_only=True) as session:
        shorter = retention.shorter_periods(session, RetentionKind.MAILS, settings.mail_days)
    outbox.purge(now - timedelta(days=settings.mail_days))
    for partner_id, days in shorter.items():
        outbox.purge(now - timedelta(days=days), partner_id)


def purge_deliveries() -> None:
    """Delete expired deliveries of webhooks."""
    days = context().settings.webhook_days
    _purge_by_retention(RetentionKind.WEBHOOKS, days, retention.purge_deliveries)


def _purge_by_retention(
    kind: RetentionKind, days: int, purge: Callable[[Session, int, UUID | None], int]
) -> None:
    """Purge as `_purge_each`, in short transactions. ``purge`` returns how many it deleted, 0 at
    the end."""

    def purge_all(days_kept: int, partner_id: UUID | None) -> int:
        removed, deleted_count = 0, 1
        while deleted_count:
            with context().database.transaction() as session:
                deleted_count = purge(session, days_kept, partner_id)
            removed += deleted_count
        return removed

    _purge_each(kind, days, purge_all)


def _purge_each(
    kind: RetentionKind, days: int, purge_all: Callable[[int, UUID | None], int]
) -> None:
    """Delete what is older than the retention of the installation, or of its partner, and record
    the run. ``purge_all`` returns how many it deleted."""
    database = context().database
    with database.transaction(read_only=True) as session:
        shorter = retention.shorter_periods(session, kind, days)
    removed = sum(
        purge_all(days_kept, partner_id)
        for partner_id, days_kept in ((None, days), *shorter.items())
    )
    with database.transaction() as session:
        retention.record_run(session, kind, removed)


def purge_uploads() -> None:
    """Expire uploads that were not applied, and remove the files of ended ones; their rows some
    days later."""
    database, files, settings = context().database, context().files, context().settings
    with database.transaction() as session:
        expiry.cancel_unapplied(session, settings.upload_days)
    while True:
        with database.transaction(read_only=True) as session:
            unneeded = expiry.unneeded_files(session)
        if not unneeded:
            break
        for key in unneeded.values():
            files.delete(key)
        with database.transaction() as session:
            expiry.record_files_deleted(session, list(unneeded))
    _purge_each(RetentionKind.UPLOADS, settings.rows_kept_days, partial(purge_rows, database))


def purge_recordings() -> None:
    """Delete expired transcripts, and expired recordings with their files."""
    files, settings = context().files, context().settings

    def purge(session: Session, days: int, partner_id: UUID | None) -> int:
        keys = recording_retention.purge_recordings(session, days, partner_id)
        for key in keys:  # if the commit fails, the next run deletes the row
            files.delete(key)
        return len(keys)

    _purge_by_retention(RetentionKind.RECORDINGS, settings.recording_days, purge)
    purge_transcripts = recording_retention.purge_transcripts
    _purge_by_retention(RetentionKind.TRANSCRIPTS, settings.transcript_days, purge_transcripts)


def purge_exports() -> None:
    """Delete expired exports with their files."""
    database, files = context().database, context().files
    keys: Sequence[str] = [""]
    while keys:
        with database.transaction() as session:
            keys = exports.purge(session)
        for key in keys:
            files.delete(key)


def remove_orphan_files() -> None:
    """Remove files that nothing refers to."""
    database, files = context().database, context().files
    with database.transaction(read_only=True) as session:
        orphans = expiry.list_orphans(session, files)
    for key in orphans:
        files.delete(key)
    if orphans:
        log.warning("removed %d files that nothing refers to", len(orphans))


def purge_rows(database: Database, days: int, partner_id: UUID | None = None) -> int:
    """Remove the stored rows of uploads, of all partners or of one, that ended ``days`` ago; return
    of how many."""
    number = 0
    while True:
        with database.transaction() as session:
            upload_id = expiry.to_purge(session, days, partner_id)
        if upload_id is None:
            return number
        _purge_all_rows(database, upload_id)
        number += 1


def delete_upload(database: Database, files: FileStore, upload_id: UUID) -> None:
    """Delete the file, the rows and the undo log of an upload."""
    delete_upload_file(database, files, upload_id)
    _purge_all_rows(database, upload_id)


def delete_upload_file(database: Database, files: FileStore, upload_id: UUID) -> None:
    with database.transaction(read_only=True) as session:
        key = expiry.file_key_of(session, upload_id)
    if key:
        files.delete(key)
        with database.transaction() as session:
            expiry.record_files_deleted(session, [upload_id])


def _purge_all_rows(database: Database, upload_id: UUID) -> None:
    has_more = True
    while has_more:
        with database.transaction() as session:
            has_more = expiry.purge_some(session, upload_id)
        time.sleep(0.02)  # others write too


def measure_uploads() -> None:
    """Measure the storage of uploads of an earlier version."""
    database = context().database
    while True:
        with database.transaction(read_only=True) as session:
            upload_id = deletion.next_unmeasured(session)
        if upload_id is None:
            return
        with database.transaction() as session:
            deletion.measure(session, upload_id)
        time.sleep(0.02)  # others write too
