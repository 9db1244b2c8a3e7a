"""Resolving calls that did not end by themselves, with the outcome from the carrier or an operator.

It dials nothing: a call that may have rung is never tried again.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import AnsweredBy, CallStatus, CarrierKind, EndedReason
from app.errors import Conflict, NotFound, ValidationFailed
from app.gateways.carriers.base import (
    AttemptInquiry,
    CarrierEventKind,
    CarrierReport,
    PlacementVerdict,
)
from app.models import Call, CallAttempt, HeldCall, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.calls import carrier_costs, carrier_reports, lifecycle, stuck
from app.services.calls.states import ACTIVE, WAITING, latest_attempt, lock_attempt, lock_call

REASONS = {
    CallStatus.COMPLETED: EndedReason.COMPLETED,
    CallStatus.BUSY: EndedReason.BUSY,
    CallStatus.NO_ANSWER: EndedReason.NO_ANSWER,
    CallStatus.FAILED: EndedReason.CARRIER_ERROR,
    CallStatus.CANCELED: EndedReason.CANCELED,
}
"""The outcomes that an operator can choose."""
NOT_AT_THE_CARRIER = "The carrier has no such call: it was not placed."


@dataclass(frozen=True, slots=True)
class CarrierInquiry:
    """A query to the carrier about a call."""

    attempt_id: UUID
    carrier: CarrierKind
    inquiry: AttemptInquiry


@dataclass(frozen=True, slots=True)
class _CallEnd:
    reason: EndedReason
    at: datetime
    answered_at: datetime | None = None
    answered_by: AnsweredBy | None = None
    detail: str | None = None

    @property
    def status(self) -> CallStatus:
        return carrier_reports.STATUS_OF_REASON.get(self.reason, CallStatus.FAILED)


def carrier_inquiry(session: Session, call_id: UUID) -> CarrierInquiry | None:
    """Return the query to the carrier; None for a waiting call, which no carrier knows.

    Raises `NotFound` (``call_not_found``), `Conflict` (``call_ended``).
    """
    call = session.get(Call, call_id)
    if call is None:
        message = "There is no such call."
        raise NotFound(message, "call_not_found")
    _check_open(call)
    attempt = latest_attempt(session, call_id)
    if call.status in WAITING or attempt is None:
        return None
    return CarrierInquiry(attempt.id, *carrier_reports.carrier_inquiry(session, attempt.id))


def queue_again(session: Session, caller: Caller, call_id: UUID) -> Call:
    """Queue a waiting call again after its time has passed. Whichever turn comes first dials, and
    only that one. Raises `Forbidden` and `Conflict` (``not_stuck``)."""
    caller.require(Permission.PARTNER_CREATE)  # which only operators have
    call = lock_call(session, call_id)
    if call.status not in WAITING or not _is_stuck(session, call):
        raise _not_stuck(call)
    lifecycle.enqueue(session, call)
    record_resolved(session, caller, call, call.status, "queued again")
    session.flush()
    return call


def by_carrier(
    session: Session,
    caller: Caller,
    inquiry: CarrierInquiry,
    state: CarrierReport,
    settle_seconds: float,
) -> Call:
    """Apply the carrier's answer. An active call stays as it is, or moves forward.

    Raises `Conflict`: ``carrier_unsure`` if the answer is inconclusive, ``call_ended``.
    """
    call, attempt = lock_attempt(session, inquiry.attempt_id)
    _check_open(call)
    before = call.status
    if state.verdict is PlacementVerdict.UNSURE:
        message = "The carrier can't identify the call. Check there, then use --as."
        raise Conflict(message, "carrier_unsure")
    if state.verdict is PlacementVerdict.NOT_PLACED:
        if (utcnow() - inquiry.inquiry.asked_at).total_seconds() < settle_seconds:
            message = "The carrier doesn't show the call yet. Ask again in half a minute."
            raise Conflict(message, "carrier_unsure")
        end = _CallEnd(EndedReason.CARRIER_ERROR, utcnow(), detail=NOT_AT_THE_CARRIER)
        _resolve_call(session, call, attempt, end)
    elif attempt.status in ACTIVE:
        carrier_reports.apply(session, attempt.id, state)
    elif state.end_reason is None:
        message = "The call is in progress. Resolve it when it has ended, or end it at the carrier."
        raise Conflict(message, "call_on_the_line")
    else:
        attempt.carrier_reference = attempt.carrier_reference or state.reference
        carrier_costs.write_cost(session, call, attempt, state)
        _resolve_call(session, call, attempt, _end_from_report(state))
    if call.status is not before:
        record_resolved(session, caller, call, before, "reported by the carrier")
    session.flush()
    return call


def by_operator(
    session: Session, caller: Caller, call_id: UUID, status: CallStatus, reason: str
) -> Call:
    """Store the outcome that an operator chose from `REASONS`. A completed call counts as a
    conversation of no length, unless it was made with a test key.

    Raises `Forbidden`, `ValidationFailed`, `NotFound`, `Conflict` (``call_ended``, ``not_stuck``,
    ``never_placed``).
    """
    caller.require(Permission.PARTNER_CREATE)  # which only operators have
    reason = reason.strip()
    if not reason:
        raise ValidationFailed.on("reason", "invalid_reason", "Say why: --reason.")
    carrier_inquiry(session, call_id)
    call = lock_call(session, call_id)
    before = call.status
    if not _is_stuck(session, call):
        raise _not_stuck(call)
    attempt = latest_attempt(session, call_id)
    is_placed = attempt is not None and call.status not in WAITING
    if not is_placed and status not in (CallStatus.FAILED, CallStatus.CANCELED):
        message = "The call was never placed. It can be failed or canceled."
        raise Conflict(message, "never_placed")
    answered_at = (attempt.answered_at or attempt.started_at) if attempt else None
    is_completed = status is CallStatus.COMPLETED
    end = _CallEnd(
        REASONS[status],
        answered_at if is_completed and answered_at else utcnow(),
        answered_at if is_completed else None,
        ((attempt and attempt.answered_by) or AnsweredBy.UNKNOWN) if is_completed else None,
        detail=f"{caller.label}: {reason}"[:500],
    )
    _resolve_call(session, call, attempt if is_placed else None, end)
    record_resolved(session, caller, call, before, reason)
    session.flush()
    return call


def _end_from_report(state: CarrierReport) -> _CallEnd:
    """Return how a call ended by the carrier's report."""
    reason, ended_at, answered_at, answered_by = EndedReason.UNKNOWN, utcnow(), None, None
    for event in state.events:
        answered_by = answered_by or event.answered_by
        if event.kind is CarrierEventKind.ANSWERED:
            answered_at = event.at
        elif event.kind is CarrierEventKind.ENDED:
            reason, ended_at = event.reason or EndedReason.UNKNOWN, event.at
    if reason is EndedReason.COMPLETED and answered_by is AnsweredBy.VOICEMAIL:
        reason = EndedReason.VOICEMAIL
    if reason in (EndedReason.COMPLETED, EndedReason.VOICEMAIL):
        answered_at, answered_by = answered_at or ended_at, answered_by or AnsweredBy.UNKNOWN
    return _CallEnd(reason, ended_at, answered_at, answered_by)


def _resolve_call(session: Session, call: Call, attempt: CallAttempt | None, end: _CallEnd) -> None:
    lifecycle.resolve(
        session,
        call,
        attempt,
        end.status,
        end.reason,
        at=end.at,
        answered_at=end.answered_at,
        answered_by=end.answered_by,
        detail=end.detail,
    )


def _is_stuck(session: Session, call: Call) -> bool:
    is_held = session.get(HeldCall, call.id) is not None
    return not is_held and stuck.find(session, call.id) is not None


def _check_open(call: Call) -> None:
    if call.status.is_final and call.status is not CallStatus.UNKNOWN:
        message = f"The call has ended: {call.status.value}."
        raise Conflict(message, "call_ended")


def _not_stuck(call: Call) -> Conflict:
    message = f"The call is {call.status.value}. There is nothing to resolve."
    return Conflict(message, "not_stuck")


def record_resolved(
    session: Session, caller: Caller, call: Call, before: CallStatus, reason: str
) -> None:
    audit.record_change(
        session,
        caller,
        "call.resolved",
        call,
        before={"status": before},
        after={"status": call.status, "reason": reason},
    )
