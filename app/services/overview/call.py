"""A call with the related data of its page, read together."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session, aliased

from app.models import (
    Assistant,
    Call,
    CallRecording,
    CallTranscript,
    DoNotCallEntry,
    Organization,
    Partner,
)
from app.policy.caller import Caller
from app.services.calls import queries
from app.services.calls.states import WAITING
from app.services.recordings.reading import RecordingWithTranscript


@dataclass(frozen=True, slots=True)
class CallSurroundings:
    """A call, its organization and partner, and what is stored about it; whether its number is on
    the do-not-call list, and how many of the organization's calls to it are not placed yet."""

    call: Call
    assistant: Assistant
    organization: Organization
    partner: Partner
    recording: RecordingWithTranscript
    is_listed: bool
    waiting: int


def call_with_surroundings(session: Session, caller: Caller, call_id: UUID) -> CallSurroundings:
    """Return the call of the page: one query. Raises as `calls.get`."""
    to_number = aliased(Call)
    waiting = select(func.count()).where(
        to_number.organization_id == Call.organization_id,
        to_number.phone_number == Call.phone_number,
        to_number.status.in_(WAITING),
    )
    is_listed = exists().where(
        DoNotCallEntry.organization_id == Call.organization_id,
        DoNotCallEntry.phone == Call.phone_number,
    )
    rows = (
        queries.visible(caller)
        .where(Call.id == call_id)
        .join(Assistant, Assistant.id == Call.assistant_id)
        .join(Organization, Organization.id == Assistant.organization_id)
        .join(Partner, Partner.id == Organization.partner_id)
        .outerjoin(CallRecording, CallRecording.call_id == Call.id)
        .outerjoin(CallTranscript, CallTranscript.call_id == Call.id)
        .add_columns(Assistant, Organization, Partner, CallRecording, CallTranscript)
        .add_columns(is_listed, waiting.correlate(Call).scalar_subquery())
    )
    row = session.execute(rows).one_or_none()
    if row is None:
        raise queries.not_found()
    call, assistant, organization, partner, recording, transcript, on_do_not_call, count = row
    recording_with_transcript = RecordingWithTranscript(recording, transcript)
    return CallSurroundings(
        call,
        assistant,
        organization,
        partner,
        recording_with_transcript,
        bool(on_do_not_call),
        count,
    )
