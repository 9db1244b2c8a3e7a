"""The simulated carrier: a function of the number and the time, and a ledger that hides nothing."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import update

from app.database import Database
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierReport,
    NoCarrierAnswer,
    PlacementRejected,
    PlacementVerdict,
)
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.models import SimulatedCall, new_id, utcnow
from app.phone import check_dialable
from tests.fixtures.open_regions import everywhere_in
from tests.fixtures.simulated_carrier import Simulator


def placement(number: str) -> CallPlacement:
    return CallPlacement(new_id(), number, "+12025550199", "Hello.", "Bye.")


def about(attempt_id: UUID) -> AttemptInquiry:
    return AttemptInquiry(attempt_id, "+12125550100", "+12025550199", utcnow())


@pytest.fixture
def simulator(fresh_database: Database) -> Simulator:
    return Simulator(fresh_database.engine)


def seen_after(database: Database, simulator: Simulator, number: str, seconds: float) -> list[str]:
    """Return the carrier's report of a call that was placed this many seconds ago."""
    asked = placement(number)
    simulator.place(asked)
    with database.transaction() as session:
        mine = update(SimulatedCall).where(SimulatedCall.reference == str(asked.attempt_id))
        session.execute(mine.values(placed_at=utcnow() - timedelta(seconds=seconds)))
    return [event.kind.value for event in simulator.look_up(about(asked.attempt_id)).events]


def test_the_numbers_are_fictitious_and_may_be_called() -> None:
    for number in SIMULATED_NUMBERS.values():
        assert number.startswith("+120255501")
        check_dialable(number, everywhere_in("US"))


@pytest.mark.parametrize(
    ("name", "seconds", "events"),
    [
        ("human", 0.5, []),
        ("human", 2, ["ringing"]),
        ("human", 4.2, ["ringing", "answered"]),
        ("human", 5, ["ringing", "answered", "said-intro"]),
        ("human", 60, ["ringing", "answered", "said-intro", "ended"]),
        ("voicemail", 60, ["ringing", "answered", "said-voicemail", "ended"]),
        ("busy", 60, ["ended"]),
        ("noAnswer", 20, ["ringing"]),
        ("noAnswer", 60, ["ringing", "ended"]),
        ("failed", 60, ["ended"]),
        ("slow", 5, []),
        ("slow", 60, ["ringing", "answered", "said-intro", "ended"]),
    ],
)
def test_the_outcome_depends_on_the_number_and_the_time(
    fresh_database: Database, simulator: Simulator, name: str, seconds: float, events: list[str]
) -> None:
    assert seen_after(fresh_database, simulator, SIMULATED_NUMBERS[name], seconds) == events


def test_an_attempt_placed_twice_shows_twice(simulator: Simulator) -> None:
    asked = placement(SIMULATED_NUMBERS["human"])
    simulator.place(asked)
    simulator.place(asked)
    assert (simulator.times_placed(asked.attempt_id), simulator.times_rung(asked.to_number)) == (
        2,
        2,
    )


@pytest.mark.parametrize(
    ("name", "refusal", "rung", "verdict"),
    [
        ("rejected", PlacementRejected, 0, PlacementVerdict.NOT_PLACED),
        ("unreachable", NoCarrierAnswer, 0, PlacementVerdict.NOT_PLACED),
        ("lostAnswer", NoCarrierAnswer, 1, PlacementVerdict.PLACED),
        ("unsure", NoCarrierAnswer, 1, PlacementVerdict.UNSURE),
    ],
)
def test_the_simulated_carrier_refuses_delays_and_stays_silent_on_request(
    simulator: Simulator, name: str, refusal: type[Exception], rung: int, verdict: PlacementVerdict
) -> None:
    asked = placement(SIMULATED_NUMBERS[name])
    with pytest.raises(refusal):
        simulator.place(asked)
    assert simulator.times_rung(asked.to_number) == rung
    assert simulator.look_up(about(asked.attempt_id)).verdict is verdict


def test_hanging_up_ends_a_call_once(simulator: Simulator) -> None:
    asked = placement(SIMULATED_NUMBERS["human"])
    simulator.place(asked)
    assert (
        simulator.hang_up(about(asked.attempt_id)),
        simulator.hang_up(about(asked.attempt_id)),
    ) == (
        True,
        False,
    )
    state = simulator.look_up(about(asked.attempt_id))
    assert [(event.kind.value, event.reason) for event in state.events] == [("ended", "canceled")]
    assert (state.end_reason, state.next_change) == ("canceled", None)


def test_nothing_is_known_of_an_attempt_never_placed(simulator: Simulator) -> None:
    stranger: UUID = new_id()
    assert simulator.look_up(about(stranger)) == CarrierReport(PlacementVerdict.NOT_PLACED)
    assert simulator.hang_up(about(stranger)) is False


def test_the_pace_shortens_every_wait(fresh_database: Database) -> None:
    quick = Simulator(fresh_database.engine, pace=0.1)
    assert seen_after(fresh_database, quick, SIMULATED_NUMBERS["human"], 1.3) == [
        "ringing",
        "answered",
        "said-intro",
        "ended",
    ]
