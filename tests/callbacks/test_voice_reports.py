"""Reports of a voice engine are accepted only with a fresh signature of their assistant."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import CallSource, RecordingStatus
from app.models import Call, CallRecording, CallTranscript, new_id
from app.services.recordings import secret_of
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.voice_engine import VOICE_SECRET, signed
from tests.portal.test_calls import answered, make_call

TURNS = [
    {"speaker": "assistant", "text": "Hello, this is Northwind.", "at": 0},
    {"speaker": "person", "text": "Grüß Gott 👋", "at": 2.5},
]


@pytest.fixture
def client(make_app: Callable[..., Flask]) -> FlaskClient:
    return make_app(voice_secret=VOICE_SECRET).test_client()


@pytest.fixture
def tenant(session: Session) -> Tenant:
    return make_tenant(session)


@pytest.fixture
def call(session: Session, tenant: Tenant) -> Call:
    made = make_call(session, tenant.organization, "+12025550101", **answered())
    session.commit()
    return made


def report(
    client: FlaskClient, call: Call, body: Any, *, secret: str | None = None, **more: Any
) -> TestResponse:
    secret = secret or secret_of(VOICE_SECRET, call.assistant_id)
    return client.post(f"/callbacks/voice/{call.id}", **signed(secret, body, **more))


def stored_transcript(
    session: Session, call: Call
) -> tuple[list[dict[str, Any]], str | None] | None:
    session.expire_all()
    found = session.scalar(select(CallTranscript).where(CallTranscript.call_id == call.id))
    return (found.turns, found.summary) if found else None


def test_a_report_is_kept_with_the_call(client: FlaskClient, session: Session, call: Call) -> None:
    url = "https://voice.example.com/1.mp3"
    body = {"transcript": TURNS, "summary": " They want a table. ", "recordingUrl": url}
    answer = report(client, call, body)
    assert (answer.status_code, answer.data) == (204, b"")
    assert stored_transcript(session, call) == (TURNS, "They want a table.")
    recording = session.scalars(select(CallRecording)).one()
    assert (
        recording.call_id,
        recording.organization_id,
        recording.status,
        recording.url,
        recording.attempt_number,
    ) == (call.id, call.organization_id, RecordingStatus.WAITING, url, 1)


def test_absent_parts_of_a_report_stay_as_they_were(
    client: FlaskClient, session: Session, call: Call
) -> None:
    report(client, call, {"transcript": TURNS[:1]}, report_id="r1", age=2)
    report(client, call, {"summary": "Booked."}, report_id="r2", age=1)
    report(client, call, {"transcript": TURNS}, report_id="r3")
    assert stored_transcript(session, call) == (TURNS, "Booked.")


def test_a_repeated_or_older_report_changes_nothing(
    client: FlaskClient, session: Session, call: Call
) -> None:
    report(client, call, {"summary": "New."}, report_id="r2", age=10)
    assert report(client, call, {"summary": "Again."}, report_id="r2", age=5).status_code == 204
    assert report(client, call, {"summary": "Old."}, report_id="r1", age=60).status_code == 204
    assert stored_transcript(session, call) == ([], "New.")


def test_a_report_without_the_signature_of_the_assistant_is_refused(
    client: FlaskClient, session: Session, call: Call
) -> None:
    body = {"summary": "Forged."}
    right = signed(secret_of(VOICE_SECRET, call.assistant_id), body)
    address = f"/callbacks/voice/{call.id}"

    def sent(headers: dict[str, str], data: bytes = right["data"]) -> int:
        return client.post(address, data=data, headers=right["headers"] | headers).status_code

    stranger = secret_of(VOICE_SECRET, new_id())
    assert {
        "no headers": client.post(address, json=body).status_code,
        "another assistant": report(client, call, body, secret=stranger).status_code,
        "another body": sent({}, b'{"summary":"Changed."}'),
        "another id": sent({"webhook-id": "r2"}),
        "another time": sent({"webhook-timestamp": "1"}),
        "no time": sent({"webhook-timestamp": "now"}),
        "too old": report(client, call, body, age=301).status_code,
        "from the future": report(client, call, body, age=-310).status_code,
    } == dict.fromkeys(
        (
            "no headers",
            "another assistant",
            "another body",
            "another id",
            "another time",
            "no time",
            "too old",
            "from the future",
        ),
        403,
    )
    assert stored_transcript(session, call) is None


def test_an_unknown_call_is_answered_like_a_wrong_signature(
    client: FlaskClient, session: Session, call: Call
) -> None:
    body = {"summary": "Who is this?"}
    unknown = new_id()
    found = client.post(f"/callbacks/voice/{unknown}", **signed(_of(call.assistant_id), body))
    guessed = client.post(f"/callbacks/voice/{unknown}", **signed(_of(unknown), body))
    wrong = report(client, call, body, secret=_of(unknown))
    assert (found.status_code, found.data) == (guessed.status_code, guessed.data)
    assert (found.status_code, found.data) == (wrong.status_code, wrong.data)


def test_a_call_that_verifies_a_number_has_no_transcript(
    client: FlaskClient, session: Session, tenant: Tenant
) -> None:
    source: dict[str, Any] = {"source": CallSource.VERIFICATION}
    call = make_call(session, tenant.organization, "+12025550101", **source)
    session.commit()
    assert report(client, call, {"summary": "The code."}).status_code == 403
    assert stored_transcript(session, call) is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "required"),
        ({"transcript": [{"speaker": "robot", "text": "Hi"}]}, "wrong_type"),
        ({"transcript": [{"speaker": "person", "text": "Hi", "at": -1}]}, "out_of_range"),
        ({"summary": "x" * 10_001}, "too_long"),
        ({"summary": None}, "not_nullable"),
        ({"recordingUrl": "file:///etc/passwd"}, "invalid_url"),
        ({"sumary": "Misspelt."}, "unknown_field"),
        (b'{"summary": "half \\ud800"}', "lone_surrogate"),
        (b'{"summary": NaN}', "invalid_json"),
        (b"no JSON", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
    ],
)
def test_an_unreadable_report_is_refused_with_a_reason(
    client: FlaskClient, session: Session, call: Call, body: Any, code: str
) -> None:
    answer = report(client, call, body)
    assert answer.status_code == 400
    assert answer.json is not None
    assert code in [answer.json["code"], *(one["code"] for one in answer.json["errors"])]
    assert stored_transcript(session, call) is None


def test_a_report_that_is_too_large_is_refused(
    client: FlaskClient, session: Session, call: Call
) -> None:
    answer = report(client, call, b" " * (1024 * 1024 + 1))
    assert (answer.status_code, answer.get_json()["code"]) == (413, "body_too_large")
    assert stored_transcript(session, call) is None


def test_without_a_voice_secret_the_address_is_not_found(
    make_app: Callable[..., Flask], call: Call
) -> None:
    assert report(make_app().test_client(), call, {"summary": "Hi."}).status_code == 404


def test_the_command_prints_the_secret_of_an_assistant(
    make_app: Callable[..., Flask], call: Call
) -> None:
    words = ["voice", "secret", str(call.assistant_id)]
    printed = make_app(voice_secret=VOICE_SECRET).test_cli_runner().invoke(args=words)
    assert printed.output == _of(call.assistant_id) + "\n"
    refused = make_app().test_cli_runner().invoke(args=words)
    assert (refused.exit_code, refused.output) == (
        1,
        "Error: PORTAL_VOICE_SECRET is not set: reports of voice engines are refused.\n",
    )


def _of(assistant_id: UUID) -> str:
    return secret_of(VOICE_SECRET, assistant_id)
