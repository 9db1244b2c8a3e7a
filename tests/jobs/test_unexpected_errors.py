"""A call is carried on after an unexpected error; an error that repeats ends it as unknown. A
campaign or a held call that can't be handled doesn't delay others."""

from inspect import unwrap
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from app.gateways.carriers.base import AttemptInquiry, CarrierReport
from app.gateways.carriers.simulator import SimulatedCarrier
from app.jobs import dispatch_campaigns, place_call, waiting_calls
from app.jobs.context import WorkerContext
from app.models import new_id
from app.services.calls import waiting
from app.services.outreach import dispatcher
from tests.fixtures import simulated_carrier
from tests.fixtures.outreach import start_campaign
from tests.fixtures.worker import create_calling_organization, outcome


@pytest.mark.parametrize(
    ("errors", "end"),
    [(1, ("completed", "completed", "human")), (2, ("unknown", "unknown", None))],
)
def test_a_ringing_call_survives_an_unexpected_error(
    context: WorkerContext,
    simulator: simulated_carrier.Simulator,
    monkeypatch: pytest.MonkeyPatch,
    errors: int,
    end: tuple[str, str, str | None],
) -> None:
    failures, look_up = iter(range(errors)), SimulatedCarrier.look_up

    def faulty(carrier: SimulatedCarrier, inquiry: AttemptInquiry) -> CarrierReport:
        if next(failures, None) is not None:
            raise RuntimeError
        return look_up(carrier, inquiry)

    monkeypatch.setattr(SimulatedCarrier, "look_up", faulty)
    call_id, attempt_id = (
        create_calling_organization(context.database).dial(context.database, "+12125550001"),
        new_id(),
    )
    unwrap(place_call.place_call)(str(call_id), str(attempt_id))
    assert outcome(context.database, call_id) == end
    assert simulator.times_rung("+12125550001") == 1


def test_a_campaign_that_cannot_be_dispatched_does_not_delay_others(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    calling_organization = create_calling_organization(context.database)
    first_id, _ = (start_campaign(context.database, calling_organization, 1) for _ in range(2))
    dispatch = dispatcher.dispatch

    def faulty(session: Session, campaign_id: UUID, *values: Any) -> int:
        if campaign_id == first_id:
            raise RuntimeError
        return dispatch(session, campaign_id, *values)

    monkeypatch.setattr(dispatcher, "dispatch", faulty)
    assert dispatch_campaigns.dispatch_all() == 1


def test_an_outage_of_the_database_ends_the_dispatch_of_all_campaigns(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_campaign(context.database, create_calling_organization(context.database), 1)

    def unreachable(*_: Any) -> int:
        raise OperationalError("SELECT 1", {}, ConnectionError())

    monkeypatch.setattr(dispatcher, "dispatch", unreachable)
    with pytest.raises(OperationalError):
        dispatch_campaigns.dispatch_all()


def test_a_held_call_that_cannot_be_checked_does_not_delay_others(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_id, second_id = new_id(), new_id()
    checked = []

    def faulty(_: Session, call_id: UUID) -> None:
        if call_id == first_id:
            raise RuntimeError
        checked.append(call_id)

    monkeypatch.setattr(waiting, "list_due_held", lambda _: [first_id, second_id])
    monkeypatch.setattr(waiting, "check_held", faulty)
    waiting_calls.check_held(context.database)
    assert checked == [second_id]
