"""How soon a killed process serves again on a busy machine.

``python -m benchmarks.recovery [KILLS] [LOAD]`` (20 kills, 10 busy processes). The product runs on
each database as `make run` starts it; the web server and the worker are killed in turns.
``PORTAL_TEST_DATABASES=sqlite`` measures one database only.

Goal: a page, and a heartbeat of a new worker, within 8 s.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from sqlalchemy import select

from app.database import Database, make_engine
from app.models import WorkerHeartbeat
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.phone_numbers import assign_directly_given_numbers
from tests.fixtures.stack import Stack
from tests.fixtures.worker import create_calling_organization, wait_until

GOAL_SECONDS = 8.0
LIMIT_SECONDS = 120.0


@contextmanager
def busy(count: int) -> Iterator[None]:
    command = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def is_replaced(stack: Stack, killed: set[int]) -> bool:
    """Whether a web server answers and no process of the killed one is left."""
    web = stack.processes()["web"]
    if not web or not killed.isdisjoint(web):
        return False
    connection = HTTPConnection("127.0.0.1", stack.port, timeout=LIMIT_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def executors(database: Database) -> set[str]:
    with database.transaction(read_only=True) as session:
        return set(session.scalars(select(WorkerHeartbeat.executor_id)))


def seconds_until(reached: Callable[[], object]) -> float:
    began = time.monotonic()
    wait_until(reached, LIMIT_SECONDS)
    return time.monotonic() - began


def measure(known: Databases, backend: str, folder: Path, kills: int, load: int) -> None:
    url = known.create(backend)
    folder.mkdir()
    database = Database(make_engine(url, pool_size=1))
    create_calling_organization(database)  # a non-empty database gets no demo data
    stack = Stack(url, folder, {"PORTAL_ENV": "test"})
    durations: dict[str, list[float]] = {"web": [], "worker": []}
    try:
        stack.wait_until_ready()
        with busy(load):
            time.sleep(5)
            for _ in range(kills // 2):
                web = stack.processes()["web"]
                os.kill(web[0], signal.SIGKILL)
                durations["web"].append(
                    seconds_until(lambda killed=set(web): is_replaced(stack, killed))  # type: ignore[misc]  # it is called at once
                )
                before = executors(database)
                wait_until(lambda: stack.processes()["worker"], LIMIT_SECONDS)
                os.kill(stack.processes()["worker"][0], signal.SIGKILL)
                durations["worker"].append(
                    seconds_until(lambda known=before: executors(database) - known)  # type: ignore[misc]  # it is called at once
                )
    finally:
        stack.stop()
        database.dispose()
        known.drop(url)
    for process, seconds in durations.items():
        late = sum(each > GOAL_SECONDS for each in seconds)
        figures = f"median {statistics.median(seconds):.1f} s, longest {max(seconds):.1f} s"
        goal = f"{late} over {GOAL_SECONDS:.0f} s at load {os.getloadavg()[0]:.0f}"
        print(f"{backend:<12}{process:<8}{len(seconds)} kills: {figures}, {goal}", flush=True)


def main(arguments: list[str]) -> None:
    counts = [int(each) for each in arguments]
    kills, load = (counts + [20, 10][len(counts) :])[:2]
    assign_directly_given_numbers()
    with tempfile.TemporaryDirectory() as folder:
        databases = Databases(Path(folder), Path(folder))
        for backend in BACKENDS:
            measure(databases, backend, Path(folder) / f"instance-{backend}", kills, load)
        databases.close()


if __name__ == "__main__":
    main(sys.argv[1:])
