"""Reading from a standby of PostgreSQL while it is recent enough."""

import logging
from collections import deque
from threading import Lock
from time import monotonic

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from app.database.scope import SCOPE, DatabaseScope

AWAY_SECONDS = 5.0
"""Seconds before a replica that didn't answer is tried again."""
SAMPLE_SECONDS = 1.0
_POSITION = text("SELECT (pg_current_wal_lsn() - '0/0')::bigint")
_HAS_REPLAYED = text(
    "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() - '0/0' >= CAST(:position AS bigint)"
)

log = logging.getLogger(__name__)


class Replica:
    """A standby of ``primary``, whose rows are at most ``max_seconds`` old.

    The age is derived from positions in the log, which this process notes while it reads: wrong
    clocks and an idle or disconnected primary can't distort it.
    """

    def __init__(self, primary: Engine, engine: Engine, max_seconds: float):
        self.engine = engine
        self.max_seconds = max_seconds
        self._primary = primary
        self._away_until = 0.0
        self._samples: deque[tuple[float, int]] = deque()
        self._lock = Lock()

    def position(self) -> int:
        """Return the current end of the primary's log: everything committed lies before it."""
        with self._primary.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            return int(connection.scalar(_POSITION) or 0)

    def open(self, scope: DatabaseScope, after: int) -> Session | None:
        """Return a session that sees everything before the position ``after``; None if the replica
        lags or doesn't answer."""
        if monotonic() < self._away_until:
            return None
        needed = max(after, self._recent())
        session = Session(self.engine, expire_on_commit=False)
        try:
            session.connection(execution_options={SCOPE: scope})
            if session.scalar(_HAS_REPLAYED, {"position": needed}):
                return session
        except (DBAPIError, PoolTimeout) as error:
            self._away_until = monotonic() + AWAY_SECONDS
            log.warning("the replica isn't used: %s", str(error).partition("\n")[0])
        session.close()
        return None

    def _recent(self) -> int:
        """Return the earliest known position of the primary within the last ``max_seconds``."""
        with self._lock:
            now = monotonic()
            while self._samples and self._samples[0][0] < now - self.max_seconds:
                self._samples.popleft()
            if not self._samples or self._samples[-1][0] < now - SAMPLE_SECONDS:
                self._samples.append((now, self.position()))
            return self._samples[0][1]
