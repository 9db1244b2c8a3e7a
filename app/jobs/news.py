"""Wakes calls that this process stays with, when something is told of them elsewhere."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.services.calls import news

log = logging.getLogger(__name__)

EVERY_SECONDS = 0.25


class News:
    """What is told of attempts, read for all that wait in one question."""

    def __init__(self, database: Database):
        self._database = database
        self._lock = threading.Lock()
        self._waiting: dict[UUID, threading.Event] = {}

    @contextmanager
    def of(self, attempt_id: UUID) -> Iterator[threading.Event]:
        """Set whenever something was told of the attempt since it was last cleared."""
        told = threading.Event()
        with self._lock:
            self._waiting[attempt_id] = told
        try:
            yield told
        finally:
            with self._lock:
                if self._waiting.get(attempt_id) is told:
                    del self._waiting[attempt_id]

    def keep_reading(self, stop: threading.Event) -> None:
        """Reads until ``stop`` is set, while anything waits."""
        while not stop.wait(EVERY_SECONDS):
            with self._lock:
                waiting = set(self._waiting)
            try:
                told = self._read(waiting) if waiting else set()
            except SQLAlchemyError as error:
                log.warning("news of calls wait for the database (%s)", type(error).__name__)
                continue
            with self._lock:
                for attempt_id in told & self._waiting.keys():
                    self._waiting[attempt_id].set()

    def _read(self, waiting: set[UUID]) -> set[UUID]:
        with self._database.transaction(read_only=True) as session:
            told = news.told_of(session) & waiting
        if told:
            with self._database.transaction() as session:
                news.forget(session, told)
        return told
