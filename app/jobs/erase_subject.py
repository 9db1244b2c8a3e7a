"""Erasing a subject, as a durable workflow of short transactions."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from dbos import DBOS

from app.database import Database
from app.enums import SubjectKind
from app.gateways.files import FileStore
from app.gateways.files.outages import retry_on_file_outage
from app.gateways.mailers import Outbox, open_outbox
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.purging import delete_upload, delete_upload_file
from app.jobs.resilience import retry_on_database_outage
from app.services.personal_data import copies, erasing, history, subject_rows, sweep, upload_rows
from app.services.personal_data.subjects import DataSubject

WAIT_SECONDS = 15.0
MAX_WAITS = 1000
"""Waits of some hours in total: longer than any call or upload."""
TEXTS = "texts"
"""The name under which replaced words in other records are counted."""
PAUSE_SECONDS = 0.02
"""Seconds between two transactions, in which others can write."""

log = logging.getLogger(__name__)


@DBOS.workflow(name="erase_subject")
@observe_job
def erase_subject(erasure_id: str) -> None:
    """Erase a person once no call to them is active and no upload of the organization is
    running."""
    try:
        for _ in range(MAX_WAITS):
            if is_ready(erasure_id):
                break
            DBOS.sleep(WAIT_SECONDS)
        erase_all(erasure_id)
    except Exception:
        log.exception("an erasure could not be carried out")
        give_up_erasure(erasure_id)


@DBOS.step(name="is_erasure_ready")
@retry_on_database_outage
def is_ready(erasure_id: str) -> bool:
    with context().database.transaction() as session:
        started = erasing.start_erasure(session, UUID(erasure_id))
        if started is None or started[0].kind is SubjectKind.USER:
            return True
        subject, _pseudonym = started
        is_called = subject_rows.cancel_calls(session, subject)
        return not (is_called or copies.is_upload_at_work(session, subject))


@DBOS.step(name="erase_all")
@retry_on_database_outage
@retry_on_file_outage
def erase_all(erasure_id: str) -> None:
    worker = context()
    SubjectErasure(
        worker.database, worker.files, open_outbox(worker.settings), UUID(erasure_id)
    ).run()
    worker.database.release_space()


@DBOS.step(name="give_up_erasure")
@retry_on_database_outage
def give_up_erasure(erasure_id: str) -> None:
    with context().database.transaction() as session:
        erasing.fail(session, UUID(erasure_id))


@dataclass(frozen=True, slots=True)
class SubjectErasure:
    """One erasure with its resources. Each part commits and counts what it did."""

    database: Database
    files: FileStore
    outbox: Outbox
    erasure_id: UUID

    def run(self) -> None:
        """Erase what is left; no effect once it is done."""
        with self.database.transaction() as session:
            started = erasing.start_erasure(session, self.erasure_id)
        if started is None:
            return
        subject, pseudonym = started
        if subject.kind is SubjectKind.USER:
            self._erase_account(subject, pseudonym)
        else:
            self._erase_contact(subject, pseudonym)
        self._erase_copies(subject, pseudonym)
        for swept in sweep.swept_tables():
            name = swept.table if swept.deletes else TEXTS
            self._repeat(name, sweep.sweep_next, subject, swept, pseudonym)
        self._repeat("audit_entries", history.redact_next, subject, pseudonym)
        if subject.kind is SubjectKind.USER:
            self._repeat("audit_entries", history.redact_next, subject, pseudonym, of_partner=False)
        # Last, because some were in progress, or read data that was erased meanwhile.
        self._erase_exports(subject)
        mail_count = copies.erase_kept_mails(self.outbox, subject)
        with self.database.transaction() as session:
            erasing.count(session, self.erasure_id, {"kept_mails": mail_count})
            erasing.finish(session, self.erasure_id)

    def _erase_account(self, subject: DataSubject, pseudonym: str) -> None:
        with self.database.transaction() as session:
            counts = subject_rows.erase_account(session, subject, pseudonym)
            erasing.count(session, self.erasure_id, {"users": 1, **counts})

    def _erase_contact(self, subject: DataSubject, pseudonym: str) -> None:
        """Erase the contact with its recordings. Files follow later: calls come first. Calls that a
        campaign placed meanwhile come last."""
        self._erase_calls(subject, pseudonym)
        with self.database.transaction() as session:
            contact_count = subject_rows.erase_contacts(session, subject)
            subject_rows.erase_verified_numbers(session, subject)
            erasing.count(session, self.erasure_id, {"contacts": contact_count})
        self._erase_calls(subject, pseudonym)
        self._erase_uploads(subject, pseudonym)

    def _erase_calls(self, subject: DataSubject, pseudonym: str) -> None:
        erased = 1
        while erased:
            with self.database.transaction() as session:
                subject_rows.cancel_calls(session, subject)
                erased, keys = subject_rows.erase_calls(session, subject, pseudonym)
                counts = {"calls": erased, "call_recordings": len(keys)}
                erasing.count(session, self.erasure_id, counts)
            for key in keys:
                self.files.delete(key)
            time.sleep(PAUSE_SECONDS)

    def _erase_uploads(self, subject: DataSubject, pseudonym: str) -> None:
        with self.database.transaction(read_only=True) as session:
            waiting = copies.uploads_to_search(session, subject)
        for upload_id in waiting:
            with self.database.transaction(read_only=True) as session:
                is_in = copies.is_in_upload(session, subject, upload_id)
            if is_in:
                self._erase_upload(subject, upload_id, pseudonym)

    def _erase_upload(self, subject: DataSubject, upload_id: UUID, pseudonym: str) -> None:
        """Of an applied upload, erase only what names the person, so that the rest can be
        undone."""
        with self.database.transaction() as session:
            copies.end_upload(session, upload_id)
            erasing.count(session, self.erasure_id, {"contact_imports": 1})
            is_applied = upload_rows.is_applied(session, upload_id)
        if not is_applied:
            delete_upload(self.database, self.files, upload_id)
            return
        delete_upload_file(self.database, self.files, upload_id)
        last: int | None = 0
        while last is not None:
            with self.database.transaction() as session:
                last = upload_rows.erase_some(session, subject, upload_id, pseudonym, last)
            time.sleep(PAUSE_SECONDS)

    def _erase_copies(self, subject: DataSubject, pseudonym: str) -> None:
        with self.database.transaction() as session:
            answers = copies.erase_answers(session, subject, pseudonym)
            mails = copies.erase_mails(session, subject)
            copies.erase_recipients(session, subject)
            counts = {"idempotency_records": answers, "mails": mails}
            erasing.count(session, self.erasure_id, counts)

    def _erase_exports(self, subject: DataSubject) -> None:
        with self.database.transaction() as session:
            keys = copies.erase_exports(
                session, subject, erasing.requested_at(session, self.erasure_id)
            )
            erasing.count(session, self.erasure_id, {"list_exports": len(keys)})
        for key in filter(None, keys):
            self.files.delete(key)

    def _repeat(
        self, name: str, step: Callable[..., tuple[int, Any]], *args: Any, **options: Any
    ) -> None:
        """Repeat a step until it has read all rows; it takes and returns the last key."""
        last: Any = None
        while True:
            with self.database.transaction() as session:
                erased, last = step(session, *args, last, **options)
                erasing.count(session, self.erasure_id, {name: erased})
            if last is None:
                return
            time.sleep(PAUSE_SECONDS)
