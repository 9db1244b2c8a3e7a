"""A worker process for each test that asks for one."""

from collections.abc import Callable, Iterator

import pytest

from app.database import Database
from app.gateways.carriers.simulator import Simulator
from tests.fixtures.worker import Worker


@pytest.fixture
def make_worker(fresh_database: Database) -> Iterator[Callable[..., Worker]]:
    """``make_worker(PORTAL_SIMULATOR_PACE="1")`` gives a worker that is not started yet."""
    made: list[Worker] = []

    def make(**changes: str) -> Worker:
        made.append(Worker(fresh_database, **changes))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


@pytest.fixture
def worker(make_worker: Callable[..., Worker]) -> Worker:
    """A running worker with a quick line."""
    running = make_worker()
    running.start()
    return running


@pytest.fixture
def simulator(fresh_database: Database) -> Simulator:
    """The judge: how often did a number ring?"""
    return Simulator(fresh_database.engine, pace=0.02)
