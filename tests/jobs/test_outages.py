"""Workers outlast outages of the database and wrong clocks; nothing is lost or placed twice."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import select

from app.database import Database, make_engine
from app.enums import CallStatus
from app.models import Call, SimulatedCall, WorkerHeartbeat
from tests import matrix
from tests.fixtures.own_server import OwnServer
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    create_calling_organization,
    unfinished_calls,
    wait_until,
)

pytestmark = pytest.mark.alternating

OUTAGES = 5 if matrix.is_full() else 1
DEAD_AFTER = 8.0
"""Seconds; a busy machine needs some for 50 calls at once."""


@pytest.fixture
def server(backend: str) -> Iterator[OwnServer]:
    own = OwnServer()
    yield own
    own.close()


@pytest.fixture
def server_database(server: OwnServer) -> Iterator[Database]:
    database = Database(make_engine(server.url))
    yield database
    database.dispose()


@pytest.fixture
def two_workers(server_database: Database) -> Iterator[list[Worker]]:
    settings = {"PORTAL_WORKER_DEAD_AFTER_SECONDS": str(DEAD_AFTER)}
    both = [Worker(server_database, PORTAL_SIMULATOR_PACE="0.3", **settings) for _ in range(2)]
    for worker in both:
        worker.start()
    yield both
    for worker in both:
        worker.close()


def executors(database: Database) -> set[str]:
    with database.transaction(read_only=True) as session:
        return set(session.scalars(select(WorkerHeartbeat.executor_id)))


def rung_and_ended(database: Database) -> tuple[Counter[str], dict[str, CallStatus]]:
    with database.transaction(read_only=True) as session:
        rung = Counter(session.scalars(select(SimulatedCall.to_number)))
        return rung, dict(session.execute(select(Call.phone_number, Call.status)).all())


def dial(database: Database, organizations: list[CallingOrganization], numbers: list[str]) -> None:
    for place, number in enumerate(numbers):
        organizations[place % len(organizations)].dial(database, number)


@pytest.mark.worker
@pytest.mark.crash
@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_an_outage_ends_no_worker_and_hands_nothing_over(
    server: OwnServer, server_database: Database, two_workers: list[Worker]
) -> None:
    # Of many organizations, so that both workers have calls.
    organizations = [create_calling_organization(server_database) for _ in range(10)]
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    before, called = executors(server_database), list[str]()
    for outage in range(OUTAGES):
        numbers = [f"+1212555{outage:02d}{place:02d}" for place in range(50)]
        dial(server_database, organizations, numbers)
        called += numbers
        time.sleep(chance.uniform(0.2, 2))
        with server.away(chance.uniform(1.2, 2) * DEAD_AFTER):
            pass
    wait_until(lambda: unfinished_calls(server_database) == 0)
    rung, ended = rung_and_ended(server_database)
    assert ended == dict.fromkeys(called, CallStatus.COMPLETED), f"seed {seed}"
    assert rung == Counter(called), f"seed {seed}"
    assert executors(server_database) == before
    assert [worker.stop() for worker in two_workers] == [0, 0]


@pytest.mark.worker
@pytest.mark.crash
@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_worker_that_starts_during_an_outage_waits(
    server: OwnServer, server_database: Database
) -> None:
    worker = Worker(server_database)
    with server.away(1):
        worker.start(wait=False)
        time.sleep(6)
        assert worker.is_running
    wait_until(lambda: executors(server_database), 30)
    assert worker.stop() == 0


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_machines_with_wrong_clocks_take_over_from_each_other(
    fresh_database: Database, make_worker: Callable[..., Worker], backend: str
) -> None:
    ahead, behind = (make_worker(PORTAL_SIMULATOR_PACE="0.3") for _ in range(2))
    ahead.program = ["tests.fixtures.skewed_worker", "30"]
    behind.program = ["tests.fixtures.skewed_worker", "-30"]
    ahead.start()
    behind.start()
    organizations = [create_calling_organization(fresh_database) for _ in range(6)]
    numbers = [f"+12125557{place:03d}" for place in range(30)]
    dial(fresh_database, organizations, numbers)
    time.sleep(1)
    ahead.kill()
    wait_until(lambda: unfinished_calls(fresh_database) == 0, 60)
    rung, ended = rung_and_ended(fresh_database)
    assert ended == dict.fromkeys(numbers, CallStatus.COMPLETED)
    assert rung == Counter(numbers)
    assert behind.stop() == 0


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_worker_loses_and_repeats_nothing_when_its_clock_jumps_by_an_hour(
    fresh_database: Database, make_worker: Callable[..., Worker], backend: str
) -> None:
    workers = [make_worker(PORTAL_SIMULATOR_PACE="0.3") for _ in range(2)]
    for worker, jump in zip(workers, ("3600", "-3600"), strict=True):
        worker.program = ["tests.fixtures.skewed_worker", jump, "6"]
        worker.start()
    organizations = [create_calling_organization(fresh_database) for _ in range(6)]
    numbers = [f"+12125558{place:03d}" for place in range(30)]
    for number in numbers:
        dial(fresh_database, [organizations[int(number[-2:]) % len(organizations)]], [number])
        time.sleep(0.3)  # so that calls are under way before, during and after the jump
    # A call that was under way at the jump may wait a minute, never the hour.
    wait_until(lambda: unfinished_calls(fresh_database) == 0, 240)
    rung, ended = rung_and_ended(fresh_database)
    assert ended == dict.fromkeys(numbers, CallStatus.COMPLETED)
    assert rung == Counter(numbers)
    assert [worker.stop() for worker in workers] == [0, 0]
