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
from tests.fixtures.worker import outcome, read_call, wait_until

pytestmark = pytest.mark.xdist_group("twilio")


def cancel(twilio_worker: TwilioWorker, call_id: UUID) -> CallStatus:
    with twilio_worker.database.transaction() as session:
        return calls.cancel(session, twilio_worker.calling_organization.key, call_id, ()).status


def ask_to_cancel(twilio_worker: TwilioWorker, call_id: UUID) -> tuple[int, Any]:
    """Status and body of the answer that a script gets."""
    with twilio_worker.database.transaction() as session:
        secret = make_key(session, twilio_worker.calling_organization)
    path = f"{twilio_worker.url}/api/v1/outbound/calls/{call_id}/cancel"
    request = Request(path, method="POST", headers={"x-api-key": secret})
    with urlopen(request, timeout=60) as answer:
        return answer.status, json.load(answer)


def active_call(twilio_worker: TwilioWorker, **behaviours: object) -> tuple[str, UUID]:
    number = twilio_worker.number(outcome="long", **behaviours)
    call_id = twilio_worker.dial(number)
    wait_until(lambda: read_call(twilio_worker.database, call_id).status.value == "in-progress")
    return number, call_id


def test_an_active_call_is_ended_at_the_carrier(twilio_worker: TwilioWorker) -> None:
    number, call_id = active_call(twilio_worker)
    assert cancel(twilio_worker, call_id).value == "in-progress"
    assert outcome(twilio_worker.database, call_id) == ("canceled", "canceled", "human")
    assert [placed.status for placed in twilio_worker.carrier.calls_to(number)] == ["completed"]
    assert cancel(twilio_worker, call_id) is CallStatus.CANCELED


def test_a_call_that_the_carrier_does_not_end_continues(twilio_worker: TwilioWorker) -> None:
    number, call_id = active_call(twilio_worker, refuses_hang_up=True)
    cancel(twilio_worker, call_id)
    wait_until(lambda: read_call(twilio_worker.database, call_id).cancel_requested_at is None)
    call = read_call(twilio_worker.database, call_id)
    assert (call.status.value, call.status_detail) == ("in-progress", NOT_ENDED)
    with twilio_worker.database.transaction(read_only=True) as session:
        moments = calls.timeline(
            session, calls.get(session, twilio_worker.calling_organization.key, call_id)
        )
    reported = [(each.kind, each.detail) for each in moments if each.kind.startswith("cancel")]
    assert reported == [("cancel-asked", None), ("cancel-refused", NOT_ENDED)]
    twilio_worker.carrier.behaviours[number].refuses_hang_up = False
    cancel(twilio_worker, call_id)
    assert outcome(twilio_worker.database, call_id) == ("canceled", "canceled", "human")


def test_a_call_that_ended_first_is_not_cancelled(twilio_worker: TwilioWorker) -> None:
    number, call_id = active_call(twilio_worker, callbacks="lost")
    [placed] = twilio_worker.carrier.calls_to(number)
    twilio_worker.carrier._become(placed, "completed")
    cancel(twilio_worker, call_id)
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    with pytest.raises(Conflict) as refusal:
        cancel(twilio_worker, call_id)
    assert refusal.value.code == "call_ended"


def test_a_script_is_answered_while_the_carrier_is_silent_about_the_call(
    twilio_worker: TwilioWorker,
) -> None:
    number, call_id = active_call(twilio_worker, callbacks="lost", lost_hang_ups=1_000_000)
    status, body = ask_to_cancel(twilio_worker, call_id)
    assert (status, body["status"], body["statusDetail"]) == (200, "in-progress", CANCELLING)
    wait_until(lambda: twilio_worker.carrier.behaviours[number].lost_hang_ups < 999_999)
    assert read_call(twilio_worker.database, call_id).status_detail == CANCELLING
    twilio_worker.carrier.behaviours[number].lost_hang_ups = 0
    assert outcome(twilio_worker.database, call_id) == ("canceled", "canceled", "human")
    assert [placed.status for placed in twilio_worker.carrier.calls_to(number)] == ["completed"]


def test_a_call_cancelled_while_it_is_looked_up_is_ended_once_found(
    twilio_worker: TwilioWorker,
) -> None:
    number = twilio_worker.number(
        outcome="long", asked=["reset+"], callbacks="lost", lag=1.5, fetches=False
    )
    call_id = twilio_worker.dial(number)
    wait_until(lambda: twilio_worker.carrier.calls_to(number))
    cancel(twilio_worker, call_id)
    assert outcome(twilio_worker.database, call_id)[0] == "canceled"
    assert [placed.status for placed in twilio_worker.carrier.calls_to(number)] == ["completed"]


def test_a_call_cancelled_before_it_was_placed_is_not_requested_again(
    twilio_worker: TwilioWorker,
) -> None:
    number = twilio_worker.number(asked=["500"])
    call_id = twilio_worker.dial(number)
    wait_until(lambda: twilio_worker.carrier.asked_for(number))
    cancel(twilio_worker, call_id)
    assert outcome(twilio_worker.database, call_id) == ("canceled", "canceled", None)
    assert len(twilio_worker.carrier.asked_for(number)) == 1
