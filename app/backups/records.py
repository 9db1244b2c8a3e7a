"""The record of backups: when, where, and whether they succeeded."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.models import Backup, InstallationMark, utcnow
from app.services import workers

RETRY = timedelta(hours=1)
"""Time from a failed or interrupted backup until the next attempt."""
MAX_RUNNING = timedelta(hours=6)
"""An unfinished backup this old counts as interrupted, whichever workers are alive."""
ALIVE_SECONDS = 60.0
OVERDUE = timedelta(hours=26)
RETENTION = timedelta(days=90)
MAX_PROBLEM_LENGTH = 500


@dataclass(frozen=True, slots=True)
class LatestBackups:
    """The newest backup, and the newest that succeeded."""

    last: Backup | None
    succeeded: Backup | None

    @property
    def is_overdue(self) -> bool:
        """Whether the last success is too old for a daily backup."""
        if self.succeeded is None or self.succeeded.finished_at is None:
            return True
        return self.succeeded.finished_at < utcnow() - OVERDUE


def state(session: Session) -> LatestBackups:
    query = select(Backup).order_by(Backup.started_at.desc()).limit(1)
    completed = query.where(Backup.finished_at.is_not(None), Backup.problem.is_(None))
    return LatestBackups(
        session.scalars(query).one_or_none(), session.scalars(completed).one_or_none()
    )


def listing(session: Session, limit: int) -> list[Backup]:
    """Return the backups, newest first."""
    return list(session.scalars(select(Backup).order_by(Backup.started_at.desc()).limit(limit)))


def claim(session: Session, now: datetime, hour: int) -> UUID | None:
    """Start the daily backup if it is due and no other worker has started it; return its id."""
    if not _is_due(session, now, hour):
        return None
    # Only one worker at a time gets here; the row itself is not written.
    session.execute(select(InstallationMark.id).with_for_update()).all()
    return begin(session, now) if _is_due(session, now, hour) else None


def begin(session: Session, now: datetime) -> UUID:
    session.execute(delete(Backup).where(Backup.started_at < now - RETENTION))
    backup = Backup(started_at=now, file="")
    session.add(backup)
    session.flush()
    return backup.id


def succeed(session: Session, backup_id: UUID, file: str, size: int, *, is_verified: bool) -> None:
    backup = session.get_one(Backup, backup_id)
    backup.finished_at = utcnow()
    backup.file, backup.size = file, size
    backup.verified_at = backup.finished_at if is_verified else None


def fail(session: Session, backup_id: UUID, problem: str) -> None:
    backup = session.get_one(Backup, backup_id)
    backup.finished_at, backup.problem = utcnow(), problem[:MAX_PROBLEM_LENGTH]


def _is_due(session: Session, now: datetime, hour: int) -> bool:
    slot = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    if slot > now:
        slot -= timedelta(days=1)
    backups = session.scalars(select(Backup).where(Backup.started_at >= slot)).all()
    if any(each.finished_at and each.problem is None for each in backups):
        return False
    return not any(
        each.started_at > now - RETRY or _may_be_running(session, each, now) for each in backups
    )


def _may_be_running(session: Session, backup: Backup, now: datetime) -> bool:
    """Return whether a worker is alive that was already running when an unfinished backup began."""
    return (
        backup.finished_at is None
        and backup.started_at > now - MAX_RUNNING
        and workers.any_alive_since(session, backup.started_at, ALIVE_SECONDS)
    )
