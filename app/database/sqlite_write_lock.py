"""Writers of one SQLite file queue for their turn.

SQLite has no queue: a writer that finds the file locked sleeps and tries again, up to a tenth of a
second at a time, while the file lies idle or others overtake it. Here the threads of an engine wait
for one another, and one of them waits for other processes in the operating system's queue, on a
lock file next to the database; the lock of a killed process is released. SQLite's lock still
decides who writes: this one only orders the waiting, so a writer whose turn doesn't come is refused
by SQLite or writes safely. No lock is ever taken from a process that hangs: its transaction may be
half written.
"""

import fcntl
import logging
import os
import weakref
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any

import pysqlite3.dbapi2 as sqlite
from sqlalchemy import Connection, Engine, event

WAIT_SECONDS = 30.0
"""Seconds after which a writer tries without a turn; SQLite then reports a locked file."""
HUNG_SECONDS = 1.0
"""The same once another process has kept the turn for `WAIT_SECONDS`, because readers need the
threads that wait. SQLite then no longer waits for its own lock."""
BUSY_SECONDS = 30.0
"""Seconds that SQLite waits for its own lock, which others may hold without a turn."""
_WAL_WRITE_LOCK = 120
"""Offset of the byte of the ``-shm`` file that SQLite locks to write
(sqlite.org/walformat.html)."""

log = logging.getLogger(__name__)


class WriteLock:
    """Orders the writes of an engine's connections to the database at ``path``."""

    def __init__(self, path: str):
        self._path = path
        self._among_threads = Lock()
        self._queue = Condition()
        self._is_queued = False
        """A thread waits for other processes."""
        self._is_wanted = False
        """A writer waits for that thread."""
        self._is_hung = False

    @cached_property
    def _file(self) -> int:
        """Return the lock file, opened at the first use: an engine may be created before its
        folder.

        The umask gives it the file mode of the database.
        """
        file = os.open(f"{self._path}-turns", os.O_RDWR | os.O_CREAT, 0o666)
        weakref.finalize(self, os.close, file)
        return file

    def acquire(self) -> bool:
        """Wait for the turn; return False if it didn't come in time."""
        end = monotonic() + (HUNG_SECONDS if self._is_hung else WAIT_SECONDS)
        if not self._among_threads.acquire(timeout=end - monotonic()):
            return False
        has_turn = False
        try:
            has_turn = self._lock_file(end)
        finally:
            if not has_turn:
                self._among_threads.release()
        return has_turn

    def pass_on(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._among_threads.release()

    def _lock_file(self, end: float) -> bool:
        with self._queue:
            if not self._is_queued:
                try:
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if not self._enter_queue():
                        return False
                else:
                    return True
            self._is_wanted = True
            self._queue.wait_for(lambda: not self._is_queued, end - monotonic())
            self._is_wanted = False
            if not self._is_queued:
                return True
            if not self._is_hung:
                self._is_hung = True
                holders = ", ".join(map(str, lock_holders(self._path))) or "unknown"
                log.error("others can't write: SQLite's write lock is held by process %s", holders)
            return False

    def _enter_queue(self) -> bool:
        """Wait in a thread, because waiting for a file lock has no time limit. Return False if
        there is no memory for a thread."""
        try:
            Thread(target=self._wait_for_others, name="write lock", daemon=True).start()
        except RuntimeError:
            return False
        self._is_queued = True
        return True

    def _wait_for_others(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
        finally:
            with self._queue:
                self._is_queued = self._is_hung = False
                if not self._is_wanted:
                    fcntl.flock(self._file, fcntl.LOCK_UN)
                self._queue.notify()


class QueueingConnection(sqlite.Connection):  # type: ignore[name-defined,misc]  # the driver has no types
    """Releases its turn when its transaction has ended."""

    turns: WriteLock
    _has_turn = False
    _is_hasty = False

    def acquire_write_lock(self) -> None:
        """Wait for the connections that asked earlier; return at once if this one has the turn."""
        if self._has_turn:
            return
        self._has_turn = self.turns.acquire()
        if not self._has_turn:
            self._is_hasty = True
            self.wait_for_lock(HUNG_SECONDS)

    def wait_for_lock(self, seconds: float = BUSY_SECONDS) -> None:
        """Set how long SQLite waits for its own lock."""
        self.execute(f"PRAGMA busy_timeout={seconds * 1000:.0f}")

    def commit(self) -> None:
        try:
            super().commit()
        except sqlite.Error:  # type: ignore[attr-defined]  # the driver has no types
            self.rollback()  # SQLAlchemy doesn't roll back here: the pool would keep the turn
            raise
        self._pass_on()

    def rollback(self) -> None:
        try:
            super().rollback()
            if self._is_hasty:
                self._is_hasty = False
                self.wait_for_lock()
        finally:
            self._pass_on()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self.turns.pass_on()


def queue_writers(engine: Engine, path: str) -> None:
    """Order the writers of an engine whose connections are `QueueingConnection`."""
    turns = WriteLock(path)

    def set_turns(connection: Any, _record: Any) -> None:
        connection.turns = turns

    event.listen(engine, "connect", set_turns)


def acquire_write_lock(connection: Connection) -> None:
    """To be called before the transaction takes SQLite's lock to write."""
    raw: Any = connection.connection.dbapi_connection
    raw.acquire_write_lock()


def lock_holders(path: str) -> list[int]:
    """Return the processes that have the turn to write the database at ``path``, or write it
    without one; empty where the system doesn't report them.

    Nothing is opened: closing a file would end the locks that SQLite has on it in this process.
    """
    try:
        holders = {pid for pid in _holder_pids(path) if pid > 0}
    except OSError:
        return []
    return sorted(holders)


def _holder_pids(path: str) -> Iterator[int]:
    lock_file, database = _lock_name(f"{path}-turns"), _lock_name(f"{path}-shm")
    for line in Path("/proc/locks").read_text().splitlines():
        _number, kind, *fields = line.split()
        if kind == "->":  # a waiting process
            continue
        _strictness, access, pid, file, begin, end = fields
        if access != "WRITE":
            continue
        if file == lock_file or (
            file == database and int(begin) <= _WAL_WRITE_LOCK <= float(end.replace("EOF", "inf"))
        ):
            yield int(pid)


def _lock_name(file: str) -> str:
    """Return what the list of locks calls a file."""
    status = Path(file).stat()
    device = status.st_dev
    return f"{os.major(device):02x}:{os.minor(device):02x}:{status.st_ino}"
