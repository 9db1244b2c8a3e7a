"""The moves of a call, in the order of its life: it waits, is placed, answered, retried, ended.

Each function expects the call to be locked, makes one move of the table in `states`, and writes
what belongs to it: the timeline, the next turn in the queue, the conversation, the webhook.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, EndedReason, WebhookEvent
from app.errors import Sentence
from app.gateways.carriers.base import CarrierEvent, CarrierEventKind
from app.gateways.job_queue import enqueue_call
from app.languages.numbers import localize_number
from app.models import (
    Assistant,
    Call,
    CallAttempt,
    CallEvent,
    HeldCall,
    Organization,
    utcnow,
)
from app.models.base import new_id_in
from app.services import conversations, pauses, rollup, spending
from app.services.calls import events, limits, states
from app.services.calls.states import ACTIVE, WAITING, move

_WORTH_RETRYING = {
    EndedReason.BUSY: Sentence.gettext("The line was busy."),
    EndedReason.NO_ANSWER: Sentence.gettext("No answer."),
    EndedReason.CARRIER_ERROR: Sentence.gettext("The carrier could not place the call."),
}
_RETRIED_SOON = Sentence.gettext("%(reason_words)s It is retried after 1 minute.")
_RETRIED = Sentence.gettext("%(reason_words)s It is retried after %(minutes)s minutes.")
_MOVE_OF_EVENT = {
    CarrierEventKind.RINGING: states.RING,
    CarrierEventKind.ANSWERED: states.ANSWER,
    CarrierEventKind.INTRO_SPOKEN: states.ANSWER,
    CarrierEventKind.VOICEMAIL_SPOKEN: states.ANSWER,
}


def enqueue(
    session: Session, call: Call, *, delay_seconds: float = 0, had_its_turn: bool = False
) -> None:
    """Enqueue the call's next turn, with a new attempt; see `enqueue_call`. Attempts are found by
    the times in their ids: that of a delayed turn is when it comes."""
    enqueue_call(
        session,
        call_id=call.id,
        attempt_id=new_id_in(delay_seconds),
        organization_id=call.organization_id,
        live=call.live,
        delay_seconds=delay_seconds,
        had_its_turn=had_its_turn,
    )


def postpone(
    session: Session,
    call: Call,
    until: datetime,
    why: str | None,
    now: datetime,
    *,
    moves_expiry: bool = True,
) -> None:
    """Schedule a waiting call for ``until``. Its expiry moves with it, unless the reason may last
    for ever, or its code ends then."""
    call.status_detail = why
    if moves_expiry and not call.verifies_a_number:
        call.expires_at = until + (call.expires_at - (call.scheduled_for or call.created_at))
    move(call, states.POSTPONE, CallStatus.SCHEDULED)
    call.scheduled_for = until
    if call.next_attempt_at is not None:
        call.next_attempt_at = until
    moment = until.isoformat()
    # The same time may occur twice if the engine woke the call a little early.
    kind = f"scheduled:{moment}:{now.isoformat()}"
    events.add_timeline_entry(session, call, kind, CallStatus.SCHEDULED, at=now, detail=moment)
    enqueue_at(session, call, until, now)


def enqueue_at(session: Session, call: Call, at: datetime, now: datetime) -> None:
    enqueue(session, call, delay_seconds=max(timedelta(), at - now).total_seconds())


def wait_for_turn(call: Call, why: str) -> None:
    """Record that the call's time has come, but others are before it."""
    move(call, states.QUEUE, CallStatus.QUEUED)
    call.status_detail = why


def hold_if_paused(session: Session, call: Call) -> bool:
    """Hold a waiting call while a pause covers it. Return False if none does."""
    pause = pauses.of_call(session, call)
    if pause is None:
        return False
    now, message = utcnow(), pauses.pause_message(pause)
    move(call, states.QUEUE, CallStatus.QUEUED)
    call.next_attempt_at = None
    held_call = session.get(HeldCall, call.id)
    if held_call is None or call.status_detail != message:
        call.status_detail = message
        kind = f"held:{now.isoformat()}"
        events.add_timeline_entry(session, call, kind, CallStatus.QUEUED, at=now, detail=message)
    if held_call is None:
        session.add(
            HeldCall(
                call_id=call.id,
                partner_id=call.partner_id,
                carrier=call.carrier,
                expires_at=call.expires_at,
            )
        )
    return True


def begin_attempt(
    session: Session,
    call: Call,
    assistant: Assistant,
    attempt_id: UUID,
    number: int,
    now: datetime,
    reserved: spending.CallAmount,
) -> None:
    """Write the attempt before the request to the carrier; the first one starts the call."""
    session.add(
        CallAttempt(
            id=attempt_id,
            organization_id=call.organization_id,
            call_id=call.id,
            number=number,
            carrier=call.carrier,
            account_id=call.account_id,
            from_number=assistant.phone_number,
            hand_over_to=None if call.verifies_a_number else assistant.voice_address,
            status=CallStatus.DIALING,
            started_at=now,
            reserved_micros=reserved.micros,
            reserved_seconds=reserved.seconds,
        )
    )
    move(call, states.DIAL, CallStatus.DIALING)
    call.status_detail = call.next_attempt_at = None
    call.started_at = call.started_at or now
    events.add_timeline_entry(
        session, call, "dialing", CallStatus.DIALING, at=now, attempt_id=attempt_id
    )
    if number == 1:
        events.publish_event(session, call, WebhookEvent.CALL_STARTED)


def requeue(
    session: Session, call: Call, attempt: CallAttempt, reason: EndedReason, detail: str
) -> None:
    """Replace an attempt that was certainly never placed; the call goes to the front."""
    now = utcnow()
    attempt.status, attempt.ended_reason = CallStatus.FAILED, reason
    attempt.ended_at, attempt.detail = now, detail
    spending.settle(session, call, attempt)
    move(call, states.REQUEUE, CallStatus.QUEUED)
    withdraw_start(call, attempt)
    call.status_detail = detail
    events.add_timeline_entry(
        session,
        call,
        "never-placed",
        CallStatus.QUEUED,
        at=now,
        detail=detail,
        attempt_id=attempt.id,
    )
    enqueue(session, call, had_its_turn=True)


def withdraw_start(call: Call, attempt: CallAttempt) -> None:
    """Record that the call has not started with this attempt, which was certainly never placed."""
    if call.started_at == attempt.started_at:
        call.started_at = None


def advance(session: Session, call: Call, attempt: CallAttempt, event: CarrierEvent) -> None:
    """Record that the call rings, was answered, or that a message was played; the state only moves
    forward."""
    change, at = _MOVE_OF_EVENT[event.kind], max(event.at, attempt.started_at)
    if attempt.status in change.sources:
        (status,) = change.targets
        move(call, change, status)
        attempt.status = status
    detail = None
    if event.kind is CarrierEventKind.RINGING:
        attempt.ringing_at = attempt.ringing_at or at
    elif event.kind is CarrierEventKind.ANSWERED and attempt.answered_at is None:
        attempt.answered_at = call.answered_at = at
        attempt.answered_by = call.answered_by = attempt.answered_by or event.answered_by
    elif event.kind is CarrierEventKind.INTRO_SPOKEN:
        detail = attempt.spoken = call.intro_message
    elif event.kind is CarrierEventKind.VOICEMAIL_SPOKEN:
        detail = attempt.spoken = call.voicemail_message
    if event.kind is CarrierEventKind.ANSWERED and attempt.answered_by is not None:
        detail = attempt.answered_by.value
    events.add_timeline_entry(
        session,
        call,
        event.kind.value,
        attempt.status,
        at=at,
        detail=detail,
        attempt_id=attempt.id,
    )


def end_attempt(
    session: Session,
    call: Call,
    attempt: CallAttempt,
    status: CallStatus,
    reason: EndedReason,
    *,
    at: datetime,
    detail: str | None = None,
) -> None:
    """End the attempt, and the call unless the organization's rule retries it.

    An answered call becomes a conversation, unless it was made with a test key, verified a
    number or was a test call on the simulated carrier. Until an unknown attempt is resolved, its
    spending stays reserved. An attempt that has ended stays as it is.
    """
    if attempt.status not in ACTIVE:
        return
    if call.cancel_requested_at is not None and status is not CallStatus.UNKNOWN:
        status, reason = CallStatus.CANCELED, EndedReason.CANCELED
    attempt.status, attempt.ended_reason, attempt.ended_at = status, reason, at
    attempt.detail = detail
    if attempt.answered_at is not None:
        answered_by = attempt.answered_by or AnsweredBy.UNKNOWN
        _record_conversation(session, call, answered_by, attempt.answered_at, at)
    is_answered = call.status is CallStatus.IN_PROGRESS
    retry = None if is_answered else _next_retry(session, call, reason, at)
    if retry is None:
        end_call(session, call, status, reason, at=at, detail=detail)
    else:
        move(call, states.RETRY, CallStatus.SCHEDULED)
        call.status_detail, call.next_attempt_at = retry.reason, retry.until
        events.add_timeline_entry(
            session, call, events.ATTEMPT_ENDED, status, at=at, detail=detail, attempt_id=attempt.id
        )
        enqueue_at(session, call, retry.until, at)
    if status is not CallStatus.UNKNOWN:
        spending.settle(session, call, attempt)


def _next_retry(
    session: Session, call: Call, reason: EndedReason, at: datetime
) -> limits.LimitWait | None:
    """Return when the organization's retry rule dials again; None after the last attempt."""
    if reason not in _WORTH_RETRYING or call.verifies_a_number:
        return None
    organization = session.get_one(Organization, call.organization_id)
    retries = session.scalar(
        select(func.count())
        .select_from(CallEvent)
        .where(
            CallEvent.call_id == call.id,
            CallEvent.key.endswith(f":{events.ATTEMPT_ENDED}"),
        )
    )
    if (retries or 0) >= organization.retry_times:
        return None
    retry_at = at + timedelta(minutes=organization.retry_minutes)
    if retry_at >= call.expires_at or _is_after_plan(session, call, organization, retry_at):
        return None
    minutes = organization.retry_minutes
    message = _RETRIED_SOON if minutes == 1 else _RETRIED
    why = message(reason_words=_WORTH_RETRYING[reason](), minutes=localize_number(minutes))
    return limits.LimitWait(retry_at, why)


def _is_after_plan(
    session: Session, call: Call, organization: Organization, retry_at: datetime
) -> bool:
    """Return whether the plan of a campaign's call allows no attempt from then on."""
    plan = limits.plan_of(session, call)
    if plan is None:
        return False
    opens = limits.next_opening(call.phone_number, organization, retry_at, plan)
    assistant = session.get_one(Assistant, call.assistant_id)
    return opens is None or limits.is_plan_over(plan, assistant, opens)


def end_call(
    session: Session,
    call: Call,
    status: CallStatus,
    reason: EndedReason,
    *,
    at: datetime,
    detail: str | None = None,
) -> None:
    """End the call. A call that has ended stays as it is."""
    if call.status.is_final:
        return
    move(call, states.STOP if call.status in WAITING else states.END, status)
    _store_end(call, reason, at)
    call.status_detail = detail
    call.next_attempt_at = call.slot_released_at = None
    _count_ended(session, call)
    events.add_timeline_entry(session, call, "ended", status, at=at, detail=detail)
    events.publish_event(session, call, WebhookEvent(f"call.{status.value}"))


def resolve(
    session: Session,
    call: Call,
    attempt: CallAttempt | None,
    status: CallStatus,
    reason: EndedReason,
    *,
    at: datetime,
    answered_at: datetime | None = None,
    answered_by: AnsweredBy | None = None,
    detail: str | None = None,
) -> None:
    """End a call that is unknown or stuck, with the outcome from the carrier or an operator;
    without a retry."""
    session.execute(
        update(CallEvent)
        .where(CallEvent.call_id == call.id, CallEvent.key == "ended")
        .values(key="was-unknown")
    )
    if attempt is not None:
        attempt.status, attempt.ended_reason, attempt.ended_at = status, reason, at
        attempt.detail, attempt.carrier_retry_at = detail, None
        attempt.answered_at, attempt.answered_by = answered_at, answered_by
    move(call, states.RESOLVE, status)
    call.answered_at, call.answered_by = answered_at, answered_by
    _store_end(call, reason, at)
    call.status_detail, call.next_attempt_at = detail, None
    if answered_at is not None and answered_by is not None:
        _record_conversation(session, call, answered_by, answered_at, at)
    _count_ended(session, call)
    if attempt is not None:
        spending.settle(session, call, attempt)
    events.add_timeline_entry(session, call, "ended", status, at=utcnow(), detail=detail)
    events.publish_event(session, call, WebhookEvent(f"call.{status.value}"))


def _store_end(call: Call, reason: EndedReason, at: datetime) -> None:
    call.ended_reason, call.ended_at = reason, at
    answered_at = call.answered_at
    call.seconds = max(0, round((at - answered_at).total_seconds())) if answered_at else None


def _count_ended(session: Session, call: Call) -> None:
    """Count the ended call; unknown outcomes count once they are resolved."""
    if call.is_usage and call.ended_at is not None and call.status in rollup.ENDED_BY_CARRIER:
        rollup.add_ended_calls(
            session,
            partner_id=call.partner_id,
            organization_id=call.organization_id,
            day=call.ended_at.astimezone(UTC).date(),
            ends={call.status: 1},
        )


def _record_conversation(
    session: Session, call: Call, answered_by: AnsweredBy, began: datetime, ended: datetime
) -> None:
    if not call.is_usage:
        return
    conversations.record(
        session,
        partner_id=call.partner_id,
        organization_id=call.organization_id,
        assistant_id=call.assistant_id,
        call_id=call.id,
        answered_by=answered_by,
        started_at=began,
        ended_at=ended,
    )
