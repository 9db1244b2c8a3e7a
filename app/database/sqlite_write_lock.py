"""Writers of one SQLite file queue for their turn.

SQLite has no queue: who finds the file locked sleeps and tries again, up to a tenth of a second at
a time, while the file lies idle or others overtake. Here the threads of an engine wait for one
another, and one of them waits for other processes in the system's own queue, on a lock of a file
beside the database; a killed process leaves it. SQLite's lock still decides who writes: this one
only orders the waiting.
"""

import fcntl
import os
import weakref
from functools import cached_property
from threading import Lock
from typing import Any

import pysqlite3.dbapi2 as sqlite
from sqlalchemy import Connection, Engine, event

WAIT_SECONDS = 30.0
"""After which a writer tries without a turn, and hears from SQLite that the file is locked."""


class Turns:
    """The turns of an engine's connections to the database at ``path``."""

    def __init__(self, path: str):
        self._path = path
        self._among_threads = Lock()

    @cached_property
    def _file(self) -> int:
        """The lock file, opened for the first writer: an engine may be made before its folder.

        The umask gives it the file mode of the database.
        """
        file = os.open(f"{self._path}-turns", os.O_RDWR | os.O_CREAT, 0o666)
        weakref.finalize(self, os.close, file)
        return file

    def take(self) -> bool:
        """Waits for the turn; False where it did not come in time."""
        if not self._among_threads.acquire(timeout=WAIT_SECONDS):
            return False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError:
            self._among_threads.release()
            raise
        return True

    def pass_on(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._among_threads.release()


class QueueingConnection(sqlite.Connection):  # type: ignore[name-defined,misc]  # the driver has no types
    """Passes its turn on when its transaction has ended."""

    turns: Turns
    _has_turn = False

    def take_turn(self) -> None:
        """Wait for the connections that asked earlier; return at once if this one has the turn."""
        if not self._has_turn:
            self._has_turn = self.turns.take()

    def commit(self) -> None:
        super().commit()
        self._pass_on()

    def rollback(self) -> None:
        try:
            super().rollback()
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
    """For an engine whose connections are `QueueingConnection`."""
    turns = Turns(path)

    def set_turns(connection: Any, _record: Any) -> None:
        connection.turns = turns

    event.listen(engine, "connect", set_turns)


def take_turn(connection: Connection) -> None:
    """To be called before the transaction takes SQLite's lock to write."""
    raw: Any = connection.connection.dbapi_connection
    raw.take_turn()
