"""Cancelling: at once while a call waits, by the worker through the carrier afterwards."""

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, EndedReason
from app.errors import Conflict
from app.models import Call, CallAttempt, utcnow
from app.policy.caller import Caller
from app.services import audit, carrier_accounts
from app.services.calls import news, reading
from app.services.calls.outcome import end_attempt, end_call
from app.services.calls.states import WAITING, latest_attempt, lock_call, note

CANCELLING = "Being cancelled: the carrier is asked to end the call."


def cancel(session: Session, caller: Caller, call_id: UUID | str, keys: Sequence[str]) -> Call:
    """Cancel a call that waits, or promise to end one that is on the line.

    The worker keeps the promise: it asks the carrier until the call is over. Where the carrier
    does not end the call, it goes on, and its ``status_detail`` and its timeline say so. A call
    that was cancelled before is returned as it is. ``keys`` open the carrier accounts.
    Raises `Conflict`: ``call_ended`` for a call that is over, ``cancel_refused`` for one whose
    carrier account can't be used any more.
    """
    call = lock_call(session, reading.get(session, caller, call_id).id)
    if call.status is CallStatus.CANCELED:
        return call
    if call.status.is_final:
        message = "The call is over already."
        raise Conflict(message, "call_ended")
    now = utcnow()
    if call.status in WAITING:
        call.cancel_requested_at = now
        end_call(session, call, CallStatus.CANCELED, EndedReason.CANCELED, at=now)
    elif call.cancel_requested_at is None:
        attempt = latest_attempt(session, call.id)
        if attempt is not None and attempt.put_off_until is None:
            _check_reachable(session, keys, attempt)
        call.cancel_requested_at, call.status_detail = now, CANCELLING
        note(session, call, f"cancel-asked:{now.isoformat()}", call.status, at=now)
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


def _check_reachable(session: Session, keys: Sequence[str], attempt: CallAttempt) -> None:
    """Raise `Conflict` where nothing opens the attempt's carrier account any more."""
    account_id = attempt.account_id
    if account_id is not None and carrier_accounts.credentials(session, keys, account_id) is None:
        message = "The carrier account of this call can't be used any more; the call goes on."
        raise Conflict(message, "cancel_refused")


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
