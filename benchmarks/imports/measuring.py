"""The cost of work for its process."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import event

from app import gc_tuning
from app.database import Database


class Cost(NamedTuple):
    """``lock`` is the longest time in milliseconds that a write lock was held."""

    cpu: float
    seconds: float
    megabytes: float
    lock: float = 0.0


def measured(work: Callable[[], object]) -> Cost:
    """Measure the cost of the work for this process; the peak is counted from here on."""
    gc_tuning.resume_collection()
    Path("/proc/self/clear_refs").write_text("5")
    idle = _peak()
    cpu, began = time.process_time(), time.perf_counter()
    work()
    return Cost(time.process_time() - cpu, time.perf_counter() - began, _peak() - idle)


def _peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


class Locks:
    """Measures how long this process holds write locks of a database."""

    def __init__(self, database: Database):
        self.longest = 0.0
        self._since: float | None = None
        event.listen(database.engine, "after_cursor_execute", self._executed)
        commit = database.engine.dialect.do_commit

        def committed(connection: Any) -> None:
            commit(connection)
            if self._since is not None:
                self.longest = max(self.longest, time.perf_counter() - self._since)
            self._since = None

        database.engine.dialect.do_commit = committed  # type: ignore[method-assign,assignment]  # to see its end

    def _executed(self, *arguments: Any) -> None:
        statement = arguments[2]
        if self._since is None and (statement == "BEGIN IMMEDIATE" or "FOR NO KEY" in statement):
            self._since = time.perf_counter()
