"""A call is carried on after an unexpected error; an error that repeats ends it as unknown."""

from inspect import unwrap

import pytest

from app.gateways.carriers.base import AttemptInquiry, CarrierReport
from app.gateways.carriers.simulator import SimulatedCarrier
from app.jobs import place_call
from app.jobs.context import WorkerContext
from app.models import new_id
from tests.fixtures import simulated_carrier
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
