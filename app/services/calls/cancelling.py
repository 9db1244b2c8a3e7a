"""Cancelling: at once while a call waits, through the carrier while it is on the line."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, EndedReason
from app.errors import Conflict
from app.models import Call, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.calls import news, reading
from app.services.calls.outcome import end_attempt, end_call
from app.services.calls.states import WAITING, latest_attempt, lock_call, note


def cancel(session: Session, caller: Caller, call_id: UUID | str) -> Call:
    """Cancels a call, or asks the worker to end it where it is on the line already.

    A call that was cancelled before is answered as it is. Where ``cancel_requested_at`` is set
    and the status isn't final, ask `cancel_result` until it says how it went.
    Raises `Conflict` (``call_ended``) for a call that is over.
    """
    call = lock_call(session, reading.get(session, caller, call_id).id)
    if call.status is CallStatus.CANCELED:
        return call
    if call.status.is_final:
        raise _ended()
    now = utcnow()
    if call.status in WAITING:
        call.cancel_requested_at = now
        end_call(session, call, CallStatus.CANCELED, EndedReason.CANCELED, at=now)
    elif call.cancel_requested_at is None:
        call.cancel_requested_at = now
        note(session, call, f"cancel-asked:{now.isoformat()}", call.status, at=now)
        attempt = latest_attempt(session, call.id)
        if attempt is not None and attempt.put_off_until is not None:
            canceled = CallStatus.CANCELED, EndedReason.CANCELED
            end_attempt(session, call, attempt, *canceled, at=now)
        elif attempt is not None:
            news.tell(session, attempt.id)
    audit.record(
        session,
        caller,
        action="call.cancelled",
        target_type="call",
        target_id=call.id,
        partner_id=call.partner_id,
        organization_id=call.organization_id,
        target=call.phone_number,
    )
    session.flush()
    return call


def cancel_result(session: Session, caller: Caller, call_id: UUID | str) -> Call | None:
    """How a cancellation asked of the worker went; None while it is not known.

    Raises `Conflict`: ``call_ended`` where the call was over first, ``cancel_refused`` where the
    carrier did not end it.
    """
    call = reading.get(session, caller, call_id)
    if call.status is CallStatus.CANCELED:
        return call
    if call.status.is_final:
        raise _ended()
    if call.cancel_requested_at is None:
        raise _refused()
    return None


def withdraw(session: Session, caller: Caller, call_id: UUID | str) -> Call:
    """Gives up on a cancellation that nobody carried out in time.

    It stands where the carrier was asked to end the call already: the worker goes on until the
    call is over.
    """
    call = lock_call(session, reading.get(session, caller, call_id).id)
    attempt = latest_attempt(session, call.id)
    is_under_way = attempt is not None and attempt.hang_up_asked_at is not None
    if not call.status.is_final and not is_under_way:
        call.cancel_requested_at = None
        session.flush()
    return call


def cancel_for_contacts(session: Session, contact_ids: Collection[UUID]) -> int:
    """Stops the waiting campaign calls of contacts whose outreach ended; returns how many."""
    waiting = session.scalars(
        select(Call.id)
        .where(Call.contact_id.in_(contact_ids))
        .where(Call.source == CallSource.CAMPAIGN, Call.status.in_(WAITING))
        .order_by(Call.id)
    ).all()
    now = utcnow()
    stopped = 0
    for call_id in waiting:
        call = lock_call(session, call_id)
        if call.status in WAITING:
            end_call(session, call, CallStatus.CANCELED, EndedReason.CONTACT_ENDED, at=now)
            stopped += 1
    return stopped


def _ended() -> Conflict:
    message = "The call is over already."
    return Conflict(message, "call_ended")


def _refused() -> Conflict:
    message = "The call could not be cancelled; it goes on."
    return Conflict(message, "cancel_refused")
