"""The states of a call and of its attempts: forward only, under the lock of the call's row."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.errors import NotFound
from app.models import Call, CallAttempt, CallEvent

WAITING = frozenset({CallStatus.SCHEDULED, CallStatus.QUEUED})
ACTIVE = frozenset({CallStatus.DIALING, CallStatus.RINGING, CallStatus.IN_PROGRESS})

_RANK = {
    CallStatus.SCHEDULED: 0,
    CallStatus.QUEUED: 1,
    CallStatus.DIALING: 2,
    CallStatus.RINGING: 3,
    CallStatus.IN_PROGRESS: 4,
}
_FINAL_RANK = 5


def is_forward(old: CallStatus, new: CallStatus) -> bool:
    """Whether a move within one attempt goes forward; a final state is never left."""
    return _RANK.get(new, _FINAL_RANK) > _RANK.get(old, _FINAL_RANK)


def lock_call(session: Session, call_id: UUID) -> Call:
    """The call as it is now, locked until the transaction ends; it guards its attempts too."""
    query = select(Call).where(Call.id == call_id).with_for_update()
    call = session.scalars(query, execution_options={"populate_existing": True}).one_or_none()
    if call is None:
        raise NotFound
    return call


def latest_attempt(session: Session, call_id: UUID) -> CallAttempt | None:
    query = (
        select(CallAttempt)
        .where(CallAttempt.call_id == call_id)
        .order_by(CallAttempt.number.desc())
        .limit(1)
    )
    return session.scalars(query, execution_options={"populate_existing": True}).one_or_none()


def add_event(
    session: Session,
    call: Call,
    kind: str,
    status: CallStatus,
    *,
    at: datetime,
    detail: str | None = None,
    attempt_id: UUID | None = None,
) -> bool:
    """Adds a moment to the call's timeline; False where it is there already.

    ``kind`` is the last part of the event's key: accepted, scheduled, dialing, ringing, answered,
    said-intro, said-voicemail, ended, cancel-asked, cancel-refused.
    """
    key = kind if attempt_id is None else f"{attempt_id}:{kind}"
    known = select(CallEvent.id).where(CallEvent.call_id == call.id, CallEvent.key == key)
    if session.scalar(known) is not None:
        return False
    session.add(
        CallEvent(
            call_id=call.id, attempt_id=attempt_id, key=key, at=at, status=status, detail=detail
        )
    )
    session.flush()
    return True
