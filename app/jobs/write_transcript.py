"""Transcribing and summarizing the recording of a call, if the settings say so, as a durable
workflow. Without a usable answer the call stays without transcript or summary."""

import logging
from typing import Any
from uuid import UUID

from dbos import DBOS

from app.config import Settings
from app.database import Database
from app.gateways import deepgram
from app.gateways.conversation_model import (
    ConversationModel,
    ModelUnusable,
    SpeechSegment,
    summarise,
    transcribe,
)
from app.gateways.files import FileStore
from app.gateways.files.outages import retry_on_file_outage
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage
from app.services.recordings import writing

log = logging.getLogger(__name__)


@DBOS.workflow(name="write_transcript")
@observe_job
def write_transcript(call_id: str) -> None:
    transcribe_recording(call_id)
    sum_up(call_id)


@DBOS.step(name="transcribe_recording")
@retry_on_database_outage
@retry_on_file_outage
def transcribe_recording(call_id: str) -> None:
    worker = context()
    add_transcript(worker.database, worker.files, worker.settings, UUID(call_id))


@DBOS.step(name="sum_up")
@retry_on_database_outage
def sum_up(call_id: str) -> None:
    add_summary(context().database, context().settings, UUID(call_id))


def add_transcript(database: Database, files: FileStore, settings: Settings, call_id: UUID) -> None:
    """Transcribe the recording of a call that has no transcript."""
    if settings.transcriber == "none":
        return
    with database.transaction(read_only=True) as session:
        recording = writing.untranscribed_recording(session, call_id)
    if recording is None:
        return
    model = ConversationModel(
        settings.transcriber_url,
        settings.transcriber_model,
        settings.transcriber_seconds,
        settings.transcriber_key,
    )
    try:
        with files.open(recording.file_key) as file:
            sound = file.read()
        if settings.transcriber == "deepgram":
            segments = deepgram.transcribe(model, sound, recording.content_type)
        else:
            segments = transcribe(
                model, sound, f"call.{recording.extension}", recording.content_type
            )
    except (ModelUnusable, FileNotFoundError) as reason:
        log.warning("a recording was not transcribed: %s", reason)
        return
    with database.transaction() as session:
        writing.store_turns(session, call_id, [_turn_from_segment(each) for each in segments])


def _turn_from_segment(segment: SpeechSegment) -> dict[str, Any]:
    values = {"text": segment.text, "at": segment.at, "voice": segment.speaker}
    return {name: value for name, value in values.items() if value is not None}


def add_summary(database: Database, settings: Settings, call_id: UUID) -> None:
    """Summarize the transcript of a call that has no summary."""
    if not settings.summaries:
        return
    with database.transaction(read_only=True) as session:
        turns = writing.without_summary(session, call_id)
    if not turns:
        return
    model = ConversationModel(
        settings.writer_url, settings.writer_model, settings.summary_seconds, settings.writer_key
    )
    try:
        summary = summarise(model, turns)
    except ModelUnusable as reason:
        log.warning("a call was not summed up: %s", reason)
        return
    with database.transaction() as session:
        writing.store_summary(session, call_id, summary)
