"""The living worker processes, by their heartbeats."""

import os
import socket
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from sqlalchemy import DateTime, Exists, delete, exists, func, select, update
from sqlalchemy.orm import Session

from app.gateways.job_queue import QUEUES
from app.models import WorkerHeartbeat, utcnow


@dataclass(slots=True)
class HeartbeatSeries:
    """The unbroken series of a worker's own heartbeats, by the database's time.

    After an outage of the database all heartbeats are old. So a worker judges others only once its
    series is as long as they may be silent: by then the living ones have sent a heartbeat, too.
    """

    dead_after: timedelta
    _since: datetime | None = None
    _last: datetime | None = None

    def add(self, beat_at: datetime) -> None:
        """Continue the series, or start another after a gap."""
        if self._last is None or not self._continues(beat_at):
            self._since = beat_at
        self._last = beat_at

    def may_judge(self, now: datetime) -> bool:
        """Return whether another worker that has been silent for ``dead_after`` is dead."""
        if self._since is None or not self._continues(now):
            return False
        return now - self._since >= self.dead_after

    def _continues(self, moment: datetime) -> bool:
        """Return False after a gap, and if the database's clock was set back."""
        return self._last is not None and timedelta() <= moment - self._last <= self.dead_after / 2


def announce(session: Session, executor_id: str, queues: Collection[str] = ()) -> datetime:
    """Register a worker process before it takes any work; return the database's time. Without
    ``queues`` it serves all."""
    heartbeat = WorkerHeartbeat(
        executor_id=executor_id,
        hostname=socket.gethostname(),
        pid=os.getpid(),
        beat_at=_database_now(session),
        queues=list(queues) or None,
    )
    session.add(heartbeat)
    session.flush()
    return heartbeat.beat_at


def record_heartbeat(session: Session, executor_id: str) -> datetime | None:
    """Record a heartbeat and return its time by the database. None if the worker was declared dead
    meanwhile and must take no more work."""
    return session.scalar(
        update(WorkerHeartbeat)
        .where(WorkerHeartbeat.executor_id == executor_id)
        .values(beat_at=_database_now(session))
        .returning(WorkerHeartbeat.beat_at)
    )


def remove(session: Session, executor_id: str) -> None:
    """Remove the heartbeat of a worker that stops, so that its work is taken over at once."""
    session.execute(delete(WorkerHeartbeat).where(WorkerHeartbeat.executor_id == executor_id))


def dead(session: Session, executor_ids: Collection[str], pulse: HeartbeatSeries) -> set[str]:
    """Return those of the executors that are dead: they left, were declared dead, or have been
    silent for too long, if ``pulse`` allows that judgment. Read their work before calling this: a
    worker registers before it takes any."""
    is_of_executors = WorkerHeartbeat.executor_id.in_(executor_ids)
    beats = dict(
        session.execute(
            select(WorkerHeartbeat.executor_id, WorkerHeartbeat.beat_at).where(is_of_executors)
        ).all()
    )
    # Read last: a wait for the database above makes the judge's own heartbeat old.
    now = database_time(session)
    silent = {each for each, beat_at in beats.items() if now - beat_at > pulse.dead_after}
    return (set(executor_ids) - beats.keys()) | (silent if pulse.may_judge(now) else set())


def any_alive(session: Session, within_seconds: float) -> bool:
    """Return whether a worker is alive to do queued work."""
    return bool(session.scalar(select(is_any_alive(session, within_seconds))))


def any_alive_since(session: Session, moment: datetime, within_seconds: float) -> bool:
    """Return whether a worker that is alive was started by then."""
    is_alive = is_any_alive(session, within_seconds)
    return bool(session.scalar(select(is_alive.where(WorkerHeartbeat.started_at <= moment))))


def is_any_alive(session: Session, within_seconds: float) -> Exists:
    """Return `any_alive` as a condition."""
    since = _database_now(session) - timedelta(seconds=within_seconds)
    return exists().where(WorkerHeartbeat.beat_at >= since)


def by_queue(online: Iterable[WorkerHeartbeat]) -> dict[str, int]:
    """Return how many of the workers serve each queue."""
    served = Counter(name for worker in online for name in worker.queues or QUEUES)
    return {name: served[name] for name in QUEUES}


def unserved_queues(counts: Mapping[str, int]) -> list[str]:
    """Return the queues of `by_queue` that no worker serves; empty while there is no worker at all,
    which is reported separately."""
    return [name for name, count in counts.items() if not count] if any(counts.values()) else []


@dataclass(frozen=True, slots=True)
class RunningWorkers:
    """The workers that have not stopped, longest running first. ``silent`` are those without a
    heartbeat that were not replaced: no worker that started later on the host does the same work.
    """

    online: Sequence[WorkerHeartbeat]
    silent: Sequence[WorkerHeartbeat]

    @property
    def all(self) -> list[WorkerHeartbeat]:
        return sorted((*self.online, *self.silent), key=attrgetter("started_at"))


def listing(session: Session, within_seconds: float) -> RunningWorkers:
    """Return the workers; those with a heartbeat within that time are online: one query."""
    is_online = WorkerHeartbeat.beat_at >= _database_now(session) - timedelta(
        seconds=within_seconds
    )
    query = select(WorkerHeartbeat, is_online).where(WorkerHeartbeat.stopped_at.is_(None))
    rows = session.execute(query.order_by(WorkerHeartbeat.started_at)).all()
    online = [worker for worker, beats in rows if beats]
    silent = [
        worker
        for worker, beats in rows
        if not beats and not any(_replaces(newer, worker) for newer in online)
    ]
    return RunningWorkers(online, silent)


def _replaces(new: WorkerHeartbeat, old: WorkerHeartbeat) -> bool:
    return (
        new.hostname == old.hostname
        and new.started_at > old.started_at
        and set(new.queues or QUEUES) >= set(old.queues or QUEUES)
    )


def declare_dead(session: Session, executor_ids: Iterable[str]) -> None:
    """Delete the heartbeats, so that a worker that was only slow notices it and rejoins."""
    session.execute(
        delete(WorkerHeartbeat).where(WorkerHeartbeat.executor_id.in_(list(executor_ids)))
    )


def delete_silent(session: Session, older_than: timedelta) -> int:
    """Remove old heartbeats; return how many."""
    deleted = session.execute(
        delete(WorkerHeartbeat)
        .where(WorkerHeartbeat.beat_at < _database_now(session) - older_than)
        .returning(WorkerHeartbeat.executor_id)
    )
    return len(deleted.all())


def database_time(session: Session) -> datetime:
    """Return the time shared by all machines. On SQLite there is only one machine."""
    now = _database_now(session)
    return now if isinstance(now, datetime) else session.scalars(select(now)).one()


def _database_now(session: Session) -> Any:
    if session.get_bind().dialect.name == "sqlite":
        return utcnow()
    return func.clock_timestamp(type_=DateTime(timezone=True))
