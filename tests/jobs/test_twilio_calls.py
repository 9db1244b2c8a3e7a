"""Calls over a carrier that speaks Twilio's language, and what its callbacks may do to them."""

import xml.etree.ElementTree as ET

import pytest

from app.services import calls
from tests.fixtures.faulty_carrier import ACCOUNT, post, sign
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import call_now, counted, create_calling_organization, outcome, until
from tests.matrix import rotating

INTRO = 'Grüß Gott, "Ada" & <Bob>:\r\nit\'s 5 > 4.'
VOICEMAIL = "Bitte rufen Sie zurück – danke."

pytestmark = pytest.mark.xdist_group("house")


def test_a_call_is_requested_with_every_parameter(house: TwilioWorker) -> None:
    number = house.number()
    call_id = house.dial(number)
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    [placed] = house.carrier.calls_to(number)
    query = f"?attempt={placed.attempt}"
    assert placed.form == {
        "To": [number],
        "From": ["+12025550199"],
        "Url": [f"{house.url}/carrier/twilio/answer{query}"],
        "Method": ["POST"],
        "StatusCallback": [f"{house.url}/carrier/twilio/status{query}"],
        "StatusCallbackMethod": ["POST"],
        "StatusCallbackEvent": ["initiated", "ringing", "answered", "completed"],
        "MachineDetection": ["DetectMessageEnd"],
        "Timeout": ["30"],
        "TimeLimit": ["3600"],
    }
    until(lambda: placed.answers == [204, 204, 204, 200, 204])


@pytest.mark.parametrize(
    ("answered_by", "words", "ended"),
    [
        ("human", INTRO, ("completed", "completed", "human")),
        ("voicemail", VOICEMAIL, ("completed", "voicemail", "voicemail")),
    ],
)
def test_the_fetched_document_holds_the_message_word_for_word(
    house: TwilioWorker, answered_by: str, words: str, ended: tuple[str, str, str]
) -> None:
    calling_organization = create_calling_organization(house.database)
    number = house.number(outcome=answered_by)
    call_id = house.dial(
        number, calling_organization, intro_message=INTRO, voicemail_message=VOICEMAIL
    )
    assert outcome(house.database, call_id) == ended
    [placed] = house.carrier.calls_to(number)
    response = ET.fromstring(placed.spoken)
    assert [(verb.tag, verb.text) for verb in response] == [("Say", words), ("Hangup", None)]
    assert counted(house.database, calling_organization.organization_id) == [
        (1, int(answered_by == "human"), int(answered_by == "voicemail"))
    ]
    with house.database.transaction(read_only=True) as session:
        [attempt] = calls.attempts_of(session, [call_id])[call_id]
    assert (attempt.spoken, attempt.carrier_reference) == (words, placed.sid)


@pytest.mark.parametrize(
    "callbacks",
    ["lost", "forged", *rotating("order of callbacks", ["doubled", "shuffled", "late"])],
)
def test_callbacks_in_any_order_lead_to_the_same_end(house: TwilioWorker, callbacks: str) -> None:
    number = house.number(callbacks=callbacks)
    call_id = house.dial(number)
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    [placed] = house.carrier.calls_to(number)
    if callbacks == "forged":
        until(lambda: placed.answers == [200, 403, 403, 403, 403])
    else:
        assert {200, 204} >= set(placed.answers)
    with house.database.transaction(read_only=True) as session:
        kinds = [
            moment.kind
            for moment in calls.timeline(
                session, calls.get(session, house.calling_organization.key, call_id)
            )
        ]
    assert sorted(kinds) == sorted(set(kinds))
    assert {"accepted", "dialing", "answered", "said-intro", "ended"} <= set(kinds)


def test_an_unanswered_call_ends_in_its_own_state(house: TwilioWorker) -> None:
    dialled = {
        told: house.dial(house.number(outcome=told))
        for told in ("busy", "no-answer", "failed", "canceled")
    }
    assert {told: outcome(house.database, call_id) for told, call_id in dialled.items()} == {
        "busy": ("busy", "busy", None),
        "no-answer": ("no-answer", "no_answer", None),
        "failed": ("failed", "carrier_error", None),
        "canceled": ("canceled", "canceled", None),
    }


def test_invalid_callbacks_are_refused_and_change_nothing(house: TwilioWorker) -> None:
    number = house.number(outcome="long", callbacks="lost")
    call_id = house.dial(number)
    until(lambda: call_now(house.database, call_id).status.value == "in-progress")
    [placed] = house.carrier.calls_to(number)
    url = placed.form["StatusCallback"][0]
    right = {"AccountSid": ACCOUNT, "CallSid": placed.sid, "CallStatus": "completed"}
    other_attempt = url[:-12] + "0" * 12

    def signed(form: dict[str, str], to: str = url) -> int:
        return post(to, form, sign(to, form))[0]

    assert {
        "no signature": post(url, right, None)[0],
        "another token": post(url, right, sign(url, right, "guessed"))[0],
        "another form": post(url, right | {"CallStatus": "busy"}, sign(url, right))[0],
        "another address": post(url + "&x=1", right, sign(url, right))[0],
        "another account": signed(right | {"AccountSid": "AC" + "1" * 32}),
        "another call": signed(right | {"CallSid": "CA" + "1" * 32}),
        "another attempt": signed(right, other_attempt),
        "no attempt": signed(right, url.partition("?")[0] + "?x=1"),
        "no call": signed({"AccountSid": ACCOUNT, "CallStatus": "completed"}),
        "a strange call": signed(right | {"CallSid": "../x\0"}),
        "a strange status": signed(right | {"CallStatus": "exploded"}),
    } == {
        "no signature": 403,
        "another token": 403,
        "another form": 403,
        "another address": 403,
        "another account": 403,
        "another call": 403,
        "another attempt": 404,
        "no attempt": 400,
        "no call": 400,
        "a strange call": 400,
        "a strange status": 400,
    }
    assert call_now(house.database, call_id).status.value == "in-progress"
    assert signed(right) == 204
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
    assert signed(right | {"CallStatus": "ringing"}) == 204
    assert outcome(house.database, call_id) == ("completed", "completed", "human")
