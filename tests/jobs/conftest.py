"""A worker process for each test that asks for one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.database import Database
from app.jobs.context import WorkerContext
from app.services import pauses
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.faulty_carrier import FaultyCarrier, faulty_carrier
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.stripe_server import StripeServer, stripe_server
from tests.fixtures.twilio_worker import TwilioWorker, open_twilio_worker
from tests.fixtures.uploads import Importer, make_importer
from tests.fixtures.worker import Worker
from tests.fixtures.worker_context import worker_context
from tests.matrix import rotating

TWILIO_WORKER = pytest.StashKey[TwilioWorker]()


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
    """A running worker whose simulated carrier is quick."""
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
def shared_twilio_worker(
    request: pytest.FixtureRequest, databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwilioWorker]:
    folder = tmp_path_factory.mktemp("twilio")
    with open_twilio_worker(databases, request.param, folder) as ready:
        request.session.stash[TWILIO_WORKER] = ready
        yield ready


@pytest.fixture
def twilio_worker(shared_twilio_worker: TwilioWorker) -> TwilioWorker:
    """One worker and one web server for every case of a faulty carrier; each test dials separate
    numbers."""
    if not shared_twilio_worker.worker.is_running:
        shared_twilio_worker.worker.start()
    return shared_twilio_worker


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the worker of `twilio_worker` if the next test doesn't need it: even idle, it polls its
    queues."""
    next_fixtures = getattr(nextitem, "fixturenames", ())
    if "twilio_worker" not in next_fixtures and TWILIO_WORKER in item.session.stash:
        item.session.stash[TWILIO_WORKER].worker.close()


@pytest.fixture
def carrier() -> Iterator[FaultyCarrier]:
    with faulty_carrier() as running:
        yield running


@pytest.fixture
def importer(fresh_database: Database, tmp_path: Path) -> Importer:
    with fresh_database.transaction() as session:
        return make_importer(session, fresh_database, tmp_path)


def pause_reasons(database: Database) -> list[str]:
    """Return the reasons of all pauses of calling."""
    with database.transaction(read_only=True) as session:
        return [pause.reason for pause in pauses.listing(session)]
