"""The recording, transcript and summary of a call on its page, and calling again."""

import io
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, RecordingStatus, Role
from app.extensions import files
from app.models import Assistant, Call, CallAttempt, CallRecording, CallTranscript, User
from app.services.recordings import samples
from tests.fixtures.tenants import Tenant
from tests.fixtures.voice_engine import WAV
from tests.portal.conftest import Browser
from tests.portal.test_calls import NOON, answered, make_call

SignedIn = Callable[[User], Browser]


@pytest.fixture
def call(session: Session, tenant: Tenant) -> Call:
    texts: dict[str, Any] = {
        "intro_message": "Hello.\nIt’s Ada.",
        "voicemail_message": "Please call back.",
    }
    made = make_call(
        session, tenant.organization, "+12025550101", **texts, **answered(), carrier="twilio"
    )
    session.commit()
    return made


def record(
    session: Session, app: Flask, call: Call, status: RecordingStatus, problem: str | None = None
) -> None:
    key = ""
    if status is RecordingStatus.STORED:
        with app.app_context():
            key = files().save(io.BytesIO(WAV), max_bytes=len(WAV)).key
    session.add(
        CallRecording(
            partner_id=call.partner_id,
            organization_id=call.organization_id,
            call_id=call.id,
            status=status,
            problem=problem,
            file_key=key,
            size=len(WAV),
            content_type="audio/wav",
        )
    )
    session.commit()


def conversation_text(page: str) -> str:
    found = re.search(r'id="conversation">(.*?)</section>', page, re.DOTALL)
    assert found
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", found.group(1))).split())


def test_the_page_shows_summary_recording_and_transcript(
    app: Flask, session: Session, tenant: Tenant, call: Call, signed_in: SignedIn
) -> None:
    record(session, app, call, RecordingStatus.STORED)
    turns = [
        {"speaker": "assistant", "text": "Hello.", "at": 0},
        {"speaker": "person", "text": "<b>Who</b> is it?", "at": 62.5},
        {"speaker": "assistant", "text": "Ada."},
        {"voice": 2, "text": "Hm."},
    ]
    session.add(
        CallTranscript(
            partner_id=call.partner_id,
            organization_id=call.organization_id,
            call_id=call.id,
            turns=turns,
            summary="They want a table.",
        )
    )
    session.commit()
    page = signed_in(tenant.user).get(f"/calls/{call.id}").text
    assert conversation_text(page) == (
        "Conversation Summary They want a table. Recording Download recording Transcript "
        "Assistant 00:00 Hello. Person 01:02 <b>Who</b> is it? Assistant Ada. "
        "Speaker 2 Hm."
    )
    assert f'<audio class="player" controls preload="none" src="/calls/{call.id}/recording"' in page
    assert "Please call back." in page


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            RecordingStatus.WAITING,
            "The recording is being fetched. Reload this page in a moment.",
        ),
        (
            RecordingStatus.FAILED,
            "The recording could not be fetched. v.example answered with status 404.",
        ),
    ],
)
def test_without_a_recording_the_page_says_why(
    app: Flask,
    session: Session,
    tenant: Tenant,
    call: Call,
    signed_in: SignedIn,
    status: RecordingStatus,
    words: str,
) -> None:
    failed = status is RecordingStatus.FAILED
    problem = "v.example answered with status 404." if failed else None
    record(session, app, call, status, problem)
    browser = signed_in(tenant.user)
    assert conversation_text(browser.get(f"/calls/{call.id}").text) == (
        f"Conversation Recording {words} Transcript No transcript. Transcripts are kept for 365 "
        "days."
    )
    assert browser.get(f"/calls/{call.id}/recording").status_code == 404


def test_without_recording_and_transcript_one_line_says_how_long_they_are_kept(
    tenant: Tenant, call: Call, signed_in: SignedIn
) -> None:
    assert conversation_text(signed_in(tenant.user).get(f"/calls/{call.id}").text) == (
        "Conversation No recording or transcript. Recordings are kept for 90 days, transcripts "
        "for 365."
    )


def test_the_page_names_the_fewer_days_for_which_the_partner_keeps_them(
    session: Session, tenant: Tenant, call: Call, signed_in: SignedIn
) -> None:
    tenant.partner.retention_days = {"recordings": 7, "transcripts": 14}
    session.commit()
    assert conversation_text(signed_in(tenant.user).get(f"/calls/{call.id}").text) == (
        "Conversation No recording or transcript. Recordings are kept for 7 days, transcripts for "
        "14."
    )


def test_a_simulated_call_has_no_recording_and_no_transcript(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    call = make_call(
        session, tenant.organization, "+12025550103", **answered(), carrier="simulator"
    )
    session.commit()
    assert conversation_text(signed_in(tenant.user).get(f"/calls/{call.id}").text) == (
        "Conversation No recording or transcript: simulated calls have samples only when a person "
        "answers."
    )


def test_the_sample_of_a_simulated_call_is_labelled(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    call = make_call(
        session, tenant.organization, "+12025550103", **answered(), carrier=CarrierKind.SIMULATOR
    )
    attempt = CallAttempt(
        organization_id=call.organization_id,
        call_id=call.id,
        number=1,
        carrier=call.carrier,
        status=CallStatus.COMPLETED,
    )
    session.add(attempt)
    session.flush()
    samples.report_sample(session, attempt.id)
    session.commit()
    assert conversation_text(signed_in(tenant.user).get(f"/calls/{call.id}").text) == (
        "Conversation Sample The simulated carrier called no one. This is what a voice service "
        "reports about a real call. Summary The person asked to be called again on Monday. "
        "Transcript Assistant 00:00 Hello, this is a sample conversation. Do you have a moment? "
        "Person 00:02 Not now. Please call again on Monday. Assistant 00:04 I will. Goodbye."
    )


def test_an_unanswered_call_has_no_recording_and_no_transcript(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    call = make_call(session, tenant.organization, "+12025550102", status=CallStatus.NO_ANSWER)
    session.commit()
    assert conversation_text(signed_in(tenant.user).get(f"/calls/{call.id}").text) == (
        "Conversation No recording or transcript: the call wasn’t answered."
    )


def test_a_running_call_shows_no_conversation_yet(
    session: Session, tenant: Tenant, signed_in: SignedIn
) -> None:
    call = make_call(session, tenant.organization, "+12025550102", status=CallStatus.IN_PROGRESS)
    session.commit()
    page = signed_in(tenant.user).get(f"/calls/{call.id}").text
    assert "Call in progress" in page
    assert 'id="conversation"' not in page


def test_a_player_gets_the_part_that_it_asks_for(
    app: Flask, session: Session, tenant: Tenant, call: Call, signed_in: SignedIn
) -> None:
    record(session, app, call, RecordingStatus.STORED)
    browser = signed_in(tenant.user)
    whole = browser.get(f"/calls/{call.id}/recording")
    assert (whole.status_code, whole.data, whole.content_type) == (200, WAV, "audio/wav")
    assert whole.headers["Cache-Control"] == "private, no-store"
    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    part = browser.get(f"/calls/{call.id}/recording", headers={"Range": "bytes=4-11"})
    assert (part.status_code, part.data) == (206, WAV[4:12])
    assert part.headers["Content-Range"] == f"bytes 4-11/{len(WAV)}"
    beyond = browser.get(f"/calls/{call.id}/recording", headers={"Range": "bytes=999999-"})
    assert beyond.status_code == 416
    download = browser.get(f"/calls/{call.id}/recording?download=1")
    disposition = download.headers["Content-Disposition"]
    assert disposition == f"attachment; filename=call-{call.id}.wav"


def test_a_recording_of_another_tenant_does_not_exist(
    app: Flask,
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    call: Call,
    signed_in: SignedIn,
) -> None:
    record(session, app, call, RecordingStatus.STORED)
    address = f"/calls/{call.id}/recording"
    seen = {
        "own admin": signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(address).status_code,
        "colleague": signed_in(tenant.user).get(address).status_code,
        "another organization": signed_in(tenant.plus_user).get(address).status_code,
        "another partner": signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
        .get(address)
        .status_code,
        "signed out": app.test_client().get(address).status_code,
    }
    assert seen == {
        "own admin": 200,
        "colleague": 200,
        "another organization": 404,
        "another partner": 404,
        "signed out": 303,
    }


def test_call_again_fills_the_form_with_the_same_assistant_number_and_texts(
    session: Session, tenant: Tenant, call: Call, signed_in: SignedIn
) -> None:
    assistant = session.get_one(Assistant, call.assistant_id)
    assistant.phone_number = "+12025550199"
    session.commit()
    browser = signed_in(tenant.user)
    shown = browser.get(f"/calls/{call.id}").text
    assert f'href="/test-call?again={call.id}">Call again</a>' in shown
    page = unescape(browser.get(f"/test-call?again={call.id}").text)
    assert 'value="+1 202 555 0101"' in page
    assert re.search(rf'<option selected value="{assistant.id}"', page)
    assert "Hello.\nIt’s Ada.</textarea>" in page.replace("\r", "")
    assert "Please call back.</textarea>" in page
    assert 'id="live-call"' not in page


def test_an_old_call_keeps_its_texts(session: Session, tenant: Tenant, signed_in: SignedIn) -> None:
    texts = {"intro_message": "The intro of that day.", "voicemail_message": "The voicemail."}
    then = NOON - timedelta(days=300)
    call = make_call(session, tenant.organization, "+12025550101", at=then, **texts, **answered())
    assistant = session.get_one(Assistant, call.assistant_id)
    assistant.default_intro = "Another intro."
    session.commit()
    page = signed_in(tenant.user).get(f"/calls/{call.id}").text
    assert "The intro of that day." in page
    assert "Another intro." not in page
