"""Cancelling calls: waiting ones at once, active ones by the worker through the carrier."""

from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import CallSource, CallStatus, EndedReason
from app.errors import Conflict
from app.languages import gettext, gettext_noop
from app.models import Call, CallAttempt, Outreach, OutreachContact, utcnow
from app.policy.caller import Caller
from app.services import audit, carrier_accounts
from app.services.calls import events, queries
from app.services.calls.lifecycle import end_attempt, end_call
from app.services.calls.states import WAITING, latest_attempt, lock_call

CANCELLING = gettext_noop("Being cancelled: the carrier is asked to end the call.")
CAMPAIGN_STOPPED = gettext_noop("The campaign was stopped before the call was placed.")
NO_RETRY = gettext_noop("The campaign was stopped; the call is not tried again.")


def cancel(session: Session, caller: Caller, call_id: UUID | str, keys: Sequence[str]) -> Call:
    """Cancel a waiting call, or note that one that was placed is to be ended.

    The worker then sends the request until the call is over. If the carrier does not end the call,
    it continues, and its ``status_detail`` and its timeline say so. A call that was cancelled
    before is returned as it is. ``keys`` decrypt the carrier accounts.

    Raises `Conflict`: ``call_ended`` for a call that is over, ``cancel_refused`` for one whose
    carrier account can't be used any more.
    """
    call = lock_call(session, queries.get(session, caller, call_id).id)
    if call.status is CallStatus.CANCELED:
        return call
    if call.status.is_final:
        message = gettext("The call has already ended.")
        raise Conflict(message, "call_ended")
    now = utcnow()
    if call.status in WAITING:
        call.cancel_requested_at = now
        end_call(session, call, CallStatus.CANCELED, EndedReason.CANCELED, at=now)
    elif call.cancel_requested_at is None:
        attempt = latest_attempt(session, call.id)
        if attempt is not None and attempt.carrier_retry_at is None:
            _check_reachable(session, keys, attempt)
        call.cancel_requested_at, call.status_detail = now, CANCELLING
        events.add_timeline_entry(
            session, call, f"cancel-asked:{now.isoformat()}", call.status, at=now
        )
        if attempt is not None and attempt.carrier_retry_at is not None:
            canceled = CallStatus.CANCELED, EndedReason.CANCELED
            end_attempt(session, call, attempt, *canceled, at=now)
        elif attempt is not None:
            events.signal(session, attempt.id)
    audit.record_change(session, caller, "call.cancelled", call)
    session.flush()
    return call


def cancel_waiting(
    session: Session, caller: Caller, call_id: UUID | str, keys: Sequence[str]
) -> Call:
    """Cancel a call that waits. Raises `Conflict` (``call_placed``, ``call_ended``)."""
    call = lock_call(session, queries.get(session, caller, call_id).id)
    if call.status not in WAITING and not call.status.is_final:
        message = gettext("The call was already placed. End it on its own page.")
        raise Conflict(message, "call_placed")
    return cancel(session, caller, call_id, keys)


def _check_reachable(session: Session, keys: Sequence[str], attempt: CallAttempt) -> None:
    """Raise `Conflict` if the attempt's carrier account can't be used any more."""
    account_id = attempt.account_id
    if account_id is not None and carrier_accounts.credentials(session, keys, account_id) is None:
        message = gettext(
            "The carrier account of this call can no longer be used. The call continues."
        )
        raise Conflict(message, "cancel_refused")


def cancel_for_contacts(session: Session, contact_ids: Collection[UUID]) -> int:
    """Cancel the waiting campaign calls of contacts whose outreach ended; return how many."""
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


def cancel_for_campaign(session: Session, campaign_id: UUID) -> int:
    """End the waiting calls of a campaign that stops; return how many.

    Contacts without an attempt that was placed are called when the campaign resumes; a call that
    waited for a retry ends as its last attempt that was placed did. The outreach's row is locked
    first, so that no further calls are added meanwhile.
    """
    query = select(Outreach.campaign_id).where(Outreach.campaign_id == campaign_id)
    if session.scalar(query.with_for_update()) is None:
        return 0
    waiting = session.scalars(
        select(Call.id)
        .join(OutreachContact, OutreachContact.call_id == Call.id)
        .where(
            OutreachContact.campaign_id == campaign_id,
            Call.source == CallSource.CAMPAIGN,
            Call.status.in_(WAITING),
        )
        .order_by(Call.id)
    ).all()
    now = utcnow()
    stopped = 0
    for call_id in waiting:
        call = lock_call(session, call_id)
        if call.status not in WAITING:
            continue
        stopped += 1
        is_placed = CallAttempt.carrier_retry_at.is_(None)
        attempt = latest_attempt(session, call.id, is_placed) if call.started_at else None
        if attempt is not None and attempt.ended_reason is not None and attempt.status.is_final:
            ended = attempt.status, attempt.ended_reason
            end_call(session, call, *ended, at=now, detail=NO_RETRY)
            continue
        session.execute(delete(OutreachContact).where(OutreachContact.call_id == call.id))
        end_call(
            session,
            call,
            CallStatus.CANCELED,
            EndedReason.CANCELED,
            at=now,
            detail=CAMPAIGN_STOPPED,
        )
    return stopped
