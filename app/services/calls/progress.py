"""Following a call on the line: what the carrier reports becomes states and timeline.

Reports may repeat, come late or in the wrong order: states only move forward, and each kind of
report is kept once for each attempt.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, CarrierKind, EndedReason
from app.gateways.carriers.base import LineEvent, LineEventKind, LineState
from app.models import Call, CallAttempt, utcnow
from app.services.calls.outcome import end_attempt
from app.services.calls.states import ACTIVE, add_event, is_forward, lock_call

_STATUS_OF_REASON = {
    EndedReason.COMPLETED: CallStatus.COMPLETED,
    EndedReason.VOICEMAIL: CallStatus.COMPLETED,
    EndedReason.BUSY: CallStatus.BUSY,
    EndedReason.NO_ANSWER: CallStatus.NO_ANSWER,
    EndedReason.CANCELED: CallStatus.CANCELED,
}
_STATUS_OF_KIND = {
    LineEventKind.RINGING: CallStatus.RINGING,
    LineEventKind.ANSWERED: CallStatus.IN_PROGRESS,
    LineEventKind.SAID_INTRO: CallStatus.IN_PROGRESS,
    LineEventKind.SAID_VOICEMAIL: CallStatus.IN_PROGRESS,
}


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an attempt stands before the carrier is asked about it."""

    over: bool
    hang_up: bool
    carrier: CarrierKind
    started_at: datetime


def standing(session: Session, attempt_id: UUID) -> Standing:
    """Whether the attempt is over by our own books, and whether it is to be ended."""
    row = session.execute(
        select(
            CallAttempt.status,
            CallAttempt.carrier,
            CallAttempt.started_at,
            Call.cancel_requested_at,
        )
        .join(Call, Call.id == CallAttempt.call_id)
        .where(CallAttempt.id == attempt_id)
    ).one()
    over = row.status not in ACTIVE
    return Standing(
        over=over,
        hang_up=not over and row.cancel_requested_at is not None,
        carrier=row.carrier,
        started_at=row.started_at,
    )


def apply(session: Session, attempt_id: UUID, state: LineState) -> bool:
    """Writes what the carrier knows; True once the attempt is over."""
    call, attempt = _locked(session, attempt_id)
    if attempt.status not in ACTIVE:
        return True
    if attempt.carrier_reference is None:
        attempt.carrier_reference = state.reference
    for event in sorted(state.events, key=lambda event: event.at):
        if event.kind is LineEventKind.ENDED:
            reason = event.reason or EndedReason.UNKNOWN
            status = _STATUS_OF_REASON.get(reason, CallStatus.FAILED)
            end_attempt(session, call, attempt, status, reason, at=event.at)
        else:
            _take_note(session, call, attempt, event)
    return attempt.status not in ACTIVE


def hang_up_refused(session: Session, attempt_id: UUID, *, line_ended: bool) -> None:
    """The carrier did not end the call: the wish to cancel it is withdrawn, with its reason."""
    call, attempt = _locked(session, attempt_id)
    call.cancel_requested_at = None
    if not line_ended:
        now = utcnow()
        add_event(
            session,
            call,
            f"cancel-refused:{now.isoformat()}",
            call.status,
            at=now,
            detail="The carrier did not end the call; it goes on.",
            attempt_id=attempt.id,
        )


def _take_note(session: Session, call: Call, attempt: CallAttempt, event: LineEvent) -> None:
    status = _STATUS_OF_KIND[event.kind]
    if is_forward(attempt.status, status):
        attempt.status = call.status = status
    detail = None
    if event.kind is LineEventKind.RINGING:
        attempt.ringing_at = attempt.ringing_at or event.at
    elif event.kind is LineEventKind.ANSWERED and attempt.answered_at is None:
        attempt.answered_at = call.answered_at = event.at
        attempt.answered_by = call.answered_by = event.answered_by or AnsweredBy.UNKNOWN
    elif event.kind is LineEventKind.SAID_INTRO:
        detail = attempt.spoken = call.intro_message
    elif event.kind is LineEventKind.SAID_VOICEMAIL:
        detail = attempt.spoken = call.voicemail_message
    if event.kind is LineEventKind.ANSWERED:
        detail = (event.answered_by or AnsweredBy.UNKNOWN).value
    add_event(
        session,
        call,
        event.kind.value,
        attempt.status,
        at=event.at,
        detail=detail,
        attempt_id=attempt.id,
    )


def _locked(session: Session, attempt_id: UUID) -> tuple[Call, CallAttempt]:
    call_id = session.scalars(select(CallAttempt.call_id).where(CallAttempt.id == attempt_id)).one()
    call = lock_call(session, call_id)
    return call, session.get_one(CallAttempt, attempt_id, populate_existing=True)
