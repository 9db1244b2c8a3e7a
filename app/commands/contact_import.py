"""The work of ``flask contacts import``: a dry run, or an import under a lease.

Both use the code of the screens: see `app.services.imports.pipeline`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from uuid import UUID

import click
import orjson
from sqlalchemy.exc import SQLAlchemyError

from app.config.limits import StorageDefaults
from app.contact_files import ContactTable, UnreadableFile, open_table
from app.database import Database
from app.enums import ContactAction, ImportStatus
from app.errors import TooLarge, Unavailable
from app.gateways.files import FileStore, size_label
from app.jobs.resilience import retry_on_database_outage
from app.models import ContactImport, utcnow
from app.policy.caller import Caller
from app.services import campaigns
from app.services.contacts.rules import load_rules
from app.services.imports import mapping_file, preview, steps, summary, uploads
from app.services.imports.check import options_of
from app.services.imports.pipeline import apply_rows, check_file, preview_rows
from app.services.imports.suggestions import suggested
from app.services.imports.summary import ImportSummary, RowSummary
from app.services.imports.uploads import UploadChoices

RENEW_SECONDS = 4.0


class ImportRefused(click.ClickException):
    """Nothing was read; the message is the reason."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """The request. ``mapping`` is the content of the mapping file, ``reading`` has the names of
    `ContactImport.read_options`."""

    path: Path
    campaign_id: UUID
    action: ContactAction
    mapping: Any
    reading: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """The result of a file; ``rows`` can be read once. ``upload_id`` is absent if nothing
    was kept."""

    summary: ImportSummary
    rows: Iterator[RowSummary]
    upload_id: UUID | None = None


class ContactImporter:
    """Import files. Raises `UnreadableFile` if the file is refused, and other domain errors."""

    def __init__(
        self,
        database: Database,
        files: FileStore,
        caller: Caller,
        *,
        max_rows: int,
        max_bytes: int,
        storage_defaults: StorageDefaults,
    ):
        self._database = database
        self._files = files
        self._caller = caller
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._storage_defaults = storage_defaults

    @contextmanager
    def dry_run(self, request: ImportRequest) -> Iterator[ImportOutcome]:
        """Yield what applying would do. Writes nothing but a temporary file."""
        with self._open_table(request) as table, TemporaryFile() as spool, self._prepare_preview(
            request, table
        ) as planned:  # fmt: skip
            for records in preview_rows(self._database, planned, request.campaign_id):
                for record in records:
                    row = summary.summarize_row(record.row, record.problems, table.header)
                    spool.write(orjson.dumps(row) + b"\n")
            rows = summary.with_skipped(_read_summaries(spool), table.skipped)
            yield ImportOutcome(ImportSummary.of_preview(planned), rows)

    @contextmanager
    def apply(self, request: ImportRequest) -> Iterator[ImportOutcome]:
        """Check and apply the file; once it is stored, the worker continues if this process
        dies."""
        with self._open_table(request) as table, self._prepare_preview(request, table) as planned:
            choices = UploadChoices(dict(request.reading))
            if request.mapping is not None:
                targets = [str(target) for target in planned.settings.mapping.targets]
                reading = request.reading | {
                    "byHand": True,
                    "phoneOrder": planned.settings.mapping.phones,
                }
                choices = UploadChoices(reading, table.header, targets)
        upload_id = self._upload(request, choices)
        with self._holding_lease(upload_id):
            self._check_and_apply(upload_id)
        upload = self._now(upload_id)
        if upload.failure is not None:
            refusal = upload.found.get("refusal")
            if refusal is None:
                raise ImportRefused(upload.failure)
            raise UnreadableFile.with_message(refusal["kind"], refusal["row"], upload.failure)
        rows = summary.with_skipped(self._kept_rows(upload), upload.found["skipped"])
        yield ImportOutcome(ImportSummary.of(upload), rows, upload_id)

    def earlier(self, upload_id: UUID) -> ContactImport | None:
        """Return the latest other upload of the same file that changed the campaign."""
        with self._database.transaction(read_only=True) as session:
            return uploads.same_file(session, uploads.get(session, self._caller, upload_id))

    def _open_table(self, request: ImportRequest) -> ContactTable:
        if request.path.stat().st_size > self._max_bytes:
            raise UnreadableFile("too_large", limit=size_label(self._max_bytes))
        options = options_of(request.reading, self._max_rows)
        return open_table(request.path, name=request.path.name, options=options)

    def _prepare_preview(
        self, request: ImportRequest, table: ContactTable
    ) -> preview.ImportPreview:
        order = preview.ImportOrder(
            campaign_id=request.campaign_id,
            action=request.action,
            region=request.reading.get("region"),
        )
        with self._database.transaction(read_only=True) as session:
            campaign = campaigns.get(session, self._caller, request.campaign_id)
            if request.mapping is not None:
                rules = load_rules(session, campaign)
                suggestion = suggested(table, rules)
                file_mapping = mapping_file.targets_of(
                    request.mapping, table.header, rules.keys, suggestion
                )
                order = replace(
                    order,
                    columns=table.header,
                    mapping=[str(target) for target in file_mapping.targets],
                    phone_order=file_mapping.phone_order,
                    by_hand=True,
                )
            planned = preview.prepare(session, order, table)
        if not planned.settings.mapping.finds_contacts:
            with planned:
                raise UnreadableFile("no_contact_column")
        return planned

    def _upload(self, request: ImportRequest, choices: UploadChoices) -> UUID:
        try:
            with request.path.open("rb") as stream:
                stored_file = self._files.save(stream, max_bytes=self._max_bytes)
        except TooLarge:
            raise UnreadableFile("too_large", limit=size_label(self._max_bytes)) from None
        try:
            with self._database.transaction() as session:
                return uploads.create(
                    session,
                    self._caller,
                    request.campaign_id,
                    action=request.action,
                    file=stored_file,
                    file_name=request.path.name,
                    chosen=choices,
                    lease_until=utcnow() + steps.LEASE_LASTS,
                    storage_defaults=self._storage_defaults,
                ).id
        except BaseException:
            with suppress(Unavailable):  # the worker deletes it later
                self._files.delete(stored_file.key)
            raise

    def _check_and_apply(self, upload_id: UUID) -> None:
        try:
            check_file(
                self._database,
                self._files,
                upload_id,
                self._now(upload_id).check_number,
                max_rows=self._max_rows,
                storage_defaults=self._storage_defaults,
            )
            upload = self._now(upload_id)
            if upload.status is ImportStatus.CHECKED and uploads.rows_left(upload):
                with self._database.transaction() as session:
                    number = steps.start_apply(session, self._caller, upload_id).apply_number
                apply_rows(self._database, upload_id, number, retry=retry_on_database_outage)
        except KeyboardInterrupt:
            self._stop(upload_id)
            message = f"Stopped; {self._now(upload_id).rows_applied:,} rows were applied."
            raise ImportRefused(message) from None
        upload = self._now(upload_id)
        if upload.status in (ImportStatus.UPLOADED, ImportStatus.READING, ImportStatus.APPLYING):
            message = f"The server has taken the import over: see /uploads/{upload_id}."
            raise ImportRefused(message)
        if upload.status is ImportStatus.CANCELLED:
            message = f"A user stopped the import; {upload.rows_applied:,} rows were applied."
            raise ImportRefused(message)

    def _stop(self, upload_id: UUID) -> None:
        """End the import after the current batch."""
        with self._database.transaction() as session:
            upload = steps.cancel(session, self._caller, upload_id)
        if upload.status is ImportStatus.APPLYING:
            apply_rows(
                self._database, upload_id, upload.apply_number, retry=retry_on_database_outage
            )

    @contextmanager
    def _holding_lease(self, upload_id: UUID) -> Iterator[None]:
        """Renew the lease during the block, and release it."""
        stopped = threading.Event()

        def renew() -> None:
            while not stopped.wait(RENEW_SECONDS):
                with suppress(SQLAlchemyError), self._database.transaction() as session:
                    if not steps.renew_lease(session, upload_id):
                        return

        renewal = threading.Thread(target=renew, daemon=True)
        renewal.start()
        try:
            yield
        finally:
            stopped.set()
            renewal.join()
        with self._database.transaction() as session:
            steps.end_lease(session, upload_id)

    def _kept_rows(self, upload: ContactImport) -> Iterator[RowSummary]:
        last = 0
        while True:
            with self._database.transaction(read_only=True) as session:
                rows = summary.kept_rows(session, upload, last)
            if not rows:
                return
            yield from rows
            last = rows[-1]["row"]

    def _now(self, upload_id: UUID) -> ContactImport:
        with self._database.transaction(read_only=True) as session:
            return uploads.get(session, self._caller, upload_id)


def _read_summaries(spool: IO[bytes]) -> Iterator[RowSummary]:
    spool.seek(0)
    yield from map(orjson.loads, spool)
