"""How an attempt and a call end: retries, the conversation it may be, the timeline."""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, EndedReason, WebhookEvent
from app.gateways.job_queue import enqueue_call
from app.models import Call, CallAttempt, Organization, new_id
from app.services import conversations
from app.services.calls import limits, telling
from app.services.calls.states import is_forward, note

_WORTH_RETRYING = {
    EndedReason.BUSY: "The line was busy.",
    EndedReason.NO_ANSWER: "Nobody answered.",
    EndedReason.CARRIER_ERROR: "The carrier could not place the call.",
}


def end_call(
    session: Session,
    call: Call,
    status: CallStatus,
    reason: EndedReason,
    *,
    at: datetime,
    detail: str | None = None,
) -> None:
    """The call is over, for good. A call that is over already stays as it is."""
    if not is_forward(call.status, status):
        return
    call.status, call.ended_reason, call.ended_at = status, reason, at
    call.status_detail = detail
    call.next_attempt_at = None
    note(session, call, "ended", status, at=at, detail=detail)
    telling.tell(session, call, WebhookEvent(f"call.{status.value}"))


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
    """The attempt is over, and with it the call, unless the organization tries again.

    A call that was answered becomes a conversation, unless it was made with a test key.
    """
    if not is_forward(attempt.status, status):
        return
    if call.cancel_requested_at is not None and status is not CallStatus.UNKNOWN:
        status, reason = CallStatus.CANCELED, EndedReason.CANCELED
    attempt.status, attempt.ended_reason, attempt.ended_at = status, reason, at
    attempt.detail = detail
    if attempt.answered_at is not None and call.live:
        conversations.record(
            session,
            partner_id=call.partner_id,
            organization_id=call.organization_id,
            agent_id=call.agent_id,
            call_id=call.id,
            answered_by=attempt.answered_by or AnsweredBy.UNKNOWN,
            started_at=attempt.answered_at,
            ended_at=at,
        )
    retry = _retry(session, call, reason, at)
    if retry is None:
        end_call(session, call, status, reason, at=at, detail=detail)
        return
    call.status = CallStatus.SCHEDULED
    call.status_detail, call.next_attempt_at = retry.why, retry.until
    note(session, call, "attempt-ended", status, at=at, detail=detail, attempt_id=attempt.id)
    enqueue_call(
        session,
        call_id=call.id,
        attempt_id=new_id(),
        organization_id=call.organization_id,
        delay_seconds=(retry.until - at).total_seconds(),
    )


def _retry(session: Session, call: Call, reason: EndedReason, at: datetime) -> limits.Wait | None:
    """When the organization's own rule dials again; None where this was the last attempt."""
    if reason not in _WORTH_RETRYING:
        return None
    organization = session.get_one(Organization, call.organization_id)
    made = session.scalar(
        select(func.count())
        .select_from(CallAttempt)
        .where(CallAttempt.call_id == call.id, CallAttempt.carrier_reference.is_not(None))
    )
    if max(1, made or 0) > organization.retry_times:
        return None
    retry_at = at + timedelta(minutes=organization.retry_minutes)
    if retry_at >= call.expires_at:
        return None
    gap = limits.minutes_words(organization.retry_minutes)
    return limits.Wait(retry_at, f"{_WORTH_RETRYING[reason]} It is tried again after {gap}.")
