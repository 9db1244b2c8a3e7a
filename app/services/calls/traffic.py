"""The calls that each carrier account placed in the last day, and the last one that failed."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func
from sqlalchemy.orm import Session

from app.enums import FINAL_CALL_STATUSES, CallStatus, CarrierKind, EndedReason
from app.models import Call, utcnow
from app.models.base import id_at
from app.policy.caller import Caller
from app.services.calls.queries import LAST_DAY, visible

LAST_HOUR = timedelta(hours=1)
RECENT = timedelta(minutes=15)
_BY_CARRIER = (EndedReason.REJECTED, EndedReason.CARRIER_ERROR)


@dataclass(frozen=True, slots=True)
class CallTraffic:
    """Calls requested in the last day and placed; ``last_hour`` of them in the last hour.
    ``answered`` counts those of the ``ended`` ones that were answered."""

    last_hour: int = 0
    last_day: int = 0
    ended: int = 0
    answered: int = 0


def by_account(
    session: Session, caller: Caller
) -> dict[tuple[CarrierKind, UUID | None], CallTraffic]:
    """Count the caller's calls by carrier and account; None is the installation's account."""
    now, has_ended = utcnow(), Call.status.in_(FINAL_CALL_STATUSES)
    is_answered = Call.answered_at.is_not(None)
    counts = (
        func.count().filter(Call.id >= id_at(now - LAST_HOUR)),
        func.count(),
        func.count().filter(has_ended),
        func.count().filter(has_ended, is_answered),
    )
    query = (
        visible(caller)
        .where(Call.id >= id_at(now - LAST_DAY), Call.started_at.is_not(None))
        .with_only_columns(Call.carrier, Call.account_id, *counts)
        .group_by(Call.carrier, Call.account_id)
    )
    rows = session.execute(query)
    return {(carrier, account_id): CallTraffic(*figures) for carrier, account_id, *figures in rows}


def count_not_placed(session: Session, caller: Caller) -> int:
    """Count the caller's calls that a carrier did not place, within `RECENT`."""
    now = utcnow()
    query = visible(caller).where(
        Call.status == CallStatus.FAILED,
        Call.ended_reason.in_(_BY_CARRIER),
        Call.ended_at >= now - RECENT,
        Call.id >= id_at(now - LAST_DAY),
    )
    return session.scalar(query.with_only_columns(func.count())) or 0


def last_failure(session: Session, caller: Caller) -> Call | None:
    """Return the newest of the caller's calls of the last day that failed."""
    failed = visible(caller).where(
        Call.status == CallStatus.FAILED, Call.id >= id_at(utcnow() - LAST_DAY)
    )
    return session.scalar(failed.order_by(Call.id.desc()).limit(1))
