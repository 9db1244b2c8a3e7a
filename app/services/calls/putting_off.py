"""Attempts that the carrier put off: certainly not placed, and asked for again in a while."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason
from app.models import utcnow
from app.services import carrier_accounts
from app.services.calls import limits, rules
from app.services.calls.dispatch import (
    Claim,
    ClaimKind,
    begun_before,
    blocker_of,
    placement_of,
    put_off_claim,
)
from app.services.calls.outcome import end_attempt
from app.services.calls.states import ACTIVE, lock_attempt, note
from app.services.dialler import pauses

MOST_SHOWN = 400
"""Characters of what a carrier said that a call shows."""


def claim_again(session: Session, attempt_id: UUID) -> Claim:
    """Takes up an attempt that the carrier put off: certainly not placed, and checked again now."""
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status not in ACTIVE or attempt.put_off_until is None:
        return begun_before(session, call, attempt_id)
    now = utcnow()
    if now < attempt.put_off_until:
        return put_off_claim(attempt)
    carrier_accounts.choose_again(session, call)
    attempt.carrier, attempt.account_id = call.carrier, call.account_id
    parties = rules.parties_of(session, call.agent_id, call.phone_number, lock=True)
    if now >= call.expires_at:
        status, reason = CallStatus.EXPIRED, EndedReason.EXPIRED
        detail = limits.waited_for(call.status_detail)
    elif blocker := blocker_of(session, call, parties):
        status, reason, detail = CallStatus.CANCELED, blocker.reason, blocker.message
    elif pause := pauses.of_call(session, call):
        call.status_detail, call.next_attempt_at = pauses.sentence(pause), None
        attempt.put_off_until = now + pauses.LOOK_AGAIN
        return put_off_claim(attempt)
    else:
        call.status_detail = call.next_attempt_at = None
        attempt.put_off_until, attempt.asked_at = None, now
        attempt.from_number = parties.agent.phone_number
        return Claim(ClaimKind.DIAL, call.carrier, placement_of(call, parties.agent, attempt_id))
    end_attempt(session, call, attempt, status, reason, at=now, detail=detail)
    return Claim(ClaimKind.DONE, call.carrier)


def put_off(session: Session, attempt_id: UUID, seconds: float, message: str) -> None:
    """The carrier did not place the attempt, and may be asked again after a while."""
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status not in ACTIVE or attempt.carrier_reference is not None:
        return
    now = utcnow()
    if call.cancel_requested_at is not None:
        canceled = CallStatus.CANCELED, EndedReason.CANCELED
        end_attempt(session, call, attempt, *canceled, at=now)
        return
    attempt.put_off_until = now + timedelta(seconds=seconds)
    call.status_detail = message[:MOST_SHOWN]
    call.next_attempt_at = attempt.put_off_until
    kind = f"put-off:{now.isoformat()}"
    note(session, call, kind, call.status, at=now, detail=message, attempt_id=attempt.id)
