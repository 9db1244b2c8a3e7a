"""The effect of PostgreSQL outages and kills on two workers, on hosts whose clocks are 30 s wrong.

``python -m benchmarks.outages [OUTAGES] [KILLS]`` (20 and 20 by default, some 20 minutes). The
workers have the shipped settings, except for a fast line. First each outage of 5 to 60 s begins
with 50 calls in flight; then one worker after the other is killed with calls in flight and
replaced. The carrier's own ledger judges.

Goals: no worker ends, nothing is lost or placed twice; the work of a killed worker is taken over
within 15 s in 99 of 100 kills.
"""

import random
import statistics
import sys
import time
from collections import Counter
from itertools import count

from sqlalchemy import select

from app.database import Database, make_engine
from app.enums import CallStatus
from app.models import Call, SimulatedCall, WorkerHeartbeat
from tests.fixtures.own_server import OwnServer
from tests.fixtures.phone_numbers import assign_directly_given_numbers
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    create_calling_organization,
    unfinished_calls,
    wait_until,
)

CALLS = 50
ORGANIZATIONS = 10
OUTAGE_SECONDS = (5.0, 60.0)
SKEWS = ("30", "-30")
END_SECONDS = 300.0
SETTINGS = {
    "PORTAL_WORKER_HEARTBEAT_SECONDS": "2",
    "PORTAL_WORKER_DEAD_AFTER_SECONDS": "10",
    "PORTAL_QUEUE_POLL_SECONDS": "10",
    "PORTAL_SIMULATOR_PACE": "0.5",
    "PORTAL_SPENDING_WATCH": "false",
}


class Bench:
    """``called`` are the numbers of all accepted calls."""

    def __init__(self, database: Database):
        self._database = database
        self._lines: list[CallingOrganization] = [
            create_calling_organization(database) for _ in range(ORGANIZATIONS)
        ]
        self._numbers = (f"+1212{number:07d}" for number in count(2_000_000))
        self.called: list[str] = []

    def dial(self) -> None:
        for position in range(CALLS):
            number = next(self._numbers)
            self._lines[position % ORGANIZATIONS].dial(self._database, number)
            self.called.append(number)

    def executors(self) -> set[str]:
        with self._database.transaction(read_only=True) as session:
            return set(session.scalars(select(WorkerHeartbeat.executor_id)))

    def wait(self) -> float:
        """Wait for the end of all calls; return the seconds."""
        began = time.monotonic()
        wait_until(lambda: unfinished_calls(self._database) == 0, END_SECONDS)
        return time.monotonic() - began

    def verdict(self) -> str:
        with self._database.transaction(read_only=True) as session:
            rung = Counter(session.scalars(select(SimulatedCall.to_number)))
            ended = dict(session.execute(select(Call.phone_number, Call.status)).all())
        lost = sum(number not in rung for number in self.called)
        twice = sum(times > 1 for times in rung.values())
        completed = sum(status is CallStatus.COMPLETED for status in ended.values())
        return f"{len(self.called)} calls, {completed} completed, {lost} lost, {twice} twice"


def outages(bench: Bench, server: OwnServer, workers: list[Worker], many: int) -> None:
    chance = random.Random()
    before, lengths, later = bench.executors(), list[float](), list[float]()
    for _ in range(many):
        bench.dial()
        time.sleep(chance.uniform(0.2, 2))
        lengths.append(chance.uniform(*OUTAGE_SECONDS))
        with server.away(lengths[-1]):
            pass
        later.append(bench.wait())
    ended = sum(not worker.is_running for worker in workers)
    again = len(bench.executors() - before)
    print(
        f"outages     {many} of {min(lengths):.0f} to {max(lengths):.0f} s: {ended} workers ended, "
        f"{again} started again; all calls had ended {max(later):.0f} s later at most",
        flush=True,
    )


def kills(bench: Bench, workers: list[Worker], many: int) -> None:
    durations = []
    for number in range(many):
        worker, before = workers[number % 2], bench.executors()
        bench.dial()
        time.sleep(0.5)
        pid = worker.process.pid if worker.process else 0
        ids = {each for each in before if each.startswith(f"{pid}-")}
        worker.kill()
        began = time.monotonic()
        wait_until(lambda ids=ids: not ids & bench.executors(), END_SECONDS)  # type: ignore[misc]  # it is called at once
        durations.append(time.monotonic() - began)
        worker.start()
        bench.wait()
    ordered = sorted(durations)
    last = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    print(
        f"takeover    {many} kills: median {statistics.median(ordered):.1f} s, "
        f"99 of 100 {last:.1f} s (goal 15 s)",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    counts = [int(each) for each in arguments]
    many_outages, many_kills = (counts + [20, 20][len(counts) :])[:2]
    assign_directly_given_numbers()
    server = OwnServer()
    database = Database(make_engine(server.url))
    workers = [Worker(database, **SETTINGS) for _ in SKEWS]
    try:
        for worker, skew in zip(workers, SKEWS, strict=True):
            worker.program = ["tests.fixtures.skewed_worker", skew]
            worker.start()
        bench = Bench(database)
        if many_outages:
            outages(bench, server, workers, many_outages)
        if many_kills:
            kills(bench, workers, many_kills)
        print(f"calls       {bench.verdict()}", flush=True)
    finally:
        for worker in workers:
            worker.close()
        database.dispose()
        server.close()


if __name__ == "__main__":
    main(sys.argv[1:])
