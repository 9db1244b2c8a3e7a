"""A worker can serve some queues alone: imports and exports can have hosts of their own."""

import time
from collections.abc import Callable

import pytest
from sqlalchemy import func, select

from app.database import Database
from app.models import SimulatedCall
from tests.fixtures.worker import Worker, create_calling_organization, unfinished_calls, wait_until


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_worker_of_exports_places_no_calls(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    exports, others = (
        make_worker(PORTAL_WORKER_QUEUES=queues)
        for queues in ("imports, exports", "calls,mail,webhooks,checks,pictures,silent calls,jobs")
    )
    exports.start()
    calling_organization = create_calling_organization(fresh_database)
    calling_organization.dial(fresh_database, "+12125550001")
    time.sleep(2)
    assert unfinished_calls(fresh_database) == 1
    others.start()
    wait_until(lambda: unfinished_calls(fresh_database) == 0)
    with fresh_database.transaction(read_only=True) as session:
        assert session.scalar(select(func.count()).select_from(SimulatedCall)) == 1


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("queues", "sentence"),
    [
        ("calls,letters", "PORTAL_WORKER_QUEUES names 'letters'. The queues are: calls, imports,"),
        ("calls", "PORTAL_WORKER_QUEUES needs PostgreSQL: on SQLite one worker does all work."),
    ],
)
def test_queues_that_no_worker_could_serve_are_refused(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    queues: str,
    sentence: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    worker = make_worker(PORTAL_WORKER_QUEUES=queues)
    worker.start(wait=False)
    assert worker.wait() == 1
    assert sentence in capfd.readouterr().err
