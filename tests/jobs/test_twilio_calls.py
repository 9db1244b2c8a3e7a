"""Calls over a carrier that speaks Twilio's language, and what its callbacks may do to them."""

import xml.etree.ElementTree as ET

import pytest

from app.services import calls
from tests.fixtures.faulty_carrier import ACCOUNT, post, sign
from tests.fixtures.twilio_worker import TwilioWorker
from tests.fixtures.worker import (
    counted_conversations,
    create_calling_organization,
    outcome,
    read_call,
    wait_until,
)
from tests.matrix import rotating

INTRO = 'Grüß Gott, "Ada" & <Bob>:\r\nit\'s 5 > 4.'
VOICEMAIL = "Bitte rufen Sie zurück – danke."

pytestmark = pytest.mark.xdist_group("twilio")


def test_a_call_is_requested_with_every_parameter(twilio_worker: TwilioWorker) -> None:
    number = twilio_worker.number()
    call_id = twilio_worker.dial(number)
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    [placed] = twilio_worker.carrier.calls_to(number)
    query = f"?attempt={placed.attempt}"
    assert placed.form == {
        "To": [number],
        "From": ["+12025550199"],
        "Url": [f"{twilio_worker.url}/carrier/twilio/answer{query}"],
        "Method": ["POST"],
        "StatusCallback": [f"{twilio_worker.url}/carrier/twilio/status{query}"],
        "StatusCallbackMethod": ["POST"],
        "StatusCallbackEvent": ["initiated", "ringing", "answered", "completed"],
        "MachineDetection": ["DetectMessageEnd"],
        "Timeout": ["30"],
        "TimeLimit": ["3600"],
    }
    wait_until(lambda: placed.answers == [204, 204, 204, 200, 204])


@pytest.mark.parametrize(
    ("answered_by", "words", "ended"),
    [
        ("human", INTRO, ("completed", "completed", "human")),
        ("voicemail", VOICEMAIL, ("completed", "voicemail", "voicemail")),
    ],
)
def test_the_fetched_document_holds_the_message_word_for_word(
    twilio_worker: TwilioWorker, answered_by: str, words: str, ended: tuple[str, str, str]
) -> None:
    calling_organization = create_calling_organization(twilio_worker.database)
    number = twilio_worker.number(outcome=answered_by)
    call_id = twilio_worker.dial(
        number, calling_organization, intro_message=INTRO, voicemail_message=VOICEMAIL
    )
    assert outcome(twilio_worker.database, call_id) == ended
    [placed] = twilio_worker.carrier.calls_to(number)
    response = ET.fromstring(placed.spoken)
    assert [(verb.tag, verb.text) for verb in response] == [("Say", words), ("Hangup", None)]
    assert counted_conversations(twilio_worker.database, calling_organization.organization_id) == [
        (1, int(answered_by == "human"), int(answered_by == "voicemail"))
    ]
    with twilio_worker.database.transaction(read_only=True) as session:
        [attempt] = calls.attempts_of(session, [call_id])[call_id]
    assert (attempt.spoken, attempt.carrier_reference) == (words, placed.sid)


@pytest.mark.parametrize(
    "callbacks",
    ["lost", "forged", *rotating("order of callbacks", ["doubled", "shuffled", "late"])],
)
def test_callbacks_in_any_order_lead_to_the_same_end(
    twilio_worker: TwilioWorker, callbacks: str
) -> None:
    number = twilio_worker.number(callbacks=callbacks)
    call_id = twilio_worker.dial(number)
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    [placed] = twilio_worker.carrier.calls_to(number)
    if callbacks == "forged":
        wait_until(lambda: placed.answers == [200, 403, 403, 403, 403])
    else:
        assert {200, 204} >= set(placed.answers)
    with twilio_worker.database.transaction(read_only=True) as session:
        kinds = [
            moment.kind
            for moment in calls.timeline(
                session, calls.get(session, twilio_worker.calling_organization.key, call_id)
            )
        ]
    assert sorted(kinds) == sorted(set(kinds))
    assert {"accepted", "dialing", "answered", "said-intro", "ended"} <= set(kinds)


def test_an_unanswered_call_ends_in_its_own_state(twilio_worker: TwilioWorker) -> None:
    called = {
        reported: twilio_worker.dial(twilio_worker.number(outcome=reported))
        for reported in ("busy", "no-answer", "failed", "canceled")
    }
    assert {
        reported: outcome(twilio_worker.database, call_id) for reported, call_id in called.items()
    } == {
        "busy": ("busy", "busy", None),
        "no-answer": ("no-answer", "no_answer", None),
        "failed": ("failed", "carrier_error", None),
        "canceled": ("canceled", "canceled", None),
    }


def test_invalid_callbacks_are_refused_and_change_nothing(twilio_worker: TwilioWorker) -> None:
    number = twilio_worker.number(outcome="long", callbacks="lost")
    call_id = twilio_worker.dial(number)
    wait_until(lambda: read_call(twilio_worker.database, call_id).status.value == "in-progress")
    [placed] = twilio_worker.carrier.calls_to(number)
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
    assert read_call(twilio_worker.database, call_id).status.value == "in-progress"
    assert signed(right) == 204
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
    assert signed(right | {"CallStatus": "ringing"}) == 204
    assert outcome(twilio_worker.database, call_id) == ("completed", "completed", "human")
