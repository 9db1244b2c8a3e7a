"""Limits per day (UTC) across all partners, organizations and processes."""

from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.models import Base, DailyCount, utcnow
from app.services.uniqueness import insert_into

_TABLE = Base.metadata.tables[DailyCount.__tablename__]
_KEPT = timedelta(days=1)


def count_one(session: Session, subject: str, limit: int) -> bool:
    """Count one more for today, unless ``limit`` is reached; whether it was counted.

    Concurrent counts of the same subject wait until this transaction ends.
    """
    statement = (
        insert_into(session, _TABLE)
        .values(day=utcnow().date(), subject=subject, count=1)
        .on_conflict_do_update(
            index_elements=["day", "subject"],
            set_={"count": _TABLE.c.count + 1},
            where=_TABLE.c.count < limit,
        )
        .returning(_TABLE.c.count)
    )
    return session.execute(statement).one_or_none() is not None


def has_room(session: Session, subject: str, limit: int) -> bool:
    """Whether `count_one` would count one more."""
    today = select(_TABLE.c.count).where(
        _TABLE.c.day == utcnow().date(), _TABLE.c.subject == subject
    )
    return (session.scalar(today) or 0) < limit


def purge(session: Session) -> None:
    """Delete the counts of past days."""
    session.execute(delete(_TABLE).where(_TABLE.c.day < (utcnow() - _KEPT).date()))
