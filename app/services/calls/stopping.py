"""Calls that wait in the queue behind others, looked at while they wait: what a rule stops ends
then, not only once its turn has come."""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.models import Call, HeldCall, utcnow
from app.services.calls import rules
from app.services.calls.dispatch import blocker_of
from app.services.calls.outcome import end_call
from app.services.calls.states import WAITING, lock_call

AT_ONCE = 100
PATIENCE = timedelta(seconds=2)
"""A call that was accepted so lately is most often dialled before anybody could look at it."""


def queued(session: Session, after: UUID | None) -> list[UUID]:
    """The next `AT_ONCE` calls that wait in a queue, in the order of their acceptance."""
    query = select(Call.id).where(
        Call.status == CallStatus.QUEUED,
        Call.created_at < utcnow() - PATIENCE,
        ~exists().where(HeldCall.call_id == Call.id),
    )
    if after is not None:
        query = query.where(Call.id > after)
    return list(session.scalars(query.order_by(Call.id).limit(AT_ONCE)))


def stopped(session: Session, call_ids: list[UUID]) -> list[UUID]:
    """Those of the calls that a rule stops now."""
    return [
        call.id
        for call, parties in rules.parties_of_calls(session, call_ids)
        if blocker_of(session, call, parties) is not None
    ]


def end_where_stopped(session: Session, call_id: UUID) -> bool:
    """Ends a call that waits where a rule stops it; whether it did."""
    call = lock_call(session, call_id)
    if call.status not in WAITING:
        return False
    parties = rules.parties_of(session, call.agent_id, call.phone_number)
    blocker = blocker_of(session, call, parties)
    if blocker is None:
        return False
    canceled = CallStatus.CANCELED, blocker.reason
    end_call(session, call, *canceled, at=utcnow(), detail=blocker.message)
    return True
