"""What became of an attempt, by the carrier's word or the lack of it.

Whatever was asked ends in one of `placed`, `refused`, `never_placed` and `unknown`; only what was
certainly never placed is tried again.
"""

from uuid import UUID

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason
from app.gateways.job_queue import enqueue_call
from app.models import CallAttempt, new_id, utcnow
from app.services.calls.outcome import end_attempt, end_call
from app.services.calls.states import WAITING, lock_attempt, lock_call, note

UNPLACED = "The carrier was asked, but the request never reached it."
CUT_SHORT = "The worker was stopped before it asked the carrier."
MOST_ATTEMPTS = {UNPLACED: 3, CUT_SHORT: 20}
"""How many attempts that were never placed a call is given, by what kept them from it."""


def placed(session: Session, attempt_id: UUID, reference: str) -> None:
    """The carrier took the call."""
    session.execute(
        update(CallAttempt)
        .where(
            CallAttempt.id == attempt_id,
            or_(CallAttempt.carrier_reference.is_(None), CallAttempt.is_guessed),
        )
        .values(carrier_reference=reference, is_guessed=False)
    )


def refused(session: Session, attempt_id: UUID, reason: EndedReason, message: str) -> None:
    """The carrier said no: this attempt has not rung and never will."""
    call, attempt = lock_attempt(session, attempt_id)
    end_attempt(session, call, attempt, CallStatus.FAILED, reason, at=utcnow(), detail=message)


def unanswered(session: Session, attempt_id: UUID) -> None:
    """The carrier was asked and said nothing; what became of it is to be found out."""
    session.execute(
        update(CallAttempt)
        .where(CallAttempt.id == attempt_id, CallAttempt.asked_at.is_(None))
        .values(asked_at=CallAttempt.started_at)
    )


def never_placed(session: Session, attempt_id: UUID) -> None:
    """The carrier is certain that it never got the request: a new attempt takes its place.

    It counts whether the attempt was `unanswered`, so that a silent carrier is not asked for ever.
    """
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status is not CallStatus.DIALING or call.status is not CallStatus.DIALING:
        return
    now, detail = utcnow(), CUT_SHORT if attempt.asked_at is None else UNPLACED
    before = session.scalar(
        select(func.count())
        .select_from(CallAttempt)
        .where(CallAttempt.call_id == call.id, CallAttempt.detail == detail)
    )
    failed, reason = CallStatus.FAILED, EndedReason.CARRIER_ERROR
    if call.cancel_requested_at is not None or (before or 0) + 1 >= MOST_ATTEMPTS[detail]:
        end_attempt(session, call, attempt, failed, reason, at=now, detail=detail)
        return
    attempt.status, attempt.ended_reason = failed, reason
    attempt.ended_at, attempt.detail = now, detail
    call.status, call.started_at, call.status_detail = CallStatus.QUEUED, None, detail
    note(
        session,
        call,
        "never-placed",
        CallStatus.QUEUED,
        at=now,
        detail=detail,
        attempt_id=attempt.id,
    )
    enqueue_call(
        session,
        call_id=call.id,
        attempt_id=new_id(),
        organization_id=call.organization_id,
        had_its_turn=True,
    )


def unknown(session: Session, attempt_id: UUID) -> None:
    """Nobody can say whether it rang: shown to a person, never dialled again by itself."""
    call, attempt = lock_attempt(session, attempt_id)
    detail = "The carrier could not say whether the call was placed."
    end_attempt(
        session, call, attempt, CallStatus.UNKNOWN, EndedReason.UNKNOWN, at=utcnow(), detail=detail
    )


def give_up(session: Session, call_id: UUID, attempt_id: UUID) -> None:
    """Something broke that repeating won't mend: a person is shown the call as it stands."""
    call = lock_call(session, call_id)
    if session.get(CallAttempt, attempt_id) is not None:
        unknown(session, attempt_id)
    elif call.status in WAITING:
        detail = "The call could not be prepared; it was not placed."
        end_call(
            session, call, CallStatus.FAILED, EndedReason.CARRIER_ERROR, at=utcnow(), detail=detail
        )
