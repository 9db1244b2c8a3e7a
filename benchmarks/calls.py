"""From acceptance to the carrier, compared with the engine's own empty workflow, on both databases.

``python -m benchmarks.calls``. In one run: how long an empty workflow waits for its start and a
call from before its acceptance until the carrier's own ledger has it (median and 95 %), and how
many of each a second out of a backlog. The engine is measured before and after the calls, so that a
busy machine is noticed. Goals: a median under 1 s, and at least 30 % of the engine's rate.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from threading import Event, Lock, Thread
from uuid import uuid4

from dbos import DBOS, DBOSClient
from sqlalchemy import select

from app.config import Settings
from app.database import Database, make_engine
from app.gateways.job_queue import APPLICATION, CALLS_QUEUE, SCHEMA
from app.gateways.wake import WakeEvents, keep_listening, wake
from app.jobs.engine import start_engine
from app.models import SimulatedCall
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.phone_numbers import assign_directly_given_numbers
from tests.fixtures.worker import Worker, create_calling_organization, outcome, wait_until

SINGLES = 60
BACKLOG = 200
ORGANIZATIONS = 60
HOUSE = {
    "PORTAL_QUEUE_POLL_SECONDS": "10",
    "PORTAL_WORKER_HEARTBEAT_SECONDS": "2",
    "PORTAL_WORKER_DEAD_AFTER_SECONDS": "10",
}
"""The settings of a worker outside of tests."""

started: list[float] = []
lock = Lock()


@DBOS.workflow(name="empty")
def empty(_first: str, _second: str) -> None:
    """A workflow with the arguments of a call, and nothing to do."""
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
        wake(session, CALLS_QUEUE)


@dataclass(frozen=True)
class Measured:
    """``waits`` in seconds, ascending; ``rate`` is how many start per second out of a backlog."""

    waits: list[float]
    rate: float

    @property
    def median(self) -> float:
        return statistics.median(self.waits)

    @property
    def slow(self) -> float:
        """Return the wait that 95 of 100 don't exceed."""
        return self.waits[ceil(0.95 * len(self.waits)) - 1]


def measure_engine(url: str) -> Measured:
    """Measure empty workflows, in a separate process."""
    database = Database(make_engine(url))
    bells = WakeEvents()
    Thread(target=keep_listening, args=(url, bells, Event()), daemon=True).start()
    start_engine(Settings(DATABASE_URL=url, calls_per_organization=20), uuid4().hex, bells)
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
        wait_until(lambda due=number + 1: len(started) >= due)  # type: ignore[misc]  # the default binds the loop's value
        waits.append(started[-1] - begun)
    started.clear()
    enqueue_empty(client, database, [str(i % ORGANIZATIONS) for i in range(BACKLOG)])
    wait_until(lambda: len(started) >= BACKLOG, 120)
    return Measured(sorted(waits), BACKLOG / (max(started) - min(started)))


def measure_calls(database: Database) -> Measured:
    """Measure calls, by a worker as shipped; the carrier is the simulated one."""
    single = Worker(database, **HOUSE, PORTAL_SIMULATOR_PACE="0.001")
    single.start()
    lines = [create_calling_organization(database) for _ in range(ORGANIZATIONS)]
    waits = []
    for number in range(SINGLES):
        begun = time.time()
        call_id = lines[0].dial(database, f"+1212555{number:04d}")
        outcome(database, call_id)
        [placed] = _placed_at(database, f"+1212555{number:04d}")
        waits.append(placed - begun)
    single.stop()
    for number in range(BACKLOG):
        lines[number % ORGANIZATIONS].dial(database, f"+1213555{number:04d}")
    # A line so slow that only placing calls happens while the backlog is worked off.
    busy = Worker(database, **HOUSE, PORTAL_SIMULATOR_PACE="1000")
    busy.start()
    # The ledger has the times, so polling can be rare and take no time from the workers.
    while len(in_order := _placed_at(database, "+1213555%")) < BACKLOG:
        time.sleep(0.25)
    busy.close()
    return Measured(sorted(waits), BACKLOG / (in_order[-1] - in_order[0]))


def _placed_at(database: Database, number: str) -> list[float]:
    """Return when the carrier's ledger has calls to such numbers, in order."""
    query = select(SimulatedCall.placed_at).where(SimulatedCall.to_number.like(number))
    with database.transaction(read_only=True) as session:
        return sorted(moment.timestamp() for moment in session.scalars(query))


def _run_engine_benchmark(databases: Databases, backend: str) -> Measured:
    url = databases.create(backend)
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.calls", url], capture_output=True, check=True, text=True
    )
    databases.drop(url)
    waits, rate = json.loads(result.stdout)
    return Measured(waits, rate)


def compare(databases: Databases, backend: str) -> None:
    before = _run_engine_benchmark(databases, backend)
    database = Database(make_engine(databases.create(backend)))
    ours = measure_calls(database)
    database.dispose()
    after = _run_engine_benchmark(databases, backend)
    floor = (before.rate + after.rate) / 2
    busy = os.getloadavg()[0]
    for label, each in (("engine", before), ("calls", ours), ("engine again", after)):
        waits = f"{each.median:>10.3f} s{each.slow:>10.3f} s"
        print(f"{backend:<12}{label:<14}{waits}{each.rate:>10.0f}/s")
    print(f"{backend:<12}ratio of the rates {ours.rate / floor:.2f}, load {busy:.1f}", flush=True)


def main() -> None:
    if len(sys.argv) > 1:
        measured = measure_engine(sys.argv[1])
        print(json.dumps([measured.waits, measured.rate]), flush=True)
        os._exit(0)
    assign_directly_given_numbers()
    print(f"{'':<26}{'median':>12}{'95 %':>12}{'backlog':>12}")
    with tempfile.TemporaryDirectory() as folder:
        databases = Databases(Path(folder), Path(folder))
        for backend in BACKENDS:
            compare(databases, backend)
        databases.close()


if __name__ == "__main__":
    main()
