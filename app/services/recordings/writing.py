"""Transcripts and summaries that the installation writes itself, in steps for the worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import RecordingStatus
from app.gateways.job_queue import enqueue_job
from app.models import Call, CallRecording, CallTranscript
from app.services.recordings.reading import extension_of
from app.services.recordings.reports import add_for


@dataclass(frozen=True, slots=True)
class RecordedFile:
    file_key: str
    content_type: str
    extension: str


def enqueue_writing(session: Session, call_id: UUID, occasion: str) -> None:
    """Queue writing what is missing; ``occasion`` distinguishes this event from earlier ones."""
    enqueue_job(session, "write_transcript", f"transcript:{call_id}:{occasion}", str(call_id))


def untranscribed_recording(session: Session, call_id: UUID) -> RecordedFile | None:
    """Return the recording of a call that has no transcript; None if there is nothing to do."""
    transcript = _load_transcript(session, call_id)
    recording = session.scalar(select(CallRecording).where(CallRecording.call_id == call_id))
    if recording is None or recording.status is not RecordingStatus.STORED:
        return None
    if transcript is not None and transcript.turns:
        return None
    kind = recording.content_type or ""
    return RecordedFile(recording.file_key, kind, extension_of(kind))


def store_turns(session: Session, call_id: UUID, turns: Sequence[dict[str, Any]]) -> None:
    """Keep a transcript, unless the recording is gone or the voice engine sent one meanwhile."""
    call = session.get(Call, call_id, with_for_update=True)
    if call is None or untranscribed_recording(session, call_id) is None:
        return
    transcript = _load_transcript(session, call_id) or add_for(session, CallTranscript(), call)
    transcript.turns = list(turns)
    session.flush()


def without_summary(session: Session, call_id: UUID) -> list[str]:
    """Return the lines of a transcript that has no summary."""
    transcript = _load_transcript(session, call_id)
    if transcript is None or transcript.summary:
        return []
    return [_line(turn) for turn in transcript.turns]


def store_summary(session: Session, call_id: UUID, summary: str) -> None:
    """Keep a summary, unless the transcript is gone or has one by now."""
    transcript = session.scalar(
        select(CallTranscript).where(CallTranscript.call_id == call_id).with_for_update()
    )
    if transcript is not None and not transcript.summary:
        transcript.summary = summary


def _line(turn: dict[str, Any]) -> str:
    if "voice" in turn:
        return f"Speaker {turn['voice']}: {turn['text']}"
    return f"{turn['speaker']}: {turn['text']}" if "speaker" in turn else turn["text"]


def _load_transcript(session: Session, call_id: UUID) -> CallTranscript | None:
    return session.scalar(select(CallTranscript).where(CallTranscript.call_id == call_id))
