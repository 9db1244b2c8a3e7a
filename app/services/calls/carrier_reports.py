"""A carrier's reports on an attempt: queried by the worker, or sent by the carrier.

Reports may repeat, come late or in the wrong order: states only move forward, and each kind of
event is written once for each attempt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, CarrierKind, EndedReason
from app.errors import Forbidden, NotFound
from app.gateways.carriers.base import (
    AttemptInquiry,
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.gateways.job_queue import enqueue_job
from app.languages import gettext_noop
from app.models import Assistant, Call, CallAttempt, CallEvent, utcnow
from app.services.calls import carrier_costs, events, lifecycle, rules, silence
from app.services.calls.events import event_key, known_events
from app.services.calls.states import ACTIVE, WAITING, lock_attempt
from app.services.verified_numbers import codes

STATUS_OF_REASON = {
    EndedReason.COMPLETED: CallStatus.COMPLETED,
    EndedReason.VOICEMAIL: CallStatus.COMPLETED,
    EndedReason.BUSY: CallStatus.BUSY,
    EndedReason.NO_ANSWER: CallStatus.NO_ANSWER,
    EndedReason.CANCELED: CallStatus.CANCELED,
}
NOT_ENDED = gettext_noop("The carrier did not end the call. It continues.")
MAX_RIVAL_AGE = timedelta(hours=12)
"""Maximum age of another call to the same number that may still be active."""


@dataclass(frozen=True, slots=True)
class ReportOutcome:
    """Whether an attempt is over, and whether the worker has to hang up because the call was
    cancelled."""

    is_over: bool
    hang_up: bool


def inquiry(session: Session, attempt_id: UUID) -> AttemptInquiry | None:
    """Return the query for the carrier about the attempt; None if it has ended by our records."""
    if session.get_one(CallAttempt, attempt_id, populate_existing=True).status not in ACTIVE:
        return None
    return carrier_inquiry(session, attempt_id)[1]


def carrier_inquiry(session: Session, attempt_id: UUID) -> tuple[CarrierKind, AttemptInquiry]:
    """Return the attempt's carrier and the query for it, even if the attempt has ended by our
    records."""
    attempt, call, assistant_number = _load_attempt(session, attempt_id)
    references, rivals = (
        ([], []) if attempt.carrier_reference else _other_attempts(session, call, attempt)
    )
    return attempt.carrier, AttemptInquiry(
        attempt_id=attempt.id,
        to_number=call.phone_number,
        from_number=attempt.from_number or assistant_number or "",
        asked_at=attempt.asked_at or attempt.started_at,
        reference=attempt.carrier_reference,
        taken=frozenset(references),
        rivals=len(rivals),
        position=sum(began < attempt.started_at for began in rivals),
        account_id=attempt.account_id,
    )


def _load_attempt(session: Session, attempt_id: UUID) -> tuple[CallAttempt, Call, str | None]:
    query = (
        select(CallAttempt, Call, Assistant.phone_number)
        .join(Call, Call.id == CallAttempt.call_id)
        .join(Assistant, Assistant.id == Call.assistant_id)
        .where(CallAttempt.id == attempt_id)
    )
    row = session.execute(query, execution_options={"populate_existing": True}).one()
    return row[0], row[1], row[2]


def _other_attempts(
    session: Session, call: Call, attempt: CallAttempt
) -> tuple[list[str], list[datetime]]:
    """Return the references of the partner's other recent attempts to the number, and the start of
    those that have none and may still be found."""
    rows = session.execute(
        select(CallAttempt.started_at, CallAttempt.carrier_reference, CallAttempt.status)
        .join(Call, Call.id == CallAttempt.call_id)
        .where(
            Call.partner_id == call.partner_id,
            Call.phone_number == call.phone_number,
            CallAttempt.carrier == attempt.carrier,
            CallAttempt.started_at >= attempt.started_at - MAX_RIVAL_AGE,
            CallAttempt.carrier_retry_at.is_(None),
            CallAttempt.id != attempt.id,
        )
    ).all()
    return (
        [row.carrier_reference for row in rows if row.carrier_reference],
        [row.started_at for row in rows if row.carrier_reference is None and row.status in ACTIVE],
    )


def apply(session: Session, attempt_id: UUID, state: CarrierReport) -> ReportOutcome:
    """Apply the carrier's report on an attempt.

    A call that ended by itself before it could be cancelled keeps its own outcome; if it would be
    retried, it is cancelled instead.
    """
    call, attempt = lock_attempt(session, attempt_id)
    carrier_costs.write_cost(session, call, attempt, state)
    attempt.attestation = attempt.attestation or state.attestation
    if attempt.status in ACTIVE:
        if attempt.carrier_reference is None:
            attempt.carrier_reference, attempt.is_guessed = state.reference, state.is_guessed
        attempt.carrier_retry_at = None
        silence.reset_silence(call)
        ended_by_itself = attempt.hang_up_asked_at is None and state.end_reason not in (
            None,
            EndedReason.CANCELED,
        )
        asked_at = call.cancel_requested_at
        if ended_by_itself:
            call.cancel_requested_at = None
        _write_report(session, call, attempt, state)
        if asked_at is not None and call.status in WAITING:
            call.cancel_requested_at = asked_at
            canceled = CallStatus.CANCELED, EndedReason.CANCELED
            lifecycle.end_call(session, call, *canceled, at=utcnow())
    is_over = attempt.status not in ACTIVE
    return ReportOutcome(is_over, hang_up=not is_over and call.cancel_requested_at is not None)


def _write_report(session: Session, call: Call, attempt: CallAttempt, state: CarrierReport) -> None:
    recorded = known_events(session, call.id, attempt.id) if state.events else set()
    for event in sorted(state.events, key=lambda event: event.at):
        if event.answered_by is not None:
            _store_answered_by(session, call, attempt, event.answered_by)
        if event.kind is CarrierEventKind.ENDED:
            _end_attempt(session, call, attempt, event)
        elif event_key(event.kind.value, attempt.id) not in recorded:
            lifecycle.advance(session, call, attempt, event)


def _store_answered_by(
    session: Session, call: Call, attempt: CallAttempt, answered_by: AnsweredBy
) -> None:
    """Store who answered. Machine detection reports after the answer; its first result stays."""
    if attempt.answered_by not in (None, AnsweredBy.UNKNOWN):
        return
    attempt.answered_by = call.answered_by = answered_by
    session.execute(
        update(CallEvent)
        .where(
            CallEvent.call_id == call.id,
            CallEvent.key == event_key(CarrierEventKind.ANSWERED.value, attempt.id),
        )
        .values(detail=answered_by.value)
    )


def _end_attempt(session: Session, call: Call, attempt: CallAttempt, event: CarrierEvent) -> None:
    reason = event.reason or EndedReason.UNKNOWN
    completed = reason in (EndedReason.COMPLETED, EndedReason.VOICEMAIL)
    if completed and attempt.answered_at is None and call.cancel_requested_at is None:
        answer = CarrierEvent(CarrierEventKind.ANSWERED, event.at, event.answered_by)
        lifecycle.advance(session, call, attempt, answer)
    if attempt.answered_at is not None and attempt.answered_by is None:
        attempt.answered_by = call.answered_by = AnsweredBy.UNKNOWN
    if completed and attempt.answered_by is AnsweredBy.VOICEMAIL:
        reason = EndedReason.VOICEMAIL
    status = STATUS_OF_REASON.get(reason, CallStatus.FAILED)
    ended_at = max(event.at, attempt.answered_at or attempt.started_at)
    lifecycle.end_attempt(session, call, attempt, status, reason, at=ended_at)


def start_hang_up(session: Session, attempt_id: UUID) -> bool | None:
    """Record that the carrier is about to get the request to end the call; commit it before
    sending.

    Return True the first time, False later, None if no request is to be sent.
    """
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status not in ACTIVE or call.cancel_requested_at is None:
        return None
    is_first = attempt.hang_up_asked_at is None
    attempt.hang_up_asked_at = attempt.hang_up_asked_at or utcnow()
    return is_first


def record_nothing_to_hang_up(session: Session, attempt_id: UUID, state: CarrierReport) -> None:
    """Record that the carrier had nothing to end: the call was over, or it continues and the
    cancellation is withdrawn."""
    _, attempt = lock_attempt(session, attempt_id)
    attempt.hang_up_asked_at = None
    session.flush()
    if state.end_reason is None:
        withdraw_cancellation(session, attempt_id)


def withdraw_cancellation(session: Session, attempt_id: UUID) -> None:
    """Withdraw the cancellation because the carrier did not end the call."""
    call, attempt = lock_attempt(session, attempt_id)
    now = utcnow()
    if call.cancel_requested_at is not None:
        # Sorts after the request, even if the clock of this host is behind.
        now = max(now, call.cancel_requested_at + timedelta(microseconds=1))
    call.cancel_requested_at, call.status_detail = None, NOT_ENDED
    events.add_timeline_entry(
        session,
        call,
        f"cancel-refused:{now.isoformat()}",
        call.status,
        at=now,
        detail=NOT_ENDED,
        attempt_id=attempt.id,
    )


@dataclass(frozen=True, slots=True)
class CallSpeech:
    """The message to speak; then the call is transferred, or ends."""

    call_id: UUID
    text: str
    hand_over_to: str | None


def accept_report(
    session: Session, carrier: CarrierKind, attempt_id: UUID, state: CarrierReport
) -> bool:
    """Write what an authenticated carrier reports. Returns False if the attempt was over.

    An attempt whose answer was lost gets its reference here; if it was given up as never placed,
    the worker ends the call. Raises `NotFound` if the carrier has no such attempt, `Forbidden` if
    the call belongs to another attempt.
    """
    attempt = _find_attempt(session, carrier, attempt_id, str(state.reference))
    if attempt.status not in ACTIVE:
        if attempt.carrier_reference is None and state.end_reason is None:
            # Given up as never placed, but it rings, and no worker follows it.
            attempt.carrier_reference = state.reference
            enqueue_job(session, "end_stray_call", f"stray:{attempt.id}", str(attempt.id))
            session.flush()
        return False
    was_lost = attempt.carrier_reference is None
    followed = apply(session, attempt.id, state)
    if was_lost or followed.is_over:
        # Wake the worker that follows the call: it can stop querying, or start.
        events.signal(session, attempt.id)
    session.flush()
    return True


def record_answer(
    session: Session,
    carrier: CarrierKind,
    attempt_id: UUID,
    reference: str,
    answered_by: AnsweredBy | None,
    secret_keys: Sequence[str] = (),
) -> CallSpeech | None:
    """Write the answer and return the message: the voicemail message for a machine, else the
    intro. None if the attempt is over by our records. Raises the same errors as `accept_report`.
    Verification calls need ``secret_keys``.

    A person is handed over to the voice URL that was checked before the call was placed, if that is
    still the assistant's and still allowed.
    """
    is_machine = answered_by is AnsweredBy.VOICEMAIL
    now = utcnow()
    spoken = CarrierEventKind.VOICEMAIL_SPOKEN if is_machine else CarrierEventKind.INTRO_SPOKEN
    reported = (
        CarrierEvent(CarrierEventKind.ANSWERED, now, answered_by),
        CarrierEvent(spoken, now),
    )
    if not accept_report(
        session, carrier, attempt_id, CarrierReport(PlacementVerdict.PLACED, reference, reported)
    ):
        return None
    call, checked_address = session.execute(
        select(Call, CallAttempt.hand_over_to)
        .join(CallAttempt, CallAttempt.call_id == Call.id)
        .where(CallAttempt.id == attempt_id)
    ).one()
    if is_machine:
        return CallSpeech(call.id, call.voicemail_message or "", None)
    intro = codes.with_code(call.intro_message or "", call, secret_keys)
    if checked_address is None:
        return CallSpeech(call.id, intro, None)
    parties = rules.parties_of(session, call.assistant_id, call.phone_number)
    is_same = parties.assistant.voice_address == checked_address
    is_allowed = is_same and rules.hand_over_blocker(parties) is None
    return CallSpeech(call.id, intro, checked_address if is_allowed else None)


def _find_attempt(
    session: Session, carrier: CarrierKind, attempt_id: UUID, reference: str
) -> CallAttempt:
    """Return the attempt, locked. Raises `Forbidden` if the carrier's call belongs to another
    attempt."""
    query = select(CallAttempt.id).where(
        CallAttempt.carrier == carrier,
        or_(CallAttempt.id == attempt_id, CallAttempt.carrier_reference == reference),
    )
    # In the order of their ids: two reports may correct the same two guesses.
    locked = {
        identifier: lock_attempt(session, identifier)[1]
        for identifier in sorted(session.scalars(query))
    }
    attempt = locked.pop(attempt_id, None)
    if attempt is None:
        message = "There is no such attempt."
        raise NotFound(message, "attempt_not_found")
    if attempt.carrier_reference != reference:
        _correct_guess(attempt, reference, list(locked.values()))
    attempt.is_guessed = False
    return attempt


def _correct_guess(attempt: CallAttempt, reference: str, holders: Sequence[CallAttempt]) -> None:
    """Swap guessed references: the attempt gets its own, and the attempt that held it gets the
    other. Raises `Forbidden` if the reference wasn't guessed."""
    for candidate in (attempt, *holders):
        if candidate.carrier_reference is None:
            continue
        if not candidate.is_guessed or not {attempt.status, candidate.status} <= ACTIVE:
            message = "The call belongs to another attempt."
            raise Forbidden(message, "other_call")
    if attempt.carrier_reference is None and not holders:
        return
    for holder in holders:
        holder.carrier_reference = attempt.carrier_reference
    attempt.carrier_reference = reference
