"""Calls store their messages in English; each reader sees them in the own language."""

from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus, Role
from app.models import Assistant, Call, User
from app.services.calls.limits import OUTSIDE_HOURS
from tests.fixtures.german import catalogue
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

GERMAN = {
    "%(reason_words)s It is retried after %(minutes)s minutes.": (
        "%(reason_words)s Neuer Versuch nach %(minutes)s Minuten."
    ),
    "The line was busy.": "Es war besetzt.",
    OUTSIDE_HOURS: "Gerade ist keine Anrufzeit.",
}


@pytest.fixture(autouse=True)
def german_catalogue(tmp_path: Path) -> Iterator[None]:
    with catalogue(tmp_path, GERMAN):
        yield


@pytest.fixture
def german_reader(
    tenant: Tenant, session: Session, signed_in: Callable[[User], Browser]
) -> Browser:
    """A German admin of a partner."""
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.language = "de"
    session.commit()
    return signed_in(admin)


@pytest.fixture
def call(session: Session, tenant: Tenant, german_reader: Browser) -> Call:
    """A test call that the German admin places outside of the calling hours."""
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    ).one()
    assistant.phone_number = "+12025550199"
    assistant.phone_enabled = assistant.phone_configured = True
    rules = tenant.organization
    rules.calling_hours_on = True
    rules.calling_hours_end = rules.calling_hours_start.replace(microsecond=1)
    session.commit()
    typed = {"assistant": str(assistant.id), "number": "+12025550101", "once": "a"}
    typed |= {"message_kind": "exact", "intro": "Hello.", "voicemail": "Bye."}
    answer = german_reader.post("/test-call", typed, page="/test-call")
    assert answer.status_code == 303
    return session.scalars(select(Call)).one()


def detail_shown(german_reader: Browser, call: Call) -> str:
    page = unescape(german_reader.get(f"/calls/{call.id}").text)
    return page.partition("The call is waiting")[2]


def test_why_a_call_waits_is_stored_in_english_and_shown_in_the_readers_language(
    call: Call, german_reader: Browser
) -> None:
    assert (call.status, call.status_detail) == (CallStatus.SCHEDULED, OUTSIDE_HOURS)
    shown = detail_shown(german_reader, call)
    assert "Gerade ist keine Anrufzeit." in shown
    assert OUTSIDE_HOURS not in shown


def test_a_stored_message_keeps_its_values(
    call: Call, german_reader: Browser, session: Session
) -> None:
    call.status_detail = "The line was busy. It is retried after 30 minutes."
    session.commit()
    assert "Es war besetzt. Neuer Versuch nach 30 Minuten." in detail_shown(german_reader, call)


def test_text_that_a_person_wrote_is_shown_unchanged(
    call: Call, german_reader: Browser, session: Session
) -> None:
    call.status_detail = "ops: 100% settled by phone"
    session.commit()
    assert "ops: 100% settled by phone" in detail_shown(german_reader, call)
