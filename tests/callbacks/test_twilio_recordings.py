"""Recordings that Twilio has made: asked for by setting, announced by a signed callback; and how a
voice engine learns which call it takes over."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind
from app.gateways.carriers.base import CallPlacement
from app.gateways.carriers.twilio.account import TwilioAccount
from app.gateways.carriers.twilio.carrier import TwilioCarrier
from app.gateways.carriers.twilio.twiml import say
from app.models import CallAttempt, CallRecording, new_id
from tests.fixtures.faulty_carrier import ACCOUNT, TOKEN, faulty_carrier, sign
from tests.fixtures.tenants import make_tenant
from tests.portal.test_calls import answered, make_call

SID = "RE" + "1" * 32
ANNOUNCED = {
    "AccountSid": ACCOUNT,
    "CallSid": "CA1",
    "RecordingSid": SID,
    "RecordingStatus": "completed",
    "RecordingUrl": "https://elsewhere.example.com/1",
}


@pytest.fixture
def attempt(session: Session) -> CallAttempt:
    tenant = make_tenant(session)
    twilio: dict[str, Any] = {"carrier": CarrierKind.TWILIO}
    call = make_call(session, tenant.organization, "+12025550101", **twilio, **answered())
    made = CallAttempt(
        organization_id=call.organization_id,
        call_id=call.id,
        number=1,
        carrier=CarrierKind.TWILIO,
        carrier_reference="CA1",
        status=CallStatus.COMPLETED,
    )
    session.add(made)
    session.commit()
    return made


@pytest.fixture
def client(make_app: Callable[..., Flask]) -> FlaskClient:
    return make_app(twilio_account_sid=ACCOUNT, twilio_auth_token=TOKEN).test_client()


def announce(
    client: FlaskClient, attempt_id: object, form: dict[str, str], token: str = TOKEN
) -> int:
    path = f"/carrier/twilio/recording?attempt={attempt_id}"
    headers = {"X-Twilio-Signature": sign(f"http://localhost{path}", form, token)}
    return client.post(path, data=form, headers=headers).status_code


def test_a_recording_is_fetched_from_the_account_not_from_the_callbacks_address(
    client: FlaskClient, session: Session, attempt: CallAttempt
) -> None:
    assert announce(client, attempt.id, ANNOUNCED) == 204
    assert announce(client, attempt.id, ANNOUNCED) == 204
    found = session.scalars(select(CallRecording)).one()
    assert (
        found.call_id,
        found.attempt_id,
        found.carrier_reference,
        found.url,
        found.attempt_number,
    ) == ((attempt.call_id, attempt.id, SID, None, 1))


def test_an_invalid_callback_schedules_no_download(
    client: FlaskClient, session: Session, attempt: CallAttempt
) -> None:
    assert {
        "another token": announce(client, attempt.id, ANNOUNCED, "guessed"),
        "another account": announce(client, attempt.id, ANNOUNCED | {"AccountSid": "AC1"}),
        "another call": announce(client, attempt.id, ANNOUNCED | {"CallSid": "CA2"}),
        "another attempt": announce(client, new_id(), ANNOUNCED),
        "a strange recording": announce(
            client, attempt.id, ANNOUNCED | {"RecordingSid": "../../Keys"}
        ),
        "a failed recording": announce(
            client, attempt.id, ANNOUNCED | {"RecordingStatus": "absent"}
        ),
    } == {
        "another token": 403,
        "another account": 403,
        "another call": 204,
        "another attempt": 204,
        "a strange recording": 400,
        "a failed recording": 204,
    }
    assert session.scalars(select(CallRecording)).all() == []


@pytest.mark.parametrize("records", [True, False])
def test_calls_are_recorded_only_where_the_setting_says_so(records: bool) -> None:
    number = "+12125550100"
    placement = CallPlacement(new_id(), number, "+12025550199", "Hello.", "Bye.")
    with faulty_carrier() as carrier:
        account = TwilioAccount(
            ACCOUNT, TOKEN, "http://127.0.0.1:9", api_url=carrier.url, records=records
        )
        TwilioCarrier(account).place(placement)
        [placed] = carrier.calls_to(number)
    address = f"http://127.0.0.1:9/carrier/twilio/recording?attempt={placement.attempt_id}"
    recording = {name: value for name, value in placed.form.items() if name.startswith("Record")}
    asked = {
        "Record": ["true"],
        "RecordingChannels": ["mono"],
        "RecordingStatusCallback": [address],
        "RecordingStatusCallbackMethod": ["POST"],
        "RecordingStatusCallbackEvent": ["completed"],
    }
    assert recording == (asked if records else {})


def test_the_voice_engine_learns_the_id_of_the_call() -> None:
    call_id = new_id()
    sip = fromstring(say("Hi.", "sip:ada@voice.example.com", call_id))[1][0]
    assert sip.text == f"sip:ada@voice.example.com?X-Call-Id={call_id}"
    stream = fromstring(say("Hi.", "wss://voice.example.com/ada", call_id))[1][0]
    assert [each.attrib for each in stream] == [{"name": "callId", "value": str(call_id)}]
