"""The states of a call and of its attempts: forward only, under the lock of the call's row."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import bindparam, select
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


_LOCKED = (
    select(Call)
    .where(Call.id == bindparam("call_id"))
    .with_for_update()
    .execution_options(populate_existing=True)
)


def lock_call(session: Session, call_id: UUID) -> Call:
    """The call as it is now, locked until the transaction ends; it guards its attempts too."""
    call = session.scalars(_LOCKED, {"call_id": call_id}).one_or_none()
    if call is None:
        raise NotFound
    return call


def lock_attempt(session: Session, attempt_id: UUID) -> tuple[Call, CallAttempt]:
    """An attempt and its call as they are now, locked until the transaction ends."""
    query = (
        select(Call, CallAttempt)
        .join(CallAttempt, CallAttempt.call_id == Call.id)
        .where(CallAttempt.id == attempt_id)
        .with_for_update()
    )
    row = session.execute(query, execution_options={"populate_existing": True}).one()
    return row[0], row[1]


def latest_attempt(session: Session, call_id: UUID) -> CallAttempt | None:
    query = (
        select(CallAttempt)
        .where(CallAttempt.call_id == call_id)
        .order_by(CallAttempt.number.desc())
        .limit(1)
    )
    return session.scalars(query, execution_options={"populate_existing": True}).one_or_none()


def note(
    session: Session,
    call: Call,
    kind: str,
    status: CallStatus,
    *,
    at: datetime,
    detail: str | None = None,
    attempt_id: UUID | None = None,
) -> None:
    """Adds a moment to the call's timeline.

    ``kind`` is the last part of the event's key, which is unique in the call: accepted, scheduled,
    dialing, ringing, answered, said-intro, said-voicemail, attempt-ended, never-placed, put-off,
    held, was-unknown, ended, cancel-asked, cancel-refused (those that can come again carry their
    time after a colon).
    """
    session.add(
        CallEvent(
            call_id=call.id,
            attempt_id=attempt_id,
            key=event_key(kind, attempt_id),
            at=at,
            status=status,
            detail=detail,
        )
    )


def event_key(kind: str, attempt_id: UUID | None) -> str:
    return kind if attempt_id is None else f"{attempt_id}:{kind}"


def known_events(session: Session, call_id: UUID, attempt_id: UUID) -> set[str]:
    """The keys of what is noted of an attempt already."""
    query = select(CallEvent.key).where(
        CallEvent.call_id == call_id, CallEvent.attempt_id == attempt_id
    )
    return set(session.scalars(query))
