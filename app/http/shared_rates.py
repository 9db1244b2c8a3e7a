"""Rates that all web processes of an installation count together, on PostgreSQL.

A request never waits for other processes: it takes a token of its own process. A thread reports the
tokens that busy keys have taken, many keys in one statement, and reads how many all processes have
left. Tokens taken in excess meanwhile become a debt, so the rate holds over time. On SQLite, and
while the database is unreachable, each process counts for itself.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Hashable, Mapping

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.http.rate_limit import TokenBuckets

MAX_DELAY_SECONDS = 1.0
"""Seconds after which a report that isn't urgent is sent."""
PAUSE_SECONDS = 0.02
"""Minimum seconds between two reports."""
RETRY_SECONDS = 5.0

_REPORT = text(
    """
    INSERT INTO rate_levels (key, full_at)
    SELECT key, statement_timestamp() + seconds * interval '1 second'
    FROM unnest(CAST(:keys AS text[]), CAST(:seconds AS float8[])) AS taken (key, seconds)
    ORDER BY key
    ON CONFLICT (key) DO UPDATE SET full_at = greatest(rate_levels.full_at, statement_timestamp())
      + (excluded.full_at - statement_timestamp())
    RETURNING key, extract(epoch FROM full_at - statement_timestamp())
    """
)
"""Each row holds when its bucket is full again. Ordered, so that two processes can't deadlock."""

log = logging.getLogger(__name__)


class SharedRates:
    """Shares the buckets of this process, by their names, with those of others."""

    def __init__(self, database: Database, buckets: Mapping[str, TokenBuckets]):
        self._database = database
        self._buckets = buckets
        self._is_due = threading.Event()
        self._is_urgent = threading.Event()

    def start(self) -> None:
        """Start sharing; call it in the process that answers requests."""
        if self._database.is_sqlite:
            return
        for buckets in self._buckets.values():
            buckets.share(self._note)
        threading.Thread(target=self._keep_reporting, name="shared rates", daemon=True).start()

    def _note(self, is_urgent: bool) -> None:
        self._is_due.set()
        if is_urgent:
            self._is_urgent.set()

    def _keep_reporting(self) -> None:
        while True:
            self._is_due.wait()
            self._is_urgent.wait(MAX_DELAY_SECONDS)
            self._is_due.clear()
            self._is_urgent.clear()
            try:
                self.report()
            except SQLAlchemyError as error:
                log.warning("rates are counted by each process (%s)", type(error).__name__)
                time.sleep(RETRY_SECONDS)
            time.sleep(PAUSE_SECONDS)

    def report(self) -> None:
        """Report what the keys have taken, and read what they have left."""
        used = {name: buckets.to_report() for name, buckets in self._buckets.items()}
        rows = {
            _hash_key(name, key): (name, key, tokens / self._buckets[name].rate)
            for name, keys in used.items()
            for key, tokens in keys.items()
        }
        if not rows:
            return
        params = {"keys": list(rows), "seconds": [seconds for _, _, seconds in rows.values()]}
        with self._database.transaction() as session:
            reported = session.execute(_REPORT, params).all()
        remaining: dict[str, dict[Hashable, float]] = {name: {} for name in self._buckets}
        for hashed, until_full in reported:
            name, key, _ = rows[hashed]
            buckets = self._buckets[name]
            remaining[name][key] = buckets.burst - float(until_full) * buckets.rate
        for name, keys in remaining.items():
            self._buckets[name].learn(keys)


def _hash_key(name: str, key: Hashable) -> str:
    """Return the hash under which a key is stored, because IP addresses and user ids aren't."""
    values = key if isinstance(key, tuple) else (key,)
    return hashlib.sha256(":".join((name, *map(str, values))).encode()).hexdigest()
