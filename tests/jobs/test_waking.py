"""An idle worker is woken for its work, and finds by itself what it was not woken for."""

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import column, select, table, text

from app.database import Database
from app.gateways.job_queue import enqueue_mail
from app.gateways.wake import CHANNEL
from app.models import Call, SimulatedCall, new_id
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    create_calling_organization,
    outcome,
    unfinished_calls,
    wait_until,
)

NEVER = {"PORTAL_QUEUE_POLL_SECONDS": "600", "PORTAL_SIMULATOR_PACE": "0.001"}
COMPLETED = ("completed", "completed", "human")


@pytest.fixture
def woken_worker(make_worker: Callable[..., Worker]) -> Worker:
    """A worker that learns of work only by a wake-up."""
    worker = make_worker(**NEVER)
    worker.start()
    return worker


@pytest.fixture
def deaf_worker(make_worker: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch) -> Worker:
    """A worker that no wake-up reaches."""
    monkeypatch.setattr("app.gateways.job_queue.wake", lambda _session, _topic: None)
    worker = make_worker(PORTAL_QUEUE_POLL_SECONDS="1", PORTAL_SIMULATOR_PACE="0.001")
    worker.start()
    return worker


def settle(database: Database, calling_organization: CallingOrganization) -> None:
    """Until the worker has read its queues once and listens."""
    outcome(database, calling_organization.dial(database, "+12125557100"))
    time.sleep(3)


def waits(
    database: Database, calling_organization: CallingOrganization, numbers: list[str]
) -> list[float]:
    """For calls one after the other: from before the acceptance until the carrier has it."""
    found = []
    for number in numbers:
        begun = time.time()
        outcome(database, calling_organization.dial(database, number))
        placed = select(SimulatedCall.placed_at).where(SimulatedCall.to_number == number)
        with database.transaction(read_only=True) as session:
            found.append(session.scalars(placed).one().timestamp() - begun)
        time.sleep(0.2)
    return sorted(found)


NUMBERS = [f"+121255570{index:02d}" for index in range(7)]


@pytest.mark.usefixtures("woken_worker")
def test_a_worker_that_does_not_poll_is_woken_for_each_call(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database)
    settle(fresh_database, calling_organization)
    median = waits(fresh_database, calling_organization, NUMBERS)[3]
    assert median < 1


@pytest.mark.usefixtures("deaf_worker")
def test_polling_finds_each_call_if_every_wake_up_is_lost(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database)
    for number in NUMBERS:
        calling_organization.dial(fresh_database, number)
    wait_until(lambda: not unfinished_calls(fresh_database), 60)
    with fresh_database.transaction(read_only=True) as session:
        rung = sorted(session.scalars(select(SimulatedCall.to_number)))
    assert rung == NUMBERS


@pytest.mark.usefixtures("woken_worker")
def test_a_call_that_ends_makes_room_for_the_next_without_a_poll(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database, max_calls_at_once=1)
    for number in NUMBERS:
        calling_organization.dial(fresh_database, number)
    wait_until(lambda: not unfinished_calls(fresh_database), 60)
    query = (
        select(SimulatedCall.to_number, SimulatedCall.placed_at, Call.ended_at)
        .join(Call, Call.phone_number == SimulatedCall.to_number)
        .order_by(SimulatedCall.placed_at)
    )
    with fresh_database.transaction(read_only=True) as session:
        placed = session.execute(query).all()
    assert sorted(call.to_number for call in placed) == NUMBERS
    assert all(one.ended_at <= following.placed_at for one, following in pairwise(placed))


def test_work_that_waits_at_the_start_of_a_worker_is_taken_at_once(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    call_id = create_calling_organization(fresh_database).dial(fresh_database, NUMBERS[0])
    make_worker(**NEVER).start()
    assert outcome(fresh_database, call_id, 30) == COMPLETED


def test_the_work_of_a_killed_worker_is_taken_over_without_a_poll(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    worker = make_worker(**(NEVER | {"PORTAL_SIMULATOR_PACE": "0.2"}))
    worker.start()
    call_id = create_calling_organization(fresh_database).dial(fresh_database, NUMBERS[0])

    def is_placed() -> bool:
        with fresh_database.transaction(read_only=True) as session:
            return session.scalar(select(SimulatedCall.id)) is not None

    wait_until(is_placed, 30)
    worker.kill()
    worker.start()
    assert outcome(fresh_database, call_id, 30) == COMPLETED


@pytest.mark.usefixtures("woken_worker")
def test_delayed_work_is_started_when_its_delay_is_over(fresh_database: Database) -> None:
    mail_id = new_id()
    settle(fresh_database, create_calling_organization(fresh_database))
    begun = time.monotonic()
    with fresh_database.transaction() as session:
        enqueue_mail(session, mail_id, 1, 2.0)
    schema = None if fresh_database.is_sqlite else "dbos"
    work = table("workflow_status", column("status"), column("workflow_uuid"), schema=schema)
    status = select(work.c.status).where(work.c.workflow_uuid == f"mail:{mail_id}:1")

    def state() -> str | None:
        with fresh_database.transaction(read_only=True) as session:
            return session.scalar(status)

    assert state() == "DELAYED"
    wait_until(lambda: state() not in ("DELAYED", "ENQUEUED", "PENDING"), 30)
    assert time.monotonic() - begun > 2


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.usefixtures("woken_worker", "backend")
def test_a_worker_listens_again_after_its_connection_was_cut(fresh_database: Database) -> None:
    calling_organization = create_calling_organization(fresh_database)
    settle(fresh_database, calling_organization)
    cut = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND query = :query"
    )
    with fresh_database.transaction() as session:
        assert list(session.scalars(cut, {"query": f"LISTEN {CHANNEL}"})) == [True]
    call_id = calling_organization.dial(fresh_database, NUMBERS[0])
    assert outcome(fresh_database, call_id, 30) == COMPLETED


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("backend")
def test_calls_go_out_where_no_pipe_can_be_made(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    path = Path(f"{fresh_database.engine.url.database}-wake")
    path.write_text("not a pipe")
    make_worker(PORTAL_QUEUE_POLL_SECONDS="1", PORTAL_SIMULATOR_PACE="0.001").start()
    calling_organization = create_calling_organization(fresh_database)
    settle(fresh_database, calling_organization)
    call_id = calling_organization.dial(fresh_database, NUMBERS[0])
    assert outcome(fresh_database, call_id, 30) == COMPLETED
    assert path.read_text() == "not a pipe"
