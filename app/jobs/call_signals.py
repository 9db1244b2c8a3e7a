"""Wakes the calls that this process follows when another process signals them."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.services.calls import events

log = logging.getLogger(__name__)

EVERY_SECONDS = 0.25


class CallSignals:
    """Reads the signals of all attempts that wait for one, in one query."""

    def __init__(self, database: Database):
        self._database = database
        self._lock = threading.Lock()
        self._waiting: dict[UUID, threading.Event] = {}

    @contextmanager
    def of(self, attempt_id: UUID) -> Iterator[threading.Event]:
        """An event that is set when the attempt is signaled."""
        signaled = threading.Event()
        with self._lock:
            self._waiting[attempt_id] = signaled
        try:
            yield signaled
        finally:
            with self._lock:
                if self._waiting.get(attempt_id) is signaled:
                    del self._waiting[attempt_id]

    def keep_reading(self, stop: threading.Event) -> None:
        """Read until ``stop`` is set, while any attempt waits."""
        while not stop.wait(EVERY_SECONDS):
            with self._lock:
                waiting = set(self._waiting)
            try:
                signaled = self._read(waiting) if waiting else set()
            except SQLAlchemyError as error:
                log.warning("signals of calls wait for the database (%s)", type(error).__name__)
                continue
            with self._lock:
                for attempt_id in signaled & self._waiting.keys():
                    self._waiting[attempt_id].set()

    def _read(self, waiting: set[UUID]) -> set[UUID]:
        with self._database.transaction(read_only=True) as session:
            signaled = events.signaled_attempts(session) & waiting
        if signaled:
            with self._database.transaction() as session:
                events.clear_signals(session, signaled)
        return signaled
