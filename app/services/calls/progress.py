"""Following a call on the line: what the carrier reports becomes states and timeline.

Reports may repeat, come late or in the wrong order: states only move forward, and each kind of
report is kept once for each attempt.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, CarrierKind, EndedReason
from app.gateways.carriers.base import Inquiry, LineEvent, LineEventKind, LineState
from app.models import Agent, Call, CallAttempt, CallEvent, utcnow
from app.services.calls import costs
from app.services.calls.outcome import end_attempt, end_call
from app.services.calls.states import (
    ACTIVE,
    WAITING,
    event_key,
    is_forward,
    known_events,
    lock_attempt,
    note,
)

STATUS_OF_REASON = {
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
NOT_ENDED = "The carrier did not end the call; it goes on."
LATELY = timedelta(hours=12)
"""How far back another call to the same number may still be on the line."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an attempt stands: over, or to be ended because somebody asked for that."""

    over: bool
    hang_up: bool


def inquiry(session: Session, attempt_id: UUID) -> Inquiry | None:
    """What the carrier is asked about the attempt by; None where it is over by our own books."""
    if session.get_one(CallAttempt, attempt_id, populate_existing=True).status not in ACTIVE:
        return None
    return question(session, attempt_id)[1]


def question(session: Session, attempt_id: UUID) -> tuple[CarrierKind, Inquiry]:
    """Which carrier is asked about the attempt and by what, also where it is over by our books."""
    attempt, call, agent_number = _parts(session, attempt_id)
    taken, rivals = ([], []) if attempt.carrier_reference else _others(session, call, attempt)
    return attempt.carrier, Inquiry(
        attempt_id=attempt.id,
        to_number=call.phone_number,
        from_number=attempt.from_number or agent_number or "",
        asked_at=attempt.asked_at or attempt.started_at,
        reference=attempt.carrier_reference,
        taken=frozenset(taken),
        rivals=len(rivals),
        place=sum(began < attempt.started_at for began in rivals),
        account_id=attempt.account_id,
    )


def stray(session: Session, attempt_id: UUID) -> tuple[CarrierKind, Inquiry]:
    """Which carrier has a call that nobody follows, and what it knows the call by."""
    attempt, call, agent_number = _parts(session, attempt_id)
    return attempt.carrier, Inquiry(
        attempt_id=attempt.id,
        to_number=call.phone_number,
        from_number=attempt.from_number or agent_number or "",
        asked_at=attempt.asked_at or attempt.started_at,
        reference=attempt.carrier_reference,
        account_id=attempt.account_id,
    )


def _parts(session: Session, attempt_id: UUID) -> tuple[CallAttempt, Call, str | None]:
    query = (
        select(CallAttempt, Call, Agent.phone_number)
        .join(Call, Call.id == CallAttempt.call_id)
        .join(Agent, Agent.id == Call.agent_id)
        .where(CallAttempt.id == attempt_id)
    )
    row = session.execute(query, execution_options={"populate_existing": True}).one()
    return row[0], row[1], row[2]


def _others(session: Session, call: Call, attempt: CallAttempt) -> tuple[list[str], list[datetime]]:
    """The references of the partner's other attempts to the number lately, and when those began
    that have none and may still be found."""
    rows = session.execute(
        select(CallAttempt.started_at, CallAttempt.carrier_reference, CallAttempt.status)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            Call.partner_id == call.partner_id,
            Call.phone_number == call.phone_number,
            CallAttempt.carrier == attempt.carrier,
            CallAttempt.started_at >= attempt.started_at - LATELY,
            CallAttempt.put_off_until.is_(None),
            CallAttempt.id != attempt.id,
        )
    ).all()
    return (
        [row.carrier_reference for row in rows if row.carrier_reference],
        [row.started_at for row in rows if row.carrier_reference is None and row.status in ACTIVE],
    )


def apply(session: Session, attempt_id: UUID, state: LineState) -> Standing:
    """Writes what the carrier knows of an attempt.

    A call that ended by itself before anybody could cancel it counts as what it was; where it
    would be tried again, it is cancelled instead.
    """
    call, attempt = lock_attempt(session, attempt_id)
    costs.write(session, call, attempt, state)
    if attempt.status in ACTIVE:
        if attempt.carrier_reference is None:
            attempt.carrier_reference, attempt.is_guessed = state.reference, state.is_guessed
        attempt.put_off_until = None
        ended_by_itself = attempt.hang_up_asked_at is None and state.end_reason not in (
            None,
            EndedReason.CANCELED,
        )
        asked_at = call.cancel_requested_at
        if ended_by_itself:
            call.cancel_requested_at = None
        _write(session, call, attempt, state)
        if asked_at is not None and call.status in WAITING:
            call.cancel_requested_at = asked_at
            end_call(session, call, CallStatus.CANCELED, EndedReason.CANCELED, at=utcnow())
    over = attempt.status not in ACTIVE
    return Standing(over, hang_up=not over and call.cancel_requested_at is not None)


def _write(session: Session, call: Call, attempt: CallAttempt, state: LineState) -> None:
    known = known_events(session, call.id, attempt.id) if state.events else set()
    for event in sorted(state.events, key=lambda event: event.at):
        if event.answered_by is not None:
            _learn_who_answered(session, call, attempt, event.answered_by)
        if event.kind is LineEventKind.ENDED:
            _end(session, call, attempt, event)
        elif event_key(event.kind.value, attempt.id) not in known:
            _take_note(session, call, attempt, event)


def _learn_who_answered(
    session: Session, call: Call, attempt: CallAttempt, answered_by: AnsweredBy
) -> None:
    """Machine detection speaks later than the answer; what it found out first stays."""
    if attempt.answered_by not in (None, AnsweredBy.UNKNOWN):
        return
    attempt.answered_by = call.answered_by = answered_by
    session.execute(
        update(CallEvent)
        .where(
            CallEvent.call_id == call.id,
            CallEvent.key == event_key(LineEventKind.ANSWERED.value, attempt.id),
        )
        .values(detail=answered_by.value)
    )


def _end(session: Session, call: Call, attempt: CallAttempt, event: LineEvent) -> None:
    reason = event.reason or EndedReason.UNKNOWN
    completed = reason in (EndedReason.COMPLETED, EndedReason.VOICEMAIL)
    if completed and attempt.answered_at is None and call.cancel_requested_at is None:
        answer = LineEvent(LineEventKind.ANSWERED, event.at, event.answered_by)
        _take_note(session, call, attempt, answer)
    if attempt.answered_at is not None and attempt.answered_by is None:
        attempt.answered_by = call.answered_by = AnsweredBy.UNKNOWN
    if completed and attempt.answered_by is AnsweredBy.VOICEMAIL:
        reason = EndedReason.VOICEMAIL
    status = STATUS_OF_REASON.get(reason, CallStatus.FAILED)
    at = max(event.at, attempt.answered_at or attempt.started_at)
    end_attempt(session, call, attempt, status, reason, at=at)


def begin_hang_up(session: Session, attempt_id: UUID) -> bool | None:
    """To be committed before the carrier is asked to end the call: from then on nobody can say
    that it goes on. True where it is asked for the first time, None where it isn't to be asked.
    """
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status not in ACTIVE or call.cancel_requested_at is None:
        return None
    is_first = attempt.hang_up_asked_at is None
    attempt.hang_up_asked_at = attempt.hang_up_asked_at or utcnow()
    return is_first


def nothing_to_hang_up(session: Session, attempt_id: UUID, state: LineState) -> None:
    """The carrier had nothing to end: the call was over, or it goes on and the wish to cancel it
    is withdrawn with its reason."""
    _, attempt = lock_attempt(session, attempt_id)
    attempt.hang_up_asked_at = None
    session.flush()
    if state.end_reason is None:
        hang_up_refused(session, attempt_id)


def hang_up_refused(session: Session, attempt_id: UUID) -> None:
    """The carrier did not end the call: the wish to cancel it is withdrawn, with its reason."""
    call, attempt = lock_attempt(session, attempt_id)
    call.cancel_requested_at, call.status_detail = None, NOT_ENDED
    now = utcnow()
    note(
        session,
        call,
        f"cancel-refused:{now.isoformat()}",
        call.status,
        at=now,
        detail=NOT_ENDED,
        attempt_id=attempt.id,
    )


def _take_note(session: Session, call: Call, attempt: CallAttempt, event: LineEvent) -> None:
    status, at = _STATUS_OF_KIND[event.kind], max(event.at, attempt.started_at)
    if is_forward(attempt.status, status):
        attempt.status = call.status = status
    detail = None
    if event.kind is LineEventKind.RINGING:
        attempt.ringing_at = attempt.ringing_at or at
    elif event.kind is LineEventKind.ANSWERED and attempt.answered_at is None:
        attempt.answered_at = call.answered_at = at
        attempt.answered_by = call.answered_by = attempt.answered_by or event.answered_by
    elif event.kind is LineEventKind.SAID_INTRO:
        detail = attempt.spoken = call.intro_message
    elif event.kind is LineEventKind.SAID_VOICEMAIL:
        detail = attempt.spoken = call.voicemail_message
    if event.kind is LineEventKind.ANSWERED and attempt.answered_by is not None:
        detail = attempt.answered_by.value
    note(
        session,
        call,
        event.kind.value,
        attempt.status,
        at=at,
        detail=detail,
        attempt_id=attempt.id,
    )
