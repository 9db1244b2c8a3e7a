"""Every use of DBOS's private parts, for the version that this file's test names.

DBOS polls each queue at a fixed interval and runs its timers each second. Here its threads wait for
`WakeEvents` instead, with slow polling as a safety net. DBOS still claims, runs and records the
work.
"""

import math
import time
from threading import Event
from typing import Any

from dbos import DBOS, _dbos, _queue
from dbos._core import ActiveWorkflowById
from dbos._serialization import DefaultSerializer, deserialize_args, deserialize_exception
from dbos._sys_db import SystemDatabase
from sqlalchemy import Connection, Engine, and_, func, literal_column, select, update

from app.gateways.wake import WakeEvent, WakeEvents

QUEUE_LIST = "queue list"
"""The topic of the thread that starts a reader for each registered queue."""

_read_queue = _queue.queue_worker_thread
_read_queue_list = _queue.queue_thread


class _PacedEvent(Event):
    """DBOS's stop event for one of its threads; its waits end early at a wake-up."""

    def __init__(self, stop: Event, wake_event: WakeEvent, at_least: float = 0.0):
        super().__init__()
        self.stop = stop
        self._wake_event = wake_event
        self._at_least = at_least

    def is_set(self) -> bool:
        return self.stop.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        return self._wake_event.wait(max(timeout or 0.0, self._at_least), self.stop)


class _ActiveWorkflows(ActiveWorkflowById):
    """Wakes the readers of a queue when one of its workflows ends here, which makes room."""

    def __init__(self, wake_events: WakeEvents):
        super().__init__()
        self._events = wake_events

    def _remove(self, key: str, bucket: tuple[str, str | None] | None) -> None:
        super()._remove(key, bucket)
        if bucket is not None:
            self._events.of(bucket[0]).wake()


def migrate(url: str, engine: Engine) -> None:
    """Create or update DBOS's tables over our connections: `DBOS.migrate` would open an SQLite file
    with the standard library."""
    SystemDatabase.create(
        system_database_url=url,
        engine_kwargs={},
        engine=engine,
        schema=None,
        serializer=DefaultSerializer(),
        executor_id=None,
    ).run_migrations()


def wait_for_wake_ups(instance: DBOS, wake_events: WakeEvents, poll_seconds: float) -> None:
    """Make a DBOS that is not launched yet wait for wake-ups of its queues. The timers of its
    background thread don't run: `start_delayed` replaces them, and no work has a deadline."""

    def read_queue(stop: _PacedEvent, dbos: Any, queue: Any) -> None:
        _read_queue(_PacedEvent(stop.stop, wake_events.of(queue.name), poll_seconds), dbos, queue)

    def read_queue_list(stop: Event, dbos: Any) -> None:
        _read_queue_list(_PacedEvent(stop, wake_events.of(QUEUE_LIST), poll_seconds), dbos)

    def run_no_timers(_stop: Event, _dbos: Any) -> None:
        return

    vars(_queue)["queue_worker_thread"] = read_queue
    vars(_dbos)["queue_thread"] = read_queue_list
    vars(_dbos)["background_jobs_thread"] = run_no_timers
    instance._active_workflows_set = _ActiveWorkflows(wake_events)  # noqa: SLF001 - as above


def stop_claiming() -> None:
    """Claim no more work in this process; running work continues."""
    for stop in _dbos._get_dbos_instance().background_thread_stop_events:  # noqa: SLF001 - as above
        stop.set()


def running() -> set[str]:
    """Return the IDs of the work that runs in this process."""
    return set(_dbos._get_dbos_instance()._active_workflows_set.activeList())  # noqa: SLF001 - as above


def start_delayed() -> tuple[set[str], float]:
    """Enqueue the work whose delay is over; return the names of the queues, and the seconds until
    the next delay is over, both by the database's time."""
    database = _dbos._get_dbos_instance()._sys_db  # noqa: SLF001 - this file is for it
    work = database.tables.workflow_status
    # Written out, so that SQLite uses the index of delayed work.
    is_delayed = work.c.status == literal_column("'DELAYED'")
    until = work.c.delay_until_epoch_ms
    with database.engine.connect() as connection:
        now = int(database_seconds(connection) * 1000)
        is_over = and_(is_delayed, until <= now)
        queues = set(connection.scalars(select(work.c.queue_name).where(is_over)))
        following = connection.scalar(select(func.min(until)).where(is_delayed, until > now))
    if queues:
        # As DBOS's `transition_delayed_workflows`, which uses the time of this machine.
        with database.engine.begin() as connection:
            connection.execute(update(work).where(is_over).values(status="ENQUEUED"))
    return queues, math.inf if following is None else (following - now) / 1000


def database_seconds(connection: Connection) -> float:
    """Return the time of the database, shared by all machines, in seconds since 1970."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.scalar(select(func.extract("epoch", func.clock_timestamp()))) or 0)


def error_of(stored: str, serialization: str | None) -> Exception | None:
    """Return the error that ended a workflow; None if this version can't read it."""
    try:
        return deserialize_exception(stored, serialization, DefaultSerializer())
    except Exception:  # noqa: BLE001 - reading creates an error of any class, by its own code
        return None


def inputs_of(stored: str, serialization: str | None) -> tuple[Any, ...] | None:
    """Return the positional arguments of a workflow; None if this version can't read them."""
    try:
        return tuple(deserialize_args(stored, serialization, DefaultSerializer())["args"])
    except Exception:  # noqa: BLE001 - as above
        return None
