"""A worker process for each test that asks for one."""

from collections.abc import Callable, Iterator

import pytest

from app.database import Database
from app.gateways.carriers.simulator import Simulator
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.twilio_house import House, twilio_house
from tests.fixtures.worker import Worker
from tests.matrix import rotating


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


@pytest.fixture(scope="session", params=rotating("database of a real carrier", BACKENDS))
def house(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """One worker and one web server for every case of a faulty carrier; dial from numbers of
    one's own."""
    folder = tmp_path_factory.mktemp("house")
    with twilio_house(databases, request.param, folder) as ready:
        yield ready
