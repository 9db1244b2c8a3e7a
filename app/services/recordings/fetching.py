"""Fetching the file of a recording, in steps for the worker."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.enums import CarrierKind, RecordingStatus
from app.errors import Sentence, TooLarge
from app.gateways.files.base import StoredFile
from app.gateways.job_queue import enqueue_recording
from app.gateways.outside_downloads import NotFetched
from app.models import CallRecording
from app.services import carrier_accounts, storage

NO_ACCOUNT = Sentence.gettext("The carrier account of this call can no longer be used.")
PAUSES = (30.0, 300.0, 3600.0)
"""Seconds before each further attempt."""


@dataclass(frozen=True, slots=True)
class TwilioDownloads:
    """The installation's account; ``api_url`` is the URL of its API."""

    sid: str
    token: str = field(repr=False)
    api_url: str = ""


@dataclass(frozen=True, slots=True)
class RecordingRequest:
    """The recording to fetch; ``headers`` are sent to the first host only."""

    call_id: UUID
    url: str
    headers: dict[str, str] = field(repr=False)
    is_carriers: bool


def prepare_request(
    session: Session,
    keys: Sequence[str],
    downloads: TwilioDownloads,
    recording_id: UUID,
    attempt_number: int,
) -> RecordingRequest | None:
    """Return what to fetch; None if there is nothing to fetch any more. Raises `NotFetched` if no
    account can fetch it."""
    recording = _waiting(session, recording_id, attempt_number)
    if recording is None:
        return None
    if recording.url is not None:
        return RecordingRequest(recording.call_id, recording.url, {}, is_carriers=False)
    if recording.attempt_id is None or recording.carrier_reference is None:
        return None
    sid, token = downloads.sid, downloads.token
    account = carrier_accounts.of_attempt(session, keys, recording.attempt_id)
    if account is not None:
        sid, token = account.sid, account.secret if account.kind is CarrierKind.TWILIO else ""
    if not token:
        raise NotFetched(NO_ACCOUNT(), is_retryable=False)
    proof = base64.b64encode(f"{sid}:{token}".encode()).decode()
    headers = {"authorization": f"Basic {proof}"}
    path = f"/2010-04-01/Accounts/{sid}/Recordings/{recording.carrier_reference}.mp3"
    return RecordingRequest(recording.call_id, downloads.api_url + path, headers, is_carriers=True)


def _waiting(
    session: Session, recording_id: UUID, attempt_number: int, *, for_change: bool = False
) -> CallRecording | None:
    """Return the recording if it still waits for the result of this attempt."""
    recording = session.get(CallRecording, recording_id, with_for_update=for_change)
    if recording is None or recording.attempt_number != attempt_number:
        return None
    return recording if recording.status is RecordingStatus.WAITING else None


def store_file(
    session: Session, recording_id: UUID, attempt_number: int, stored: StoredFile, content_type: str
) -> str:
    """Keep the fetched file; return the key of the file that is not needed any more, if any."""
    recording = _waiting(session, recording_id, attempt_number, for_change=True)
    if recording is None:
        return stored.key
    before = recording.file_key
    recording.status, recording.problem = RecordingStatus.STORED, None
    recording.file_key, recording.size = stored.key, stored.size
    recording.content_type = content_type
    return before


def has_room(session: Session, recording_id: UUID, size: int, defaults: StorageDefaults) -> bool:
    """Whether the organization and its partner may store so many bytes more."""
    recording = session.get(CallRecording, recording_id)
    if recording is None:
        return False
    needed = max(0, size - recording.size)
    try:
        storage.require_room(
            session, recording.partner_id, recording.organization_id, needed, defaults
        )
    except TooLarge:
        return False
    return True


def record_failure(
    session: Session, recording_id: UUID, attempt_number: int, problem: str, *, is_retryable: bool
) -> None:
    """Write down why there is no file, and try again later if it is retryable."""
    recording = _waiting(session, recording_id, attempt_number, for_change=True)
    if recording is None:
        return
    recording.problem = problem[:500]
    if not is_retryable or recording.tries >= len(PAUSES):
        recording.status = RecordingStatus.FAILED
        return
    pause = PAUSES[recording.tries]
    recording.tries += 1
    recording.attempt_number += 1
    enqueue_recording(session, recording_id, recording.attempt_number, pause)
