"""Following a call on the line: what the carrier reports becomes states and timeline.

Reports may repeat, come late or in the wrong order: states only move forward, and each kind of
report is kept once for each attempt.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, EndedReason
from app.gateways.carriers.base import LineEvent, LineEventKind, LineState
from app.models import Call, CallAttempt, utcnow
from app.services.calls.outcome import end_attempt
from app.services.calls.states import (
    ACTIVE,
    event_key,
    is_forward,
    known_events,
    lock_attempt,
    note,
)

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
    """Where an attempt stands: over, or to be ended because somebody asked for that."""

    over: bool
    hang_up: bool


def open_since(session: Session, attempt_id: UUID) -> datetime | None:
    """When the attempt was written; None where it is over by our own books."""
    row = session.execute(
        select(CallAttempt.status, CallAttempt.started_at).where(CallAttempt.id == attempt_id)
    ).one()
    return row.started_at if row.status in ACTIVE else None


def apply(
    session: Session, attempt_id: UUID, state: LineState, *, hung_up: bool = False
) -> Standing:
    """Writes what the carrier knows of an attempt; ``hung_up`` where it was just made to end.

    A call that ended by itself before anybody could cancel it counts as what it was.
    """
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status in ACTIVE:
        if attempt.carrier_reference is None:
            attempt.carrier_reference = state.reference
        ended_by_itself = not hung_up and state.end_reason not in (None, EndedReason.CANCELED)
        if ended_by_itself:
            call.cancel_requested_at = None
        _write(session, call, attempt, state)
    over = attempt.status not in ACTIVE
    return Standing(over, hang_up=not over and call.cancel_requested_at is not None)


def _write(session: Session, call: Call, attempt: CallAttempt, state: LineState) -> None:
    known = known_events(session, call.id, attempt.id) if state.events else set()
    for event in sorted(state.events, key=lambda event: event.at):
        if event.kind is LineEventKind.ENDED:
            reason = event.reason or EndedReason.UNKNOWN
            status = _STATUS_OF_REASON.get(reason, CallStatus.FAILED)
            end_attempt(session, call, attempt, status, reason, at=event.at)
        elif event_key(event.kind.value, attempt.id) not in known:
            _take_note(session, call, attempt, event)


def hang_up_refused(session: Session, attempt_id: UUID) -> None:
    """The carrier did not end the call: the wish to cancel it is withdrawn, with its reason."""
    call, attempt = lock_attempt(session, attempt_id)
    call.cancel_requested_at = None
    now = utcnow()
    note(
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
    note(
        session,
        call,
        event.kind.value,
        attempt.status,
        at=event.at,
        detail=detail,
        attempt_id=attempt.id,
    )
