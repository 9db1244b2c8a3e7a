"""Cancelling calls over a carrier: what is promised is kept, what is refused goes on."""

from uuid import UUID

import pytest

from app.enums import CallStatus
from app.errors import Conflict
from app.services import calls
from tests.fixtures.twilio_house import House
from tests.fixtures.worker import call_now, outcome, until

pytestmark = pytest.mark.xdist_group("house")


def cancel(house: House, call_id: UUID) -> CallStatus:
    with house.database.transaction() as session:
        return calls.cancel(session, house.line.key, call_id).status


def result(house: House, call_id: UUID) -> str | None:
    """The state that the cancellation led to, or the code of its refusal; None for not yet."""
    try:
        with house.database.transaction(read_only=True) as session:
            found = calls.cancel_result(session, house.line.key, call_id)
            return found.status.value if found else None
    except Conflict as refusal:
        return refusal.code


def on_the_line(house: House, **manners: object) -> tuple[str, UUID]:
    number = house.number(outcome="long", **manners)
    call_id = house.dial(number)
    until(lambda: call_now(house.database, call_id).status.value == "in-progress")
    return number, call_id


def test_a_call_on_the_line_is_ended_at_the_carrier(house: House) -> None:
    number, call_id = on_the_line(house)
    assert cancel(house, call_id).value == "in-progress"
    until(lambda: result(house, call_id))
    assert outcome(house.database, call_id) == ("canceled", "canceled", "human")
    assert [placed.status for placed in house.carrier.calls_to(number)] == ["completed"]
    assert cancel(house, call_id) is CallStatus.CANCELED


def test_a_carrier_that_does_not_end_it_lets_the_call_go_on(house: House) -> None:
    number, call_id = on_the_line(house, refuses_hang_up=True)
    cancel(house, call_id)
    until(lambda: result(house, call_id))
    assert result(house, call_id) == "cancel_refused"
    assert call_now(house.database, call_id).status.value == "in-progress"
    house.carrier.manners[number].refuses_hang_up = False
    cancel(house, call_id)
    assert outcome(house.database, call_id) == ("canceled", "canceled", "human")


def test_a_call_that_ended_first_is_not_cancelled(house: House) -> None:
    number, call_id = on_the_line(house, callbacks="lost")
    [placed] = house.carrier.calls_to(number)
    house.carrier._become(placed, "completed")
    cancel(house, call_id)
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    assert result(house, call_id) == "call_ended"


def test_a_hang_up_without_an_answer_is_asked_again_and_can_not_be_withdrawn(
    house: House,
) -> None:
    number, call_id = on_the_line(house, callbacks="lost", lost_hang_ups=1)
    cancel(house, call_id)
    until(lambda: house.carrier.manners[number].lost_hang_ups == 0)
    with house.database.transaction() as session:
        withdrawn = calls.withdraw(session, house.line.key, call_id)
    assert withdrawn.status.is_final or withdrawn.cancel_requested_at is not None
    assert outcome(house.database, call_id) == ("canceled", "canceled", "human")
    assert [placed.status for placed in house.carrier.calls_to(number)] == ["completed"]


def test_a_call_cancelled_while_its_answer_is_looked_for_is_ended_once_found(
    house: House,
) -> None:
    number = house.number(
        outcome="long", asked=["reset+"], callbacks="lost", lag=1.5, fetches=False
    )
    call_id = house.dial(number)
    until(lambda: house.carrier.calls_to(number))
    cancel(house, call_id)
    assert outcome(house.database, call_id)[0] == "canceled"
    assert [placed.status for placed in house.carrier.calls_to(number)] == ["completed"]


def test_a_call_cancelled_before_it_was_placed_is_not_asked_for_again(house: House) -> None:
    number = house.number(asked=["500"])
    call_id = house.dial(number)
    until(lambda: house.carrier.asked_for(number))
    cancel(house, call_id)
    assert outcome(house.database, call_id) == ("canceled", "canceled", None)
    assert len(house.carrier.asked_for(number)) == 1
