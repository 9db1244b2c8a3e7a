"""A worker process for each test that asks for one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.database import Database
from app.jobs.context import WorkerContext
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.stripe_server import StripeServer, stripe_server
from tests.fixtures.twilio_worker import TwilioWorker, twilio_worker
from tests.fixtures.worker import Worker
from tests.fixtures.worker_context import worker_context
from tests.matrix import rotating

HOUSE = pytest.StashKey[TwilioWorker]()


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
    """The judge: it counts how often a number rang."""
    return Simulator(fresh_database.engine, pace=0.02)


@pytest.fixture(scope="session")
def stripe() -> Iterator[StripeServer]:
    with stripe_server() as running:
        yield running


@pytest.fixture
def context(
    fresh_database: Database, stripe: StripeServer, tmp_path: Path
) -> Iterator[WorkerContext]:
    """The resources of a worker's tasks, in this process; Stripe is the server `stripe`."""
    settings = settings_for(url_of(fresh_database), tmp_path, stripe_api_url=stripe.url)
    with worker_context(settings) as opened:
        yield opened


@pytest.fixture(scope="session", params=rotating("database of a real carrier", BACKENDS))
def shared_house(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwilioWorker]:
    folder = tmp_path_factory.mktemp("house")
    with twilio_worker(databases, request.param, folder) as ready:
        request.session.stash[HOUSE] = ready
        yield ready


@pytest.fixture
def house(shared_house: TwilioWorker) -> TwilioWorker:
    """One worker and one web server for every case of a faulty carrier; each test dials separate
    numbers."""
    if not shared_house.worker.is_running:
        shared_house.worker.start()
    return shared_house


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the worker of `house` if the next test doesn't need it: even idle, it polls its
    queues."""
    if "house" not in getattr(nextitem, "fixturenames", ()) and HOUSE in item.session.stash:
        item.session.stash[HOUSE].worker.close()
