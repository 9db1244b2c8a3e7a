"""Calls that a pause holds are looked at from time to time: what may not be placed any more ends
at once, not only when dialling goes on."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import HeldCall, utcnow
from app.services.calls import stopping
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
    if not stopping.end_where_stopped(session, call_id):
        return False
    session.delete(row)
    return True
