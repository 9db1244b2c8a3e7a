"""How many live calls each organization made to each region, by the hour, for four weeks; simulated
test calls don't count."""

from collections import Counter
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.models import Call, CallAttempt, CallHour
from app.models.base import id_at
from app.phone import region_of
from app.services.uniqueness import insert_into

RETENTION = timedelta(days=28)
HOUR = timedelta(hours=1)
SETTLED = timedelta(minutes=10)
"""Time into an hour during which the previous hour is counted as well."""
MAX_WAIT_TIME = timedelta(hours=30)
"""The maximum time from the one in an attempt's id to its start."""
PREFIX = 5
"""Digits of a number that are counted together: ``+1202``."""


def count(session: Session, now: datetime) -> None:
    """Store the calls of this hour, and delete those of more than four weeks ago. Repeating it
    changes nothing."""
    current_hour = hour_of(now)
    if now - current_hour < SETTLED:
        _count_hour(session, current_hour - HOUR)
    _count_hour(session, current_hour)
    session.execute(delete(CallHour).where(CallHour.hour < current_hour - RETENTION))


def hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


def _count_hour(session: Session, hour: datetime) -> None:
    prefix = func.substr(Call.phone_number, 1, PREFIX)
    query = (
        select(Call.partner_id, Call.organization_id, prefix, func.count())
        .join(CallAttempt, CallAttempt.call_id == Call.id)
        .where(
            CallAttempt.id >= id_at(hour - MAX_WAIT_TIME),
            CallAttempt.started_at >= hour,
            CallAttempt.started_at < hour + HOUR,
            Call.live.is_(True),
            ~Call.is_simulated_test,
        )
        .group_by(Call.partner_id, Call.organization_id, prefix)
    )
    counts: Counter[tuple[UUID, UUID, str]] = Counter()
    for partner_id, organization_id, digits, calls in session.execute(query):
        counts[partner_id, organization_id, region_of_prefix(digits)] += calls
    if not counts:
        return
    statement = insert_into(session, CallHour)
    statement = statement.on_conflict_do_update(
        index_elements=("organization_id", "hour", "region"),
        set_={"calls": statement.excluded.calls},
    )
    rows = [
        {
            "partner_id": partner_id,
            "organization_id": organization_id,
            "hour": hour,
            "region": region,
            "calls": calls,
        }
        for (partner_id, organization_id, region), calls in counts.items()
    ]
    session.execute(statement, rows)


@lru_cache(maxsize=10_000)
def region_of_prefix(prefix: str) -> str:
    """Return the region whose numbers begin like this; the prefix itself if that isn't known."""
    lengths = (10, 9, 8, 11, 7)
    padded = (f"{prefix}{'2' * (length - PREFIX + 2)}" for length in lengths)
    return next(filter(None, map(region_of, padded)), prefix)
