"""The states of a call and the moves between them, in one table that code, tests and docs read.

A call moves only while its row is locked, and only through `move`. Its attempts go through the
active states and end in a final one; the call follows its latest attempt.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ColumnElement, bindparam, select
from sqlalchemy.orm import Session

from app.enums import CallStatus
from app.errors import NotFound
from app.models import Call, CallAttempt


class CallPhase(StrEnum):
    WAITING = "waiting"
    ACTIVE = "active"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class StatusMeaning:
    phase: CallPhase
    meaning: str


STATES = {
    CallStatus.SCHEDULED: StatusMeaning(
        CallPhase.WAITING, "Accepted; it is placed at a later time."
    ),
    CallStatus.QUEUED: StatusMeaning(CallPhase.WAITING, "Accepted; it waits for its turn."),
    CallStatus.DIALING: StatusMeaning(
        CallPhase.ACTIVE, "An attempt is written; the carrier is asked to dial."
    ),
    CallStatus.RINGING: StatusMeaning(CallPhase.ACTIVE, "The phone rings."),
    CallStatus.IN_PROGRESS: StatusMeaning(CallPhase.ACTIVE, "The call was answered and goes on."),
    CallStatus.COMPLETED: StatusMeaning(CallPhase.FINAL, "A person or a voicemail answered."),
    CallStatus.BUSY: StatusMeaning(CallPhase.FINAL, "The number was busy."),
    CallStatus.NO_ANSWER: StatusMeaning(CallPhase.FINAL, "The call wasn't answered."),
    CallStatus.FAILED: StatusMeaning(
        CallPhase.FINAL, "The carrier refused the call or couldn't place it."
    ),
    CallStatus.CANCELED: StatusMeaning(CallPhase.FINAL, "A user, a script or a rule stopped it."),
    CallStatus.EXPIRED: StatusMeaning(CallPhase.FINAL, "It couldn't be placed in time."),
    CallStatus.UNKNOWN: StatusMeaning(
        CallPhase.FINAL, "The carrier can't say what happened; an operator can resolve it."
    ),
}


def _statuses_in(phase: CallPhase) -> frozenset[CallStatus]:
    return frozenset(status for status, state in STATES.items() if state.phase is phase)


WAITING = _statuses_in(CallPhase.WAITING)
ACTIVE = _statuses_in(CallPhase.ACTIVE)
FINAL = _statuses_in(CallPhase.FINAL)
NOT_REACHED = frozenset({CallStatus.BUSY, CallStatus.NO_ANSWER})
FAILURES = frozenset({CallStatus.FAILED, CallStatus.EXPIRED, CallStatus.UNKNOWN})
"""The final states of calls that weren't placed, or may not have been."""


def takes_slot() -> ColumnElement[bool]:
    """Return whether a call counts as one of its organization's calls at once: it is active, and
    its carrier isn't silent (`app.services.calls.silence`)."""
    return Call.status.in_(ACTIVE) & Call.slot_released_at.is_(None)


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A change of state: from each of ``sources`` (None: a new call) to each of ``targets``."""

    name: str
    sources: AbstractSet[CallStatus | None]
    targets: AbstractSet[CallStatus]
    when: str


ACCEPT = StatusChange(
    "accept",
    {None},
    {CallStatus.SCHEDULED, CallStatus.QUEUED},
    "A request is accepted: no rule stops it.",
)
POSTPONE = StatusChange(
    "postpone",
    WAITING,
    {CallStatus.SCHEDULED},
    "Calling hours or limits allow the call only later, or earlier than it was scheduled.",
)
QUEUE = StatusChange(
    "queue",
    WAITING,
    {CallStatus.QUEUED},
    "The time has come, but the organization's calls at once, the carrier's pace or a pause of "
    "calling hold the call back.",
)
DIAL = StatusChange(
    "dial",
    WAITING,
    {CallStatus.DIALING},
    "The turn of the call has come: an attempt is written, then the carrier is asked.",
)
REQUEUE = StatusChange(
    "requeue",
    {CallStatus.DIALING},
    {CallStatus.QUEUED},
    "The attempt was certainly never placed, and is replaced by a new one: the request didn't "
    "reach the carrier, or the carrier delayed it until hours or limits no longer allow the call.",
)
RING = StatusChange(
    "ring", {CallStatus.DIALING}, {CallStatus.RINGING}, "The carrier reports that the phone rings."
)
ANSWER = StatusChange(
    "answer",
    {CallStatus.DIALING, CallStatus.RINGING},
    {CallStatus.IN_PROGRESS},
    "The carrier reports an answer.",
)
RETRY = StatusChange(
    "retry",
    {CallStatus.DIALING, CallStatus.RINGING},
    {CallStatus.SCHEDULED},
    "The attempt ended busy, unanswered or with a carrier error, and the organization's retry "
    "rule allows another one.",
)
STOP = StatusChange(
    "stop",
    WAITING,
    {
        CallStatus.CANCELED,
        CallStatus.EXPIRED,
        CallStatus.FAILED,
        CallStatus.BUSY,
        CallStatus.NO_ANSWER,
    },
    "The call is cancelled, stopped by a rule, expired or can't be prepared. A call that waited "
    "for a retry when its campaign stopped ends as its last attempt did.",
)
END = StatusChange("end", ACTIVE, FINAL, "The attempt ended and there is no retry.")
RESOLVE = StatusChange(
    "resolve",
    WAITING | ACTIVE | {CallStatus.UNKNOWN},
    {
        CallStatus.COMPLETED,
        CallStatus.BUSY,
        CallStatus.NO_ANSWER,
        CallStatus.FAILED,
        CallStatus.CANCELED,
    },
    "The carrier or an operator says what happened to a call that is unknown or stuck.",
)

MOVES = (ACCEPT, POSTPONE, QUEUE, DIAL, REQUEUE, RING, ANSWER, RETRY, STOP, END, RESOLVE)


class ImpossibleMove(Exception):
    """The table doesn't allow this move."""


def move(call: Call, change: StatusChange, status: CallStatus) -> None:
    """Change the state of a locked call. Raises `ImpossibleMove`."""
    if call.status not in change.sources or status not in change.targets:
        message = f"A call can't {change.name} from {call.status} to {status}."
        raise ImpossibleMove(message)
    call.status = status


_LOCKED = (
    select(Call)
    .where(Call.id == bindparam("call_id"))
    .with_for_update()
    .execution_options(populate_existing=True)
)


def lock_call(session: Session, call_id: UUID) -> Call:
    """Return the current call, locked until the transaction ends. The lock covers its attempts too.

    Raises `NotFound`.
    """
    call = session.scalars(_LOCKED, {"call_id": call_id}).one_or_none()
    if call is None:
        raise NotFound
    return call


def lock_attempt(session: Session, attempt_id: UUID) -> tuple[Call, CallAttempt]:
    """Return an attempt and its call, locked until the transaction ends."""
    query = (
        select(Call, CallAttempt)
        .join(CallAttempt, CallAttempt.call_id == Call.id)
        .where(CallAttempt.id == attempt_id)
        .with_for_update()
    )
    row = session.execute(query, execution_options={"populate_existing": True}).one()
    return row[0], row[1]


def latest_attempt(
    session: Session, call_id: UUID, *conditions: ColumnElement[bool]
) -> CallAttempt | None:
    """Return the call's latest attempt that meets the conditions; None without any."""
    query = (
        select(CallAttempt)
        .where(CallAttempt.call_id == call_id, *conditions)
        .order_by(CallAttempt.number.desc())
        .limit(1)
    )
    return session.scalars(query, execution_options={"populate_existing": True}).one_or_none()
