"""``kill -9`` at any moment neither loses a call nor dials it twice; the line's ledger judges."""

import random
import time
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import select

from app.database import Database
from app.enums import CallStatus
from app.models import Call, CallAttempt, SimulatedCall
from tests import matrix
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.worker import Worker, create_calling_organization, unfinished_calls, wait_until

pytestmark = pytest.mark.alternating

backend = runs_on(matrix.rotating("database of random kills", BACKENDS))

KILLS = matrix.kills(25)
CALLS_A_KILL = 6


def wait_for_an_open_inquiry(database: Database, then_seconds: float) -> None:
    """Wait for an attempt that is written but not answered: the worst moment of all."""
    open_inquiry = select(CallAttempt.id).where(
        CallAttempt.carrier_reference.is_(None), CallAttempt.status == CallStatus.DIALING
    )
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline:
        with database.transaction(read_only=True) as session:
            if session.scalar(open_inquiry) is not None:
                break
    time.sleep(then_seconds)


@pytest.mark.crash
def test_a_killed_worker_neither_loses_nor_repeats_a_call(
    fresh_database: Database, make_worker: Callable[..., Worker]
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    worker = make_worker()
    worker.start()
    seed = random.randrange(1_000_000)
    chance = random.Random(seed)
    numbers = iter(f"+1212555{suffix:04d}" for suffix in range(2000, 10_000))
    called: list[str] = []
    for _ in range(KILLS):
        for _ in range(CALLS_A_KILL):
            called.append(next(numbers))
            calling_organization.dial(fresh_database, called[-1])
            time.sleep(chance.uniform(0, 0.04))
        if chance.random() < 0.5:
            time.sleep(chance.uniform(0, 0.35))
        else:
            wait_for_an_open_inquiry(fresh_database, chance.uniform(0, 0.01))
        worker.kill()
        worker.start(wait=chance.random() < 0.7)
    wait_until(lambda: unfinished_calls(fresh_database) == 0, limit=60.0 + 12 * KILLS)
    assert worker.stop() == 0

    with fresh_database.transaction(read_only=True) as session:
        rung = Counter(session.scalars(select(SimulatedCall.to_number)))
        ends = dict(session.execute(select(Call.phone_number, Call.status)).all())
        tried = session.execute(
            select(Call.phone_number, CallAttempt.number, CallAttempt.status, CallAttempt.detail)
            .join(CallAttempt, CallAttempt.call_id == Call.id)
            .where(Call.status != CallStatus.COMPLETED)
            .order_by(Call.phone_number, CallAttempt.number)
        ).all()
    assert ends == dict.fromkeys(called, CallStatus.COMPLETED), f"seed {seed}: {tried}"
    assert rung == Counter(called), f"seed {seed}"


def test_an_attempt_is_written_before_the_carrier_is_asked(
    fresh_database: Database, worker: Worker, simulator: Simulator
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    calling_organization.dial(fresh_database, "+12125550001")
    wait_until(lambda: unfinished_calls(fresh_database) == 0)
    with fresh_database.transaction(read_only=True) as session:
        attempt = session.scalars(select(CallAttempt)).one()
        placed_at = session.scalars(select(SimulatedCall.placed_at)).one()
    assert simulator.times_placed(attempt.id) == 1
    assert attempt.started_at < placed_at
