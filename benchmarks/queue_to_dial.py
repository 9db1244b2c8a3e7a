"""From acceptance to the carrier, beside the engine's own empty workflow, on both databases.

``python -m benchmarks.queue_to_dial``. Prints, in one run: the time from enqueueing to the start
of an empty workflow and from acceptance to dialling, and how many of each a second out of a
backlog. Goals: a median under 1 s, and at least 30 % of the engine's own rate.
"""

import os
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from threading import Lock
from uuid import UUID, uuid4

from dbos import DBOS, DBOSClient
from sqlalchemy import func, select

from app.config import Settings
from app.database import Database, make_engine
from app.gateways.job_queue import APPLICATION, CALLS_QUEUE, SCHEMA
from app.jobs.engine import start_engine
from app.models import CallAttempt
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.worker import Line, Worker, call_now, open_line, outcome, until

SINGLES = 25
BACKLOG = 200
ORGANIZATIONS = 60
HOUSE = {
    "PORTAL_QUEUE_POLL_SECONDS": "0.2",
    "PORTAL_WORKER_HEARTBEAT_SECONDS": "2",
    "PORTAL_WORKER_DEAD_AFTER_SECONDS": "10",
}
"""The worker as it runs outside of tests."""

started: list[float] = []
lock = Lock()


@DBOS.workflow(name="empty")
def empty(_first: str, _second: str) -> None:
    """As much as a call hands over, and nothing to do."""
    with lock:
        started.append(time.time())


def enqueue_empty(client: DBOSClient, database: Database, partitions: list[str]) -> None:
    with database.transaction() as session:
        for partition in partitions:
            client.enqueue_in_transaction(
                session,
                {
                    "workflow_name": "empty",
                    "queue_name": CALLS_QUEUE,
                    "workflow_id": str(uuid4()),
                    "queue_partition_key": partition,
                },
                "first",
                "second",
            )


def measure_engine(url: str) -> tuple[float, float]:
    """Median seconds to the start of an empty workflow, and how many start a second."""
    database = Database(make_engine(url))
    start_engine(Settings(DATABASE_URL=url, calls_per_organization=20), uuid4().hex)
    client = DBOSClient(
        system_database_engine=database.engine,
        dbos_system_schema=SCHEMA,
        application_name=APPLICATION,
        lazy=True,
    )
    time.sleep(2)
    waits = []
    for number in range(SINGLES):
        begun = time.time()
        enqueue_empty(client, database, ["one"])
        until(lambda due=number + 1: len(started) >= due)  # type: ignore[misc]  # the default binds the loop's value
        waits.append(started[-1] - begun)
    started.clear()
    enqueue_empty(client, database, [str(i % ORGANIZATIONS) for i in range(BACKLOG)])
    until(lambda: len(started) >= BACKLOG, 120)
    return statistics.median(waits), BACKLOG / (max(started) - min(started))


def measure_calls(database: Database) -> tuple[float, float]:
    """The same for calls: from acceptance to the attempt, and attempts a second."""
    single = Worker(database, **HOUSE, PORTAL_SIMULATOR_PACE="0.001")
    single.start()
    lines = [open_line(database) for _ in range(ORGANIZATIONS)]
    waits = []
    for number in range(SINGLES):
        call_id = lines[0].dial(database, f"+1212555{number:04d}")
        outcome(database, call_id)
        waits.append(_wait_of(database, call_id))
    single.stop()
    _fill(database, lines)
    # A line so slow that nothing but dialling happens while the backlog is worked off.
    busy = Worker(database, **HOUSE, PORTAL_SIMULATOR_PACE="1000")
    busy.start()
    until(lambda: _dialled(database) == SINGLES + BACKLOG, 300)
    busy.close()
    begun, ended = _span(database)
    return statistics.median(waits), BACKLOG / (ended - begun).total_seconds()


def _wait_of(database: Database, call_id: UUID) -> float:
    call = call_now(database, call_id)
    assert call.started_at is not None
    return (call.started_at - call.created_at).total_seconds()


def _fill(database: Database, lines: list[Line]) -> None:
    for number in range(BACKLOG):
        lines[number % ORGANIZATIONS].dial(database, f"+1213555{number:04d}")


def _dialled(database: Database) -> int:
    with database.transaction(read_only=True) as session:
        return session.scalar(select(func.count()).select_from(CallAttempt)) or 0


def _span(database: Database) -> tuple[datetime, datetime]:
    """The first and the last dialling of the backlog."""
    with database.transaction(read_only=True) as session:
        newest = (
            select(CallAttempt.started_at)
            .order_by(CallAttempt.started_at.desc())
            .limit(BACKLOG)
            .subquery()
        )
        first, last = session.execute(
            select(func.min(newest.c.started_at), func.max(newest.c.started_at))
        ).one()
        return first, last


def main() -> None:
    if len(sys.argv) > 1:
        median, rate = measure_engine(sys.argv[1])
        print(median, rate, flush=True)
        os._exit(0)
    with tempfile.TemporaryDirectory() as folder:
        databases = Databases(Path(folder), Path(folder))
        print(f"{'':<12}{'engine':>20}{'calls':>20}{'ratio':>8}")
        for backend in BACKENDS:
            empty_url = databases.create(backend)
            with os.popen(f"{sys.executable} -m benchmarks.queue_to_dial '{empty_url}'") as own:  # noqa: S605 - our own program and URL
                engine_median, engine_rate = map(float, own.read().split())
            database = Database(make_engine(databases.create(backend)))
            median, rate = measure_calls(database)
            database.dispose()
            print(f"{backend:<12}{engine_median:>18.3f} s{median:>18.3f} s")
            print(f"{'':<12}{engine_rate:>18.0f}/s{rate:>18.0f}/s{rate / engine_rate:>8.2f}")
        databases.close()


if __name__ == "__main__":
    main()
