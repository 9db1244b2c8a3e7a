"""The cost of an idle worker, and whether its memory grows with its calls.

``python -m benchmarks.idle_worker [CALLS]`` (10,000 calls by default, some 15 minutes for each
database on an idle machine). ``PORTAL_TEST_DATABASES=sqlite`` measures one alone. For each:

- the CPU time of an idle worker as a share of a core, beside the floor, a process with the same
  modules that waits for a signal;
- how long a call waits from its acceptance until the carrier's own ledger has it, while the worker
  is idle;
- the worker's memory after a warm-up and during CALLS further calls, 50 at once, and the CPU time
  of a call.

Goals: under 1 % of a core, a median wait under 0.2 s, no growth.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from app.database import Database, make_engine
from app.models import SimulatedCall
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.phone_numbers import assign_directly_given_numbers
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    create_calling_organization,
    unfinished_calls,
    wait_until,
)

SETTLE_SECONDS = 65.0
"""The engine polls for schedules each second in its first minute."""
IDLE_SECONDS = 60.0
SINGLES = 30
ORGANIZATIONS = 10
BATCH_SIZE = 250
WARM_UP = 2_000
"""Calls before measuring, so that imports, connections and caches of a working worker are
included."""
STEPS = 5
"""How often memory is measured during the calls."""
SHIPPED = {
    "PORTAL_QUEUE_POLL_SECONDS": "10",
    "PORTAL_WORKER_HEARTBEAT_SECONDS": "2",
    "PORTAL_WORKER_DEAD_AFTER_SECONDS": "10",
    "PORTAL_SIMULATOR_PACE": "0.001",
    "PORTAL_CALLS_PER_ORGANIZATION": "5",
    "PORTAL_SPENDING_WATCH": "false",
}
WAITING = "import app.jobs.worker, signal; print(flush=True); signal.pause()"


def cpu_seconds(pid: int) -> float:
    """Return the user and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share(pid: int) -> float:
    """Return the share of a core, in percent."""
    before, begun = cpu_seconds(pid), time.monotonic()
    time.sleep(IDLE_SECONDS)
    return 100 * (cpu_seconds(pid) - before) / (time.monotonic() - begun)


@dataclass(frozen=True)
class Memory:
    """Megabytes of a process; ``pss`` divides shared pages among the processes."""

    rss: float
    pss: float

    def __str__(self) -> str:
        return f"{self.rss:6.0f} MB RSS {self.pss:6.0f} MB PSS"


def memory(pid: int) -> Memory:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {
        name: int(value.split()[0]) for name, _, value in (x.partition(":") for x in lines)
    }
    return Memory(kilobytes["Rss"] / 1024, kilobytes["Pss"] / 1024)


@contextmanager
def floor() -> Iterator[int]:
    """Start a process that has imported what the worker imports."""
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.terminate()


def wait_once(database: Database, calling_organization: CallingOrganization, number: str) -> float:
    """Return the seconds from before the acceptance of a call until the carrier has it."""
    begun = time.time()
    calling_organization.dial(database, number)
    placed = select(SimulatedCall.placed_at).where(SimulatedCall.to_number == number)
    while True:
        with database.transaction(read_only=True) as session:
            moment = session.scalar(placed)
        if moment is not None:
            return moment.timestamp() - begun
        time.sleep(0.02)


def carry_out(
    database: Database, lines: list[CallingOrganization], numbers: Iterator[int], count: int
) -> None:
    """Accept calls in batches and wait until each of them has ended."""
    for begin in range(0, count, BATCH_SIZE):
        for position in range(min(BATCH_SIZE, count - begin)):
            with database.transaction() as session:
                lines[position % len(lines)].accept(session, f"+1212{next(numbers):07d}")
        while unfinished_calls(database):
            time.sleep(0.2)


def measure(worker: Worker, database: Database, backend: str, count: int) -> None:
    def say(label: str, figure: str) -> None:
        print(f"{backend:<12}{label:<28}{figure}", flush=True)

    worker.start()
    assert worker.process is not None
    pid = worker.process.pid
    lines = [create_calling_organization(database) for _ in range(ORGANIZATIONS)]
    time.sleep(SETTLE_SECONDS)
    with floor() as bare:
        say("floor, idle", f"{share(bare):6.2f} % of a core {memory(bare)}")
    say("worker, idle", f"{share(pid):6.2f} % of a core {memory(pid)}")
    waits = []
    for number in range(SINGLES):
        waits.append(wait_once(database, lines[number % 2], f"+1213555{number:04d}"))
        time.sleep(0.3)
    ordered = sorted(waits)
    say(
        "acceptance to carrier",
        f"{statistics.median(ordered):.3f} s median {ordered[-1]:.3f} s longest",
    )
    wait_until(lambda: not unfinished_calls(database))
    numbers = iter(range(2_000_000, 9_999_999))
    carry_out(database, lines, numbers, WARM_UP)
    warm = memory(pid)
    say(f"after {WARM_UP:,} calls", str(warm))
    for step in range(1, STEPS + 1):
        before, begun = cpu_seconds(pid), time.monotonic()
        carry_out(database, lines, numbers, count // STEPS)
        spent = 1000 * (cpu_seconds(pid) - before) / (count // STEPS)
        rate = count // STEPS / (time.monotonic() - begun)
        figure = f"{memory(pid)} {spent:6.0f} ms of CPU a call {rate:6.0f} calls a second"
        say(f"after {step * (count // STEPS):,} more", figure)
    say("growth after the warm-up", f"{memory(pid).rss - warm.rss:6.0f} MB RSS")
    with database.transaction(read_only=True) as session:
        placed = session.scalar(select(func.count()).select_from(SimulatedCall))
    say("calls at the carrier", f"{placed:,}")
    say("worker, idle again", f"{share(pid):6.2f} % of a core {memory(pid)}")
    worker.stop()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    assign_directly_given_numbers()
    with tempfile.TemporaryDirectory() as folder:
        databases = Databases(Path(folder), Path(folder))
        for backend in BACKENDS:
            database = Database(make_engine(databases.create(backend)))
            worker = Worker(database, **SHIPPED)
            try:
                measure(worker, database, backend, count)
            finally:
                worker.close()
            database.dispose()
        databases.close()


if __name__ == "__main__":
    main()
