"""Cancelling calls over a carrier: accepted cancellations are carried out, calls with refused ones
continue."""

import json
from typing import Any
from urllib.request import Request, urlopen
from uuid import UUID

import pytest

from app.enums import CallStatus
from app.errors import Conflict
from app.services import calls
from app.services.calls.cancel import CANCELLING
from app.services.calls.carrier_reports import NOT_ENDED
from tests.api.public.conftest import make_key
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import call_now, outcome, until

pytestmark = pytest.mark.xdist_group("house")


def cancel(house: TwilioWorker, call_id: UUID) -> CallStatus:
    with house.database.transaction() as session:
        return calls.cancel(session, house.calling_organization.key, call_id, ()).status


def ask_to_cancel(house: TwilioWorker, call_id: UUID) -> tuple[int, Any]:
    """Status and body of the answer that a script gets."""
    with house.database.transaction() as session:
        secret = make_key(session, house.calling_organization)
    path = f"{house.url}/api/v1/outbound/calls/{call_id}/cancel"
    request = Request(path, method="POST", headers={"x-api-key": secret})
    with urlopen(request, timeout=60) as answer:
        return answer.status, json.load(answer)


def on_the_line(house: TwilioWorker, **manners: object) -> tuple[str, UUID]:
    number = house.number(outcome="long", **manners)
    call_id = house.dial(number)
    until(lambda: call_now(house.database, call_id).status.value == "in-progress")
    return number, call_id


def test_a_call_on_the_line_is_ended_at_the_carrier(house: TwilioWorker) -> None:
    number, call_id = on_the_line(house)
    assert cancel(house, call_id).value == "in-progress"
    assert outcome(house.database, call_id) == ("canceled", "canceled", "human")
    assert [placed.status for placed in house.carrier.calls_to(number)] == ["completed"]
    assert cancel(house, call_id) is CallStatus.CANCELED


def test_a_call_that_the_carrier_does_not_end_continues(house: TwilioWorker) -> None:
    number, call_id = on_the_line(house, refuses_hang_up=True)
    cancel(house, call_id)
    until(lambda: call_now(house.database, call_id).cancel_requested_at is None)
    call = call_now(house.database, call_id)
    assert (call.status.value, call.status_detail) == ("in-progress", NOT_ENDED)
    with house.database.transaction(read_only=True) as session:
        moments = calls.timeline(
            session, calls.get(session, house.calling_organization.key, call_id)
        )
    told = [(each.kind, each.detail) for each in moments if each.kind.startswith("cancel")]
    assert told == [("cancel-asked", None), ("cancel-refused", NOT_ENDED)]
    house.carrier.manners[number].refuses_hang_up = False
    cancel(house, call_id)
    assert outcome(house.database, call_id) == ("canceled", "canceled", "human")


def test_a_call_that_ended_first_is_not_cancelled(house: TwilioWorker) -> None:
    number, call_id = on_the_line(house, callbacks="lost")
    [placed] = house.carrier.calls_to(number)
    house.carrier._become(placed, "completed")
    cancel(house, call_id)
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    with pytest.raises(Conflict) as refusal:
        cancel(house, call_id)
    assert refusal.value.code == "call_ended"


def test_a_script_is_answered_while_the_carrier_is_silent_and_the_call_is_ended_later(
    house: TwilioWorker,
) -> None:
    number, call_id = on_the_line(house, callbacks="lost", lost_hang_ups=1_000_000)
    status, body = ask_to_cancel(house, call_id)
    assert (status, body["status"], body["statusDetail"]) == (200, "in-progress", CANCELLING)
    until(lambda: house.carrier.manners[number].lost_hang_ups < 999_999)
    assert call_now(house.database, call_id).status_detail == CANCELLING
    house.carrier.manners[number].lost_hang_ups = 0
    assert outcome(house.database, call_id) == ("canceled", "canceled", "human")
    assert [placed.status for placed in house.carrier.calls_to(number)] == ["completed"]


def test_a_call_cancelled_while_it_is_looked_up_is_ended_once_found(
    house: TwilioWorker,
) -> None:
    number = house.number(
        outcome="long", asked=["reset+"], callbacks="lost", lag=1.5, fetches=False
    )
    call_id = house.dial(number)
    until(lambda: house.carrier.calls_to(number))
    cancel(house, call_id)
    assert outcome(house.database, call_id)[0] == "canceled"
    assert [placed.status for placed in house.carrier.calls_to(number)] == ["completed"]


def test_a_call_cancelled_before_it_was_placed_is_not_requested_again(house: TwilioWorker) -> None:
    number = house.number(asked=["500"])
    call_id = house.dial(number)
    until(lambda: house.carrier.asked_for(number))
    cancel(house, call_id)
    assert outcome(house.database, call_id) == ("canceled", "canceled", None)
    assert len(house.carrier.asked_for(number)) == 1
