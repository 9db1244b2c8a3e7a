"""A carrier that does not answer as it should: nothing is lost, and nothing is placed twice."""

import time
from uuid import UUID

import pytest

from app.enums import OrganizationStatus
from app.models import CallAttempt, Organization
from app.services import calls
from app.services.calls.attempts import UNPLACED
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import create_calling_organization, outcome, read_call, wait_until
from tests.matrix import rotating

pytestmark = pytest.mark.xdist_group("twilio")

SILENT = '<?xml version="1.0" encoding="UTF-8"?><Response><Hangup /></Response>'
SETTLED = 2.5
"""The wait before the silence of the carrier's list counts."""
SILENCE = 5.0
"""Longer than the portal waits for an answer to any read."""


def attempts_of(twilio_worker: TwilioWorker, call_id: UUID) -> list[CallAttempt]:
    with twilio_worker.database.transaction(read_only=True) as session:
        return calls.attempts_of(session, [call_id])[call_id]


def looks_for(twilio_worker: TwilioWorker, number: str) -> int:
    """How often the carrier's list was asked for calls to the number."""
    return sum(query["To"] == [number] for query in twilio_worker.carrier.lists)


def details_of(twilio_worker: TwilioWorker, call_id: UUID) -> list[str | None]:
    return [attempt.detail for attempt in attempts_of(twilio_worker, call_id)]


@pytest.mark.parametrize("fault", rotating("lost answer", ["reset+", "hang+", "500+", "cut+"]))
def test_a_call_with_a_lost_answer_is_found_and_followed(
    twilio_worker: TwilioWorker, fault: str
) -> None:
    number = twilio_worker.number(asked=[fault], callbacks="lost", fetches=False, lag=1.0)
    call_id = twilio_worker.dial(number)
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    [placed] = twilio_worker.carrier.calls_to(number)
    assert len(twilio_worker.carrier.asked_for(number)) == 1
    assert [attempt.carrier_reference for attempt in attempts_of(twilio_worker, call_id)] == [
        placed.sid
    ]


@pytest.mark.parametrize("fault", rotating("no answer", ["reset", "hang", "500", "cut"]))
def test_a_call_that_was_never_placed_is_requested_again_once_the_list_is_complete(
    twilio_worker: TwilioWorker, fault: str
) -> None:
    number = twilio_worker.number(asked=[fault])
    call_id = twilio_worker.dial(number)
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    first, second = twilio_worker.carrier.asked_for(number)
    assert second - first >= SETTLED
    assert len(twilio_worker.carrier.calls_to(number)) == 1
    assert details_of(twilio_worker, call_id) == [UNPLACED, None]


def test_the_list_is_filtered_by_both_numbers_and_the_time(twilio_worker: TwilioWorker) -> None:
    number = twilio_worker.number(asked=["500+"], callbacks="lost", outcome="busy")
    outcome(twilio_worker.database, twilio_worker.dial(number))
    asked = next(query for query in twilio_worker.carrier.lists if query["To"] == [number])
    assert set(asked) == {"To", "From", "StartTime>", "PageSize"}
    assert asked["From"] == ["+12025550199"]


def test_after_three_attempts_the_call_has_failed(twilio_worker: TwilioWorker) -> None:
    number = twilio_worker.number(asked=["500", "reset", "500", "ok"])
    call_id = twilio_worker.dial(number)
    assert outcome(twilio_worker.database, call_id) == ("failed", "carrier_error", None)
    assert len(twilio_worker.carrier.asked_for(number)) == 3
    assert twilio_worker.carrier.calls_to(number) == []
    assert details_of(twilio_worker, call_id) == [UNPLACED] * 3


def test_a_call_that_can_not_be_looked_up_is_unknown_and_never_placed_again(
    twilio_worker: TwilioWorker,
) -> None:
    number = twilio_worker.number(asked=["500+"], callbacks="lost", outcome="busy", silent=True)
    call_id = twilio_worker.dial(number)
    assert outcome(twilio_worker.database, call_id) == ("unknown", "unknown", None)
    assert len(twilio_worker.carrier.asked_for(number)) == 1


def test_a_worker_that_takes_a_call_over_waits_the_full_time_before_it_is_unknown(
    twilio_worker: TwilioWorker,
) -> None:
    number = twilio_worker.number(asked=["reset"], silent=True)
    call_id = twilio_worker.dial(number)
    wait_until(lambda: looks_for(twilio_worker, number) > 0)
    twilio_worker.worker.kill()
    before = looks_for(twilio_worker, number)
    time.sleep(SILENCE)
    twilio_worker.worker.start()
    wait_until(lambda: looks_for(twilio_worker, number) > before)
    twilio_worker.carrier.behaviours[number].silent = False
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    assert len(twilio_worker.carrier.calls_to(number)) == 1


def test_a_callback_reports_what_a_silent_carrier_does_not(twilio_worker: TwilioWorker) -> None:
    number = twilio_worker.number(asked=["500+"], silent=True)
    assert outcome(twilio_worker.database, twilio_worker.dial(number)) == (
        "completed",
        "completed",
        "human",
    )
    assert len(twilio_worker.carrier.asked_for(number)) == 1


def test_two_lost_answers_for_one_number_are_distinguished(twilio_worker: TwilioWorker) -> None:
    number = twilio_worker.number(asked=["reset+", "500+"], callbacks="lost", fetches=False)
    both = [twilio_worker.dial(number) for _ in range(2)]
    assert [outcome(twilio_worker.database, call_id)[0] for call_id in both] == ["completed"] * 2
    found = {
        attempt.carrier_reference for one in both for attempt in attempts_of(twilio_worker, one)
    }
    assert found == {placed.sid for placed in twilio_worker.carrier.calls_to(number)}
    assert len(twilio_worker.carrier.asked_for(number)) == 2


@pytest.mark.parametrize(("answer", "reason"), [("400", "number_invalid"), ("refused", "rejected")])
def test_a_refusal_is_final(twilio_worker: TwilioWorker, answer: str, reason: str) -> None:
    number = twilio_worker.number(asked=[answer])
    call_id = twilio_worker.dial(number)
    assert outcome(twilio_worker.database, call_id) == ("failed", reason, None)
    assert len(twilio_worker.carrier.asked_for(number)) == 1
    [detail] = details_of(twilio_worker, call_id)
    assert detail is not None
    assert detail.startswith("The carrier refused: ")


def await_delay(twilio_worker: TwilioWorker, number: str, call_id: UUID) -> None:
    """Wait until the carrier has requested a later attempt."""
    wait_until(lambda: twilio_worker.carrier.asked_for(number))
    wait_until(lambda: attempts_of(twilio_worker, call_id)[0].carrier_retry_at)
    assert read_call(twilio_worker.database, call_id).status.value == "dialing"


def test_a_carrier_that_asks_to_wait_is_asked_again_at_that_time_and_not_before(
    twilio_worker: TwilioWorker,
) -> None:
    number = twilio_worker.number(asked=["429"])
    call_id = twilio_worker.dial(number)
    await_delay(twilio_worker, number, call_id)
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    first, second = twilio_worker.carrier.asked_for(number)
    assert second - first >= 2.0
    assert len(attempts_of(twilio_worker, call_id)) == 1


def test_a_change_while_the_carrier_asks_to_wait_stops_the_call(
    twilio_worker: TwilioWorker,
) -> None:
    calling_organization = create_calling_organization(twilio_worker.database)
    number = twilio_worker.number(asked=["429"])
    call_id = twilio_worker.dial(number, calling_organization)
    await_delay(twilio_worker, number, call_id)
    with twilio_worker.database.transaction() as session:
        organization = session.get_one(Organization, calling_organization.organization_id)
        organization.status = OrganizationStatus.SUSPENDED
    assert outcome(twilio_worker.database, call_id) == ("canceled", "organization_suspended", None)
    assert len(twilio_worker.carrier.asked_for(number)) == 1


def test_a_call_that_the_carrier_delayed_is_cancelled_at_once(twilio_worker: TwilioWorker) -> None:
    number = twilio_worker.number(asked=["429"])
    call_id = twilio_worker.dial(number)
    await_delay(twilio_worker, number, call_id)
    with twilio_worker.database.transaction() as session:
        assert (
            calls.cancel(session, twilio_worker.calling_organization.key, call_id, ()).status.value
            == "canceled"
        )
    other = twilio_worker.number()
    outcome(twilio_worker.database, twilio_worker.dial(other))
    assert len(twilio_worker.carrier.asked_for(number)) == 1


def test_a_call_found_after_its_attempt_was_given_up_is_ended(
    twilio_worker: TwilioWorker,
) -> None:
    number = twilio_worker.number(asked=["refused"], outcome="long")
    call_id = twilio_worker.dial(number)
    ended = outcome(twilio_worker.database, call_id)
    query = f"?attempt={attempts_of(twilio_worker, call_id)[0].id}"
    placed = twilio_worker.carrier.place(
        {
            "To": [number],
            "From": ["+12025550199"],
            "Url": [f"{twilio_worker.url}/carrier/twilio/answer{query}"],
            "StatusCallback": [f"{twilio_worker.url}/carrier/twilio/status{query}"],
        }
    )
    wait_until(lambda: placed.status == "completed", 60.0)
    assert placed.spoken in ("", SILENT)
    assert outcome(twilio_worker.database, call_id) == ended
