"""Fetching the recording of a call, as a durable workflow.

A worker that dies leaves the recording to the next one, which fetches it again.
"""

import io
import logging
from uuid import UUID

from dbos import DBOS

from app.config import Settings
from app.database import Database
from app.errors import Sentence, Unavailable
from app.gateways.carriers.twilio.wire import REAL_API
from app.gateways.files import FileStore
from app.gateways.files.outages import retry_on_file_outage
from app.gateways.outside_downloads import NotFetched
from app.gateways.outside_recordings import fetch
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services.recordings import fetching, writing

log = logging.getLogger(__name__)

NO_ROOM = Sentence.gettext("The storage limit is reached, so the recording was not kept.")
FAILED = Sentence.gettext("The recording could not be stored.")


@DBOS.workflow(name="fetch_recording")
@observe_job
def fetch_recording(recording_id: str, attempt_number: int) -> None:
    """Fetch the recording and keep it as a file."""
    fetch_and_store_recording(recording_id, attempt_number)


@DBOS.step(name="fetch_and_keep_recording")
@retry_on_database_outage
@retry_on_file_outage
def fetch_and_store_recording(recording_id: str, attempt_number: int) -> None:
    worker = context()
    fetch_and_store(
        worker.database, worker.files, worker.settings, UUID(recording_id), attempt_number
    )


def fetch_and_store(
    database: Database,
    files: FileStore,
    settings: Settings,
    recording_id: UUID,
    attempt_number: int,
) -> None:
    """Fetch the file without an open transaction, and store the result."""
    operator_downloads = fetching.TwilioDownloads(
        settings.twilio_account_sid,
        settings.twilio_auth_token,
        (settings.twilio_api_url or REAL_API).rstrip("/"),
    )
    try:
        with database.transaction(read_only=True) as session:
            download = fetching.prepare_request(
                session, settings.secret_keys, operator_downloads, recording_id, attempt_number
            )
        if download is None:
            return
        # Only the operator can set another URL for the carrier's API.
        is_operators = download.is_carriers and bool(settings.twilio_api_url)
        fetched = fetch(
            download.url,
            download.headers,
            max_bytes=settings.recording_bytes,
            allow_private=settings.webhook_allow_private or is_operators,
        )
        with database.transaction(read_only=True) as session:
            size, limits = len(fetched.data), settings.storage_defaults
            if not fetching.has_room(session, recording_id, size, limits):
                raise NotFetched(NO_ROOM(), is_retryable=False)
        stored = files.save(io.BytesIO(fetched.data), max_bytes=settings.recording_bytes)
    except NotFetched as reason:
        with database.transaction() as session:
            fetching.record_failure(
                session, recording_id, attempt_number, str(reason), is_retryable=reason.is_retryable
            )
        return
    except (OSError, Unavailable):
        log.exception("a recording could not be stored")
        with database.transaction() as session:
            fetching.record_failure(
                session, recording_id, attempt_number, FAILED(), is_retryable=True
            )
        return
    with database.transaction() as session:
        unneeded = fetching.store_file(
            session, recording_id, attempt_number, stored, fetched.content_type
        )
        if unneeded != stored.key and settings.transcriber != "none":
            writing.enqueue_writing(
                session, download.call_id, f"recording:{recording_id}:{attempt_number}"
            )
    files.delete(unneeded)
