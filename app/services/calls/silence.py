"""Calls whose carrier gives no answer any more.

After some minutes such a call no longer counts as one of the organization's calls at once, and the
worker queries it from time to time. It counts again when the carrier reports something. It ends as
unknown once the longest call would be over.
"""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import CallStatus, EndedReason
from app.gateways.job_queue import enqueue_silent_call
from app.languages import gettext_noop
from app.models import Call, CallAttempt, utcnow
from app.services.calls import lifecycle
from app.services.calls.states import ACTIVE, lock_attempt

NO_ANSWER = gettext_noop(
    "The carrier gives no answer about the call. It no longer counts as a concurrent call."
)
LONGER_THAN_A_CALL = gettext_noop(
    "The carrier gave no answer about the call for longer than a call lasts."
)
RINGING_LASTS = timedelta(minutes=5)
"""Longer than any call takes from the request until it is answered."""
ASK_EVERY = timedelta(seconds=15)


def end_if_over(session: Session, attempt_id: UUID, max_call_minutes: int) -> bool:
    """End a call as unknown if the longest call would be over, counted from the answer or from the
    request. Return whether it did."""
    attempt = session.get_one(CallAttempt, attempt_id, populate_existing=True)
    since = attempt.answered_at or (attempt.asked_at or attempt.started_at) + RINGING_LASTS
    now = utcnow()
    if now - since <= timedelta(minutes=max_call_minutes):
        return False
    call, attempt = lock_attempt(session, attempt_id)
    unknown = CallStatus.UNKNOWN, EndedReason.UNKNOWN
    lifecycle.end_attempt(session, call, attempt, *unknown, at=now, detail=LONGER_THAN_A_CALL)
    return True


def release_slot(
    session: Session, attempt_id: UUID, silent_since: datetime, after_minutes: float
) -> bool:
    """Stop counting an active call if its carrier has been silent for ``after_minutes``, by its
    answers and its callbacks. Return whether it doesn't count."""
    call, attempt = lock_attempt(session, attempt_id)
    if attempt.status not in ACTIVE:
        return False
    sign_times = (attempt.ringing_at, attempt.answered_at, silent_since)
    if utcnow() - max(time for time in sign_times if time) < timedelta(minutes=after_minutes):
        return False
    if call.slot_released_at is None:
        call.slot_released_at, call.status_detail = utcnow(), NO_ANSWER
    return True


def enqueue_query(
    session: Session, attempt_id: UUID, query_number: int, silent_since: datetime | None
) -> None:
    """Enqueue the next query about a call that `place_call` handed over. ``silent_since`` is None
    if the carrier answered the last one."""
    since = silent_since.isoformat() if silent_since else ""
    enqueue_silent_call(session, attempt_id, query_number, since, ASK_EVERY.total_seconds())


def reset_silence(call: Call) -> None:
    """Count a locked call again: its carrier has reported something."""
    if call.slot_released_at is not None:
        call.slot_released_at = None
        if call.status_detail == NO_ANSWER:
            call.status_detail = None
