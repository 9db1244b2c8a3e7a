"""The worker's heartbeat, and the lock of the only worker on SQLite.

Workers use the database's time: a machine's clock may be wrong.
"""

import fcntl
import logging
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Event
from time import monotonic, sleep

from sqlalchemy import make_url
from sqlalchemy.exc import InterfaceError, OperationalError

from app.database import Database
from app.jobs.liveness import LoopLiveness
from app.jobs.restore_detection import MarkFile
from app.services import workers
from app.services.common_time import use_database_time

RETRY_SECONDS = 2.0

log = logging.getLogger(__name__)


class AnotherWorker(Exception):
    """The database already has its only worker."""


@contextmanager
def sole_worker(url: str, patience_seconds: float = 5.0) -> Iterator[None]:
    """On SQLite, hold the lock that only one worker process can have; it ends with the process.

    Waits a little for a worker that is just stopping. Raises `AnotherWorker`.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        yield
        return
    path = Path(f"{parsed.database}.worker.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, path, monotonic() + patience_seconds)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > deadline:
                message = f"Another worker holds {path}; SQLite allows one. Stop it first."
                raise AnotherWorker(message) from None
            sleep(0.1)
        else:
            return


def wait_for_database(database: Database, life: LoopLiveness, stop: Event) -> bool:
    """Return True once the database can be reached; False if ``stop`` was set before. Returns at
    once for SQLite's file."""
    while not stop.is_set():
        life.record_turn()
        if database.is_sqlite:
            return True
        try:
            with database.transaction(read_only=True) as session:
                workers.database_time(session)
        except (OperationalError, InterfaceError) as error:
            log.warning("waiting for the database: %s", str(error.orig).strip())
            stop.wait(RETRY_SECONDS)
        else:
            return True
    return False


def register_worker(
    database: Database,
    executor_id: str,
    mark_file: MarkFile,
    pulse: workers.HeartbeatSeries,
    queues: Collection[str] = (),
) -> None:
    """Store the first heartbeat. Call it before any work is taken: it pauses all calls if the
    database was restored."""
    began = monotonic()
    with database.transaction() as session:
        now = workers.announce(session, executor_id, queues)
        mark_file.advance(session)
        _set_common_time(database, now, began)
    mark_file.write_committed()
    pulse.add(now)


def send_heartbeat(
    database: Database, executor_id: str, mark_file: MarkFile, pulse: workers.HeartbeatSeries
) -> bool:
    """Store a heartbeat; return False if this worker was declared dead and its work taken over."""
    began = monotonic()
    with database.transaction() as session:
        now = workers.record_heartbeat(session, executor_id)
        if now is None:
            return False
        _set_common_time(database, now, began)
        mark_file.advance(session)
    mark_file.write_committed()
    pulse.add(now)
    return True


def _set_common_time(database: Database, now: datetime, began: float) -> None:
    """On SQLite the heartbeat's time is this process's own, and old by how long it was written: to
    go by it would set the clock back a little more each time."""
    if not database.is_sqlite:
        use_database_time(now, began)


def record_stop(database: Database, executor_id: str) -> None:
    with database.transaction() as session:
        workers.remove(session, executor_id)
