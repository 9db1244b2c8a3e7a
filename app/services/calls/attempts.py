"""The attempts of a call, settled by the carrier's answer.

The order is essential. `claims.next_step` writes the attempt; only after the commit is the request
sent to the carrier, once, with the attempt's id. An attempt that is found after a crash is never
placed again: the carrier is queried about it. Its end is recorded by `record_placed`,
`record_refusal`, `record_never_placed` or `end_unknown`, and only an attempt that was certainly
never placed is replaced.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason
from app.languages import gettext, gettext_noop
from app.models import CallAttempt, CallEvent, utcnow
from app.services.calls import events, lifecycle
from app.services.calls.lifecycle import end_attempt, end_call
from app.services.calls.states import ACTIVE, WAITING, lock_attempt, lock_call

UNPLACED = gettext_noop("The carrier was asked, but the request never reached it.")
CUT_SHORT = gettext_noop("The worker was stopped before it asked the carrier.")
MAX_ATTEMPTS = {UNPLACED: 3, CUT_SHORT: 20}
"""Maximum attempts of a call that were never placed, by the cause."""
MAX_SHOWN = 400
"""Maximum characters of a carrier's message that a call shows."""


def record_carrier_retry(session: Session, attempt_id: UUID, seconds: float, message: str) -> None:
    """Record that the carrier did not place the attempt, which may be sent again in ``seconds``.
    The timeline has each ``message`` once: a carrier can repeat it for hours."""
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status not in ACTIVE or attempt.carrier_reference is not None:
        return
    now = utcnow()
    if call.cancel_requested_at is not None:
        canceled = CallStatus.CANCELED, EndedReason.CANCELED
        end_attempt(session, call, attempt, *canceled, at=now)
        return
    attempt.carrier_retry_at = now + timedelta(seconds=seconds)
    call.status_detail = message[:MAX_SHOWN]
    call.next_attempt_at = attempt.carrier_retry_at
    is_known = select(CallEvent.id).where(
        CallEvent.call_id == call.id,
        CallEvent.key.startswith(events.event_key(events.DELAYED, attempt.id)),
        CallEvent.detail == message,
    )
    if session.scalar(is_known.limit(1)) is None:
        kind = f"{events.DELAYED}:{now.isoformat()}"
        events.add_timeline_entry(
            session, call, kind, call.status, at=now, detail=message, attempt_id=attempt.id
        )


def record_placed(session: Session, attempt_id: UUID, reference: str) -> None:
    """Record that the carrier accepted the call, with the carrier's reference."""
    session.execute(
        update(CallAttempt)
        .where(
            CallAttempt.id == attempt_id,
            or_(CallAttempt.carrier_reference.is_(None), CallAttempt.is_guessed),
        )
        .values(carrier_reference=reference, is_guessed=False)
    )


def record_refusal(session: Session, attempt_id: UUID, reason: EndedReason, message: str) -> None:
    """End an attempt that the carrier refused: it has not rung and never will."""
    call, attempt = lock_attempt(session, attempt_id)
    end_attempt(session, call, attempt, CallStatus.FAILED, reason, at=utcnow(), detail=message)


def record_no_answer(session: Session, attempt_id: UUID) -> None:
    """Record that the carrier did not answer the request; it is queried later."""
    session.execute(
        update(CallAttempt)
        .where(CallAttempt.id == attempt_id, CallAttempt.asked_at.is_(None))
        .values(asked_at=CallAttempt.started_at)
    )


def record_never_placed(session: Session, attempt_id: UUID) -> None:
    """Replace an attempt whose request certainly never reached the carrier.

    The number of such attempts is limited, depending on whether a request was sent at all.
    """
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status is not CallStatus.DIALING or call.status is not CallStatus.DIALING:
        return
    now, detail = utcnow(), CUT_SHORT if attempt.asked_at is None else UNPLACED
    attempt.carrier_retry_at = now
    before = session.scalar(
        select(func.count())
        .select_from(CallAttempt)
        .where(CallAttempt.call_id == call.id, CallAttempt.detail == detail)
    )
    failed, reason = CallStatus.FAILED, EndedReason.CARRIER_ERROR
    if call.cancel_requested_at is not None or (before or 0) + 1 >= MAX_ATTEMPTS[detail]:
        end_attempt(session, call, attempt, failed, reason, at=now, detail=detail)
        return
    lifecycle.requeue(session, call, attempt, reason, detail)


def end_unknown(session: Session, attempt_id: UUID) -> None:
    """End an attempt of which the carrier can't say whether it rang: it is never placed again
    automatically, and an operator can resolve it."""
    call, attempt = lock_attempt(session, attempt_id)
    detail = gettext("The carrier could not say whether the call was placed.")
    end_attempt(
        session, call, attempt, CallStatus.UNKNOWN, EndedReason.UNKNOWN, at=utcnow(), detail=detail
    )


def give_up(session: Session, call_id: UUID, attempt_id: UUID) -> None:
    """End a call after an error that persists."""
    call = lock_call(session, call_id)
    if session.get(CallAttempt, attempt_id) is not None:
        end_unknown(session, attempt_id)
    elif call.status in WAITING:
        detail = gettext("The call could not be prepared; it was not placed.")
        end_call(
            session, call, CallStatus.FAILED, EndedReason.CARRIER_ERROR, at=utcnow(), detail=detail
        )
