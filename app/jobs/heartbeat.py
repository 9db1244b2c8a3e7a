"""One worker on SQLite, and a sign of life from each."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import make_url

from app.database import Database
from app.jobs.restore_detection import MarkFile
from app.services import workers


class AnotherWorker(Exception):
    """The database has its one worker already."""


@contextmanager
def sole_worker(url: str, patience_seconds: float = 5.0) -> Iterator[None]:
    """On SQLite, holds the lock that only one worker process can have; it dies with the process.

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


def announce(database: Database, executor_id: str, mark: MarkFile) -> None:
    """Call it before any work is taken: after a restore of the database it pauses all dialling."""
    with database.transaction() as session:
        workers.announce(session, executor_id)
        mark.advance(session)
    mark.keep()


def beat(database: Database, executor_id: str, mark: MarkFile) -> bool:
    """False if this worker was declared dead and its work taken over."""
    with database.transaction() as session:
        is_alive = workers.beat(session, executor_id)
        mark.advance(session)
    mark.keep()
    return is_alive


def leave(database: Database, executor_id: str) -> None:
    with database.transaction() as session:
        workers.leave(session, executor_id)
