"""Starting, stopping and replacing workers."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from sqlalchemy import select, text

from app.database import Database
from app.gateways.job_queue import CALLS_QUEUE
from app.models import WorkerHeartbeat
from app.services import workers
from tests.fixtures.databases import BACKENDS
from tests.fixtures.receiver import Receiver
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.worker import (
    ROOT,
    Worker,
    create_calling_organization,
    unfinished_calls,
    wait_until,
)
from tests.jobs.test_webhooks import KEY, add
from tests.matrix import rotating


@pytest.mark.parametrize("backend", rotating("database of a stop", BACKENDS), indirect=True)
def test_a_stopped_worker_leaves_its_calls_to_the_next(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    simulator: Simulator,
    backend: str,
) -> None:
    worker = make_worker(PORTAL_SIMULATOR_PACE="0.3")
    worker.start()
    calling_organization = create_calling_organization(fresh_database)
    numbers = [f"+121255504{index:02d}" for index in range(12)]
    for number in numbers:
        calling_organization.dial(fresh_database, number)
    wait_until(lambda: sum(map(simulator.times_rung, numbers)) >= 4)
    assert worker.stop() == 0
    with fresh_database.transaction(read_only=True) as session:
        assert not workers.any_alive(session, 60)
    assert unfinished_calls(fresh_database) > 0
    worker.start()
    wait_until(lambda: unfinished_calls(fresh_database) == 0)
    assert [simulator.times_rung(number) for number in numbers] == [1] * 12


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_stopping_worker_claims_no_more_work(
    fresh_database: Database, make_worker: Callable[..., Worker], backend: str
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    worker = make_worker(PORTAL_SECRET_KEY=KEY, PORTAL_WEBHOOK_ALLOW_PRIVATE="1")
    with Receiver(holds_seconds=4).open() as receiver:
        with fresh_database.transaction() as session:
            add(session, calling_organization, receiver)
        worker.start()
        calling_organization.dial(fresh_database, "+12125550401")
        wait_until(lambda: receiver.received)  # a webhook is under way, which the worker waits for
        assert worker.process is not None
        worker.process.send_signal(signal.SIGTERM)
        time.sleep(1)
        calling_organization.dial(fresh_database, "+12125550402")
        assert worker.wait() == 0
    query = text(
        "SELECT status, executor_id FROM dbos.workflow_status "
        "WHERE queue_name = :queue AND status <> 'SUCCESS'"
    )
    with fresh_database.transaction(read_only=True) as session:
        assert session.execute(query, {"queue": CALLS_QUEUE}).all() == [("ENQUEUED", None)]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_sqlite_has_one_worker(fresh_database: Database, worker: Worker, backend: str) -> None:
    url = fresh_database.engine.url.render_as_string(hide_password=False)
    second = subprocess.run(
        [sys.executable, "-m", "app.jobs.worker"],
        cwd=ROOT,
        env={"DATABASE_URL": url, "PORTAL_ENV": "test"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert second.returncode == 3
    assert "SQLite allows one. Stop it first." in second.stderr


def _busy_process(database: Database) -> int | None:
    """The process that has work under way at this moment."""
    busy = text("SELECT executor_id FROM dbos.workflow_status WHERE status = 'PENDING' LIMIT 1")
    with database.transaction(read_only=True) as session:
        executor_id = session.scalar(busy)
    return int(executor_id.partition("-")[0]) if executor_id else None


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_the_work_of_a_killed_worker_is_taken_over_by_a_living_one(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    simulator: Simulator,
    backend: str,
) -> None:
    both = [make_worker(PORTAL_SIMULATOR_PACE="0.3") for _ in range(2)]
    for worker in both:
        worker.start()
    calling_organization = create_calling_organization(fresh_database)
    numbers = [f"+121255505{index:02d}" for index in range(8)]
    for number in numbers:
        calling_organization.dial(fresh_database, number)
    wait_until(lambda: sum(map(simulator.times_rung, numbers)) >= 4)
    busy = _busy_process(fresh_database)
    [victim] = [worker for worker in both if worker.process and worker.process.pid == busy]
    victim.kill()
    wait_until(lambda: unfinished_calls(fresh_database) == 0)
    assert [simulator.times_rung(number) for number in numbers] == [1] * 8
    with fresh_database.transaction(read_only=True) as session:
        assert len(session.scalars(select(WorkerHeartbeat)).all()) == 1


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_worker_declared_dead_rejoins_as_another_in_the_same_process(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    simulator: Simulator,
    backend: str,
) -> None:
    worker = make_worker(PORTAL_SIMULATOR_PACE="0.3")
    worker.start()
    calling_organization = create_calling_organization(fresh_database)
    numbers = [f"+121255506{index:02d}" for index in range(8)]
    for number in numbers:
        calling_organization.dial(fresh_database, number)
    wait_until(lambda: sum(map(simulator.times_rung, numbers)) >= 4)
    with fresh_database.transaction() as session:
        [before] = session.scalars(select(WorkerHeartbeat.executor_id)).all()
        workers.declare_dead(session, [before])
    wait_until(lambda: unfinished_calls(fresh_database) == 0)
    assert [simulator.times_rung(number) for number in numbers] == [1] * 8
    with fresh_database.transaction(read_only=True) as session:
        [after] = session.scalars(select(WorkerHeartbeat.executor_id)).all()
    assert worker.process is not None
    assert before != after
    assert [each.partition("-")[0] for each in (before, after)] == [str(worker.process.pid)] * 2
    assert worker.stop() == 0
