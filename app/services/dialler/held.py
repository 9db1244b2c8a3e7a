"""Calls that a pause holds are looked at from time to time: what may not be placed any more ends
at once, not only when dialling goes on."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.models import HeldCall, utcnow
from app.services.calls import rules
from app.services.calls.dispatch import blocker_of
from app.services.calls.outcome import end_call
from app.services.calls.states import WAITING, lock_call

EVERY = timedelta(minutes=1)
AT_ONCE = 100


def due(session: Session) -> list[UUID]:
    """The held calls that have not been looked at for a minute, `AT_ONCE` at most."""
    query = select(HeldCall.call_id).where(HeldCall.held_at < utcnow() - EVERY)
    return list(session.scalars(query.order_by(HeldCall.held_at).limit(AT_ONCE)))


def look_at(session: Session, call_id: UUID) -> bool:
    """Ends the call where a rule stops it now; whether it did."""
    call = lock_call(session, call_id)
    row = session.get(HeldCall, call_id)
    if row is None:
        return False
    row.held_at = utcnow()
    if call.status not in WAITING:
        session.delete(row)
        return False
    parties = rules.parties_of(session, call.agent_id, call.phone_number)
    blocker = blocker_of(session, call, parties)
    if blocker is None:
        return False
    status, message = CallStatus.CANCELED, blocker.message
    end_call(session, call, status, blocker.reason, at=utcnow(), detail=message)
    session.delete(row)
    return True
