"""The living worker processes, by their heartbeats."""

import os
import socket
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sqlalchemy import DateTime, delete, func, select, update
from sqlalchemy.orm import Session

from app.models import WorkerHeartbeat, utcnow


def announce(session: Session, executor_id: str) -> None:
    """Register a worker process before it takes any work."""
    session.add(
        WorkerHeartbeat(
            executor_id=executor_id,
            hostname=socket.gethostname(),
            pid=os.getpid(),
            beat_at=_now(session),
        )
    )


def beat(session: Session, executor_id: str) -> bool:
    """Record a heartbeat. False if the worker was declared dead meanwhile: it must stop at once."""
    return (
        session.execute(
            update(WorkerHeartbeat)
            .where(WorkerHeartbeat.executor_id == executor_id)
            .values(beat_at=_now(session))
            .returning(WorkerHeartbeat.executor_id)
        ).first()
        is not None
    )


def leave(session: Session, executor_id: str) -> None:
    """Remove the heartbeat of a worker that stops: its work may be taken over at once."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.executor_id == executor_id))


def alive(session: Session, within_seconds: float) -> set[str]:
    """Return the executors with a heartbeat within that time."""
    since = _now(session) - timedelta(seconds=within_seconds)
    query = select(WorkerHeartbeat.executor_id).where(WorkerHeartbeat.beat_at >= since)
    return set(session.scalars(query))


def any_alive(session: Session, within_seconds: float) -> bool:
    """Whether a worker is alive to do queued work."""
    since = _now(session) - timedelta(seconds=within_seconds)
    query = (
        select(func.count()).select_from(WorkerHeartbeat).where(WorkerHeartbeat.beat_at >= since)
    )
    return bool(session.scalar(query))


def listing(session: Session) -> list[WorkerHeartbeat]:
    """Return the workers that have not stopped, the longest running first."""
    query = select(WorkerHeartbeat).where(WorkerHeartbeat.stopped_at.is_(None))
    return list(session.scalars(query.order_by(WorkerHeartbeat.started_at)))


def declare_dead(session: Session, executor_ids: Iterable[str]) -> None:
    """Remove the heartbeats, so that a worker that was only slow notices it and stops."""
    session.execute(
        delete(WorkerHeartbeat).where(WorkerHeartbeat.executor_id.in_(list(executor_ids)))
    )


def forget_silent(session: Session, older_than: timedelta) -> int:
    """Remove old heartbeats; return how many."""
    gone = session.execute(
        delete(WorkerHeartbeat)
        .where(WorkerHeartbeat.beat_at < _now(session) - older_than)
        .returning(WorkerHeartbeat.executor_id)
    )
    return len(gone.all())


def _now(session: Session) -> Any:
    """Return the database's time, which is one for all machines. SQLite has only one machine."""
    if session.get_bind().dialect.name == "sqlite":
        return utcnow()
    return func.clock_timestamp(type_=DateTime(timezone=True))
