"""Storing reports of voice engines and carriers about calls."""

from datetime import datetime
from typing import TypeVar
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import RecordingStatus
from app.gateways.job_queue import enqueue_recording
from app.models import Call, CallAttempt, CallRecording, CallTranscript, is_erased
from app.schemas.voice import VoiceReport

R = TypeVar("R", CallRecording, CallTranscript)


def assistant_of(session: Session, call_id: UUID) -> UUID | None:
    """Return the assistant of a call that can have a transcript; None for any other id,
    also for a call to a person who was erased."""
    call = session.get(Call, call_id)
    if call is None or call.verifies_a_number or is_erased(call.phone_number):
        return None
    return call.assistant_id


def accept_report(
    session: Session, call_id: UUID, report: VoiceReport, report_id: str, sent_at: datetime
) -> bool:
    """Store the content of the report; return False if it came before, or is older than what is
    stored."""
    call = session.get_one(Call, call_id, with_for_update=True)
    transcript = session.scalar(select(CallTranscript).where(CallTranscript.call_id == call_id))
    if transcript is not None and not _is_newer(transcript, report_id, sent_at):
        return False
    stored = transcript or add_for(session, CallTranscript(turns=[]), call)
    if report.transcript is not None:
        stored.turns = [turn.model_dump(exclude_none=True) for turn in report.transcript]
    if report.summary is not None:
        stored.summary = report.summary.strip() or None
    stored.report_id, stored.sent_at = report_id, sent_at
    if report.recording_url is not None:
        recording = _recording_of(session, call)
        recording.attempt_id = recording.carrier_reference = None
        recording.url = report.recording_url
        _request_recording(session, recording)
    session.flush()
    return True


def _is_newer(stored: CallTranscript, report_id: str, sent_at: datetime) -> bool:
    return stored.sent_at is None or (stored.report_id != report_id and sent_at >= stored.sent_at)


def announce(session: Session, attempt_id: UUID, call_reference: str, reference: str) -> bool:
    """Queue fetching a carrier's recording of an attempt; return False if the attempt isn't known
    with the carrier's reference of the call, or the call has a recording already."""
    attempt = session.get(CallAttempt, attempt_id)
    if attempt is None or attempt.carrier_reference != call_reference:
        return False
    call = session.get_one(Call, attempt.call_id, with_for_update=True)
    if call.verifies_a_number or is_erased(call.phone_number):
        return False
    recording = _recording_of(session, call)
    if recording.carrier_reference == reference or recording.url is not None:
        return False
    recording.attempt_id, recording.carrier_reference = attempt_id, reference
    _request_recording(session, recording)
    return True


def _recording_of(session: Session, call: Call) -> CallRecording:
    recording = session.scalar(select(CallRecording).where(CallRecording.call_id == call.id))
    return recording or add_for(session, CallRecording(status=RecordingStatus.WAITING), call)


def _request_recording(session: Session, recording: CallRecording) -> None:
    recording.status, recording.problem = RecordingStatus.WAITING, None
    recording.tries = 0
    recording.attempt_number = (recording.attempt_number or 0) + 1
    session.flush()
    enqueue_recording(session, recording.id, recording.attempt_number)


def add_for(session: Session, row: R, call: Call) -> R:
    """Add the row with the call's tenant and contact."""
    row.partner_id, row.organization_id = call.partner_id, call.organization_id
    row.call_id, row.contact_id = call.id, call.contact_id
    session.add(row)
    return row
