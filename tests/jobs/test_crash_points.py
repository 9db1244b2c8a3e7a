"""A worker that dies at each point around an attempt, and what the next one makes of it."""

import signal
from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

import pytest
from sqlalchemy import select

from app.database import Database
from app.enums import CallStatus
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.models import CallAttempt
from app.services import calls
from app.services.calls.attempts import CUT_SHORT, UNPLACED
from tests.fixtures.crashing_worker import POINTS
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    create_calling_organization,
    outcome,
    read_call,
    wait_until,
)
from tests.matrix import rotating

pytestmark = pytest.mark.alternating

COMPLETED = ("completed", "completed", "human")
CANCELED = ("canceled", "canceled", None)


class End(NamedTuple):
    """How the call ends, what was said of each attempt, and how often the line rang."""

    outcome: tuple[str, str, str | None]
    attempts: list[str | None]
    rung: int


ONCE = End(COMPLETED, [None], 1)
ENDS = dict.fromkeys(POINTS, ONCE) | {
    "the attempt is committed, the line not asked": End(COMPLETED, [CUT_SHORT, None], 1),
    "nothing was placed, and that is not committed": End(
        ("failed", "carrier_error", None), [UNPLACED] * 3, 0
    ),
    "the call is to be ended, the line not asked": End(CANCELED, [None], 1),
    "the line ended it, and that is not known": End(CANCELED, [None], 1),
}
NAMES = [*POINTS]


backend = runs_on(rotating("database of crash points", BACKENDS))


def dial_for(
    database: Database, calling_organization: CallingOrganization, point: str, number: str
) -> UUID:
    """A call that comes by the point."""
    if "messages" in point:
        return calling_organization.dial(database, number, call_instructions="Ask about the bill.")
    if "nothing was placed" in point:
        return calling_organization.dial(database, SIMULATED_NUMBERS["unreachable"])
    if "end" in point:
        return calling_organization.dial(database, SIMULATED_NUMBERS["noAnswer"])
    return calling_organization.dial(database, number)


def cancel_once_it_rings(
    database: Database, calling_organization: CallingOrganization, call_id: UUID
) -> None:
    wait_until(lambda: read_call(database, call_id).status is CallStatus.RINGING)
    with database.transaction() as session:
        calls.cancel(session, calling_organization.key, call_id, ())


@pytest.mark.crash
@pytest.mark.parametrize("points", rotating("crash points", [NAMES[part::3] for part in range(3)]))
def test_a_call_ends_as_it_should_wherever_its_worker_dies(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    simulator: Simulator,
    points: list[str],
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    worker = make_worker(PORTAL_SIMULATOR_PACE="0.3")
    called: list[UUID] = []
    ends = []
    for point in points:
        worker.program = ["tests.fixtures.crashing_worker", point, *map(str, called)]
        worker.start()
        ends += [end_of(fresh_database, simulator, call_id) for call_id in called[-1:]]
        called.append(
            dial_for(fresh_database, calling_organization, point, f"+1212555{len(called):04d}")
        )
        if "end" in point:
            cancel_once_it_rings(fresh_database, calling_organization, called[-1])
        assert worker.wait() == -signal.SIGKILL
    worker.program = ["app.jobs.worker"]
    worker.start()
    ends.append(end_of(fresh_database, simulator, called[-1]))
    assert dict(zip(points, ends, strict=True)) == {point: ENDS[point] for point in points}


def end_of(database: Database, simulator: Simulator, call_id: UUID) -> End:
    ended = outcome(database, call_id)
    rung = simulator.times_rung(read_call(database, call_id).phone_number)
    with database.transaction(read_only=True) as session:
        query = select(CallAttempt.detail).where(CallAttempt.call_id == call_id)
        attempts = session.scalars(query.order_by(CallAttempt.number))
        return End(ended, list(attempts), rung)
