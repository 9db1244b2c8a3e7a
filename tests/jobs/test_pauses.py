"""Paused calling: accepted calls wait, in no queue, and continue in their order."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select

from app.database import Database
from app.enums import CallStatus
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.models import Call, CallAttempt, HeldCall, utcnow
from app.policy.caller import system_caller
from app.services import calls, pauses
from app.services.pauses import PauseScope
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.worker import (
    Worker,
    create_calling_organization,
    outcome,
    read_call,
    wait_until,
)
from tests.matrix import rotating

HUMAN = SIMULATED_NUMBERS["human"]
COLLEAGUE = system_caller("colleague")


backend = runs_on(rotating("database of pauses", BACKENDS))


def pause(database: Database, scope: PauseScope, reason: str = "A storm.") -> None:
    with database.transaction() as session:
        pauses.pause(session, COLLEAGUE, scope, reason)


def resume(database: Database, scope: PauseScope) -> None:
    with database.transaction() as session:
        assert pauses.resume(session, COLLEAGUE, scope)


def held_count(database: Database) -> int:
    with database.transaction(read_only=True) as session:
        return session.scalar(select(func.count()).select_from(HeldCall)) or 0


def test_paused_calls_say_why_they_wait_and_resume_in_order(
    fresh_database: Database, make_worker: Callable[..., Worker], simulator: Simulator
) -> None:
    make_worker(PORTAL_CALLS_PER_ORGANIZATION="1").start()
    calling_organization = create_calling_organization(fresh_database)
    pause(fresh_database, PauseScope())
    waiting = [
        calling_organization.dial(fresh_database, f"+1212555{suffix}")
        for suffix in range(1000, 1006)
    ]
    expiring = calling_organization.dial(fresh_database, "+12125552000")
    canceled = calling_organization.dial(fresh_database, "+12125553000")
    wait_until(lambda: held_count(fresh_database) == 8)

    first = read_call(fresh_database, waiting[0])
    assert (first.status, first.status_detail) == (
        CallStatus.QUEUED,
        "Calling is paused: A storm.",
    )
    with fresh_database.transaction(read_only=True) as session:
        kinds = [
            moment.kind
            for moment in calls.timeline(
                session, calls.get(session, calling_organization.key, waiting[0])
            )
        ]
    assert kinds == ["accepted", "held"]

    with fresh_database.transaction() as session:
        assert (
            calls.cancel(session, calling_organization.key, canceled, ()).status
            is CallStatus.CANCELED
        )
        session.get_one(Call, expiring).expires_at = utcnow() - timedelta(seconds=1)
        session.get_one(HeldCall, expiring).expires_at = utcnow() - timedelta(seconds=1)
    assert outcome(fresh_database, expiring) == ("expired", "expired", None)
    assert simulator.times_rung("+12125551000") == 0

    resume(fresh_database, PauseScope())
    ended = {outcome(fresh_database, call_id)[0] for call_id in waiting}
    assert ended == {"completed"}
    with fresh_database.transaction(read_only=True) as session:
        query = select(CallAttempt.call_id).order_by(CallAttempt.started_at)
        assert list(session.scalars(query)) == waiting
        assert session.get_one(Call, waiting[0]).status_detail is None
    assert simulator.times_rung("+12125553000") == 0


def test_an_active_call_goes_on_and_a_killed_worker_changes_nothing(
    fresh_database: Database, make_worker: Callable[..., Worker], simulator: Simulator
) -> None:
    worker = make_worker(PORTAL_SIMULATOR_PACE="0.3")
    worker.start()
    calling_organization = create_calling_organization(fresh_database)
    active_call = calling_organization.dial(fresh_database, HUMAN)
    wait_until(lambda: read_call(fresh_database, active_call).status.value == "ringing")
    pause(fresh_database, PauseScope())
    waits: UUID = calling_organization.dial(fresh_database, "+12125554000")
    wait_until(lambda: held_count(fresh_database) == 1)
    worker.kill()
    worker.start()
    assert outcome(fresh_database, active_call) == ("completed", "completed", "human")
    assert (read_call(fresh_database, waits).status, held_count(fresh_database)) == (
        CallStatus.QUEUED,
        1,
    )
    resume(fresh_database, PauseScope())
    assert outcome(fresh_database, waits)[0] == "completed"
    assert simulator.times_rung("+12125554000") == 1
