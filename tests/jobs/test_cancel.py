"""Cancelling at every stage of a call."""

from collections.abc import Callable
from uuid import UUID

import pytest

from app.database import Database
from app.enums import CallStatus
from app.errors import Conflict
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.services import calls
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.simulated_carrier import Simulator
from tests.fixtures.worker import (
    CallingOrganization,
    Worker,
    counted_conversations,
    create_calling_organization,
    outcome,
    read_call,
    wait_until,
)
from tests.matrix import rotating

HUMAN = SIMULATED_NUMBERS["human"]


backend = runs_on(rotating("database of cancelling", BACKENDS))


def cancel(
    database: Database, calling_organization: CallingOrganization, call_id: UUID
) -> CallStatus:
    with database.transaction() as session:
        return calls.cancel(session, calling_organization.key, call_id, ()).status


def test_a_waiting_call_is_cancelled_at_once_and_never_rings(
    fresh_database: Database, make_worker: Callable[..., Worker], simulator: Simulator
) -> None:
    calling_organization = create_calling_organization(fresh_database)
    call_id, other = (
        calling_organization.dial(fresh_database, HUMAN),
        calling_organization.dial(fresh_database, "+12125550999"),
    )
    first, second = (cancel(fresh_database, calling_organization, call_id) for _ in range(2))
    make_worker().start()
    outcome(fresh_database, other)
    assert (first, second) == (CallStatus.CANCELED, CallStatus.CANCELED)
    assert outcome(fresh_database, call_id) == ("canceled", "canceled", None)
    assert simulator.times_rung(HUMAN) == 0


@pytest.mark.parametrize(
    ("stage", "answered_by", "conversations"),
    [("ringing", None, []), ("in-progress", "human", [(1, 1, 0)])],
)
def test_an_active_call_is_ended_through_the_carrier(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    stage: str,
    answered_by: str | None,
    conversations: list[tuple[int, int, int]],
) -> None:
    make_worker(PORTAL_SIMULATOR_PACE="0.5").start()
    calling_organization = create_calling_organization(fresh_database)
    call_id = calling_organization.dial(fresh_database, HUMAN)
    wait_until(lambda: read_call(fresh_database, call_id).status.value == stage)
    assert cancel(fresh_database, calling_organization, call_id).value == stage
    assert outcome(fresh_database, call_id) == ("canceled", "canceled", answered_by)
    assert (
        counted_conversations(fresh_database, calling_organization.organization_id) == conversations
    )
    assert cancel(fresh_database, calling_organization, call_id) is CallStatus.CANCELED


def test_a_call_that_is_over_stays_as_it_is(fresh_database: Database, worker: Worker) -> None:
    calling_organization = create_calling_organization(fresh_database)
    call_id = calling_organization.dial(fresh_database, HUMAN)
    ended = outcome(fresh_database, call_id)
    with pytest.raises(Conflict) as refusal:
        cancel(fresh_database, calling_organization, call_id)
    assert refusal.value.code == "call_ended"
    assert outcome(fresh_database, call_id) == ended == ("completed", "completed", "human")
