"""A call is refused and accepted for its number alike on every path."""

import re
from collections.abc import Callable
from datetime import time, timedelta
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import ContactAction, OutreachStatus, Role
from app.models import Assistant, Call, Contact, OutreachContact, utcnow
from app.phone import EVERY_DAY, USUAL_REGIONS, OpenRegions, PhoneError, check_dialable
from app.policy.caller import system_caller
from app.services import campaigns, contacts, oauth_clients, outreach
from app.services.auth import sessions
from app.services.credentials import api_keys
from app.services.outreach import dispatcher
from tests.api.legacy_calls.conftest import RETIREMENT, LegacyScript, token_of
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import Tenant, make_tenant, open_destinations
from tests.phone.numbers import EVERY_NUMBER, NUMBERS, REGIONS

FROM = "+12025550100"
SUPPORT = system_caller("command line")
E164 = re.compile(r"\+[1-9][0-9]{7,14}")
OPEN = OpenRegions(
    operator=USUAL_REGIONS, partner=frozenset(REGIONS), organization=frozenset(REGIONS)
)
Outcomes = dict[str, str | None]
"""Number -> why it is refused; None where it is called."""


backend = runs_on(["sqlite"])


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    open_destinations(session, tenant.partner.id, *REGIONS)
    tenant.plus.allowed_regions = REGIONS
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.plus.id)
    ).one()
    assistant.phone_number, assistant.phone_enabled, assistant.phone_configured = FROM, True, True
    assistant.default_intro, assistant.default_voicemail = "Hello.", "Bye."
    session.commit()
    return tenant


@pytest.fixture
def assistant(session: Session, tenant: Tenant) -> Assistant:
    return session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.plus.id)
    ).one()


def sentences() -> Outcomes:
    """The result of the one function; for all texts that are not E.164 the same refusal."""
    answer_text: Outcomes = {}
    for number in EVERY_NUMBER:
        try:
            check_dialable(number, OPEN)
            answer_text[number] = None
        except PhoneError as error:
            answer_text[number] = error.message if E164.fullmatch(number) else "refused"
    return answer_text


def stored_numbers(session: Session) -> list[str]:
    return sorted(session.scalars(select(Call.phone_number)))


def test_every_number_of_the_table_has_its_kind() -> None:
    found: dict[str | None, list[str]] = {}
    for number in EVERY_NUMBER:
        try:
            check_dialable(number, OPEN)
            code = None
        except PhoneError as error:
            code = error.code
        found.setdefault(code, []).append(number)
    assert {code: set(numbers) for code, numbers in found.items()} == {
        code: set(numbers) for code, numbers in NUMBERS.items()
    }
    assert len(set(EVERY_NUMBER)) == len(EVERY_NUMBER)


def test_the_legacy_api_refuses_each_kind_of_number(
    make_app: Callable[..., Flask], session: Session, tenant: Tenant, assistant: Assistant
) -> None:
    made = oauth_clients.create_legacy(session, SUPPORT, organization_id=tenant.plus.id, name="Old")
    session.commit()
    client = make_app(legacy_retirement=RETIREMENT).test_client()
    legacy_script = LegacyScript(client, token_of(client, made))
    outcomes: Outcomes = {}
    for number in EVERY_NUMBER:
        answer = legacy_script.ask(toPhoneNumber=number)
        outcomes[number] = refusal_in(answer.status_code, answer.get_json(), "toPhoneNumber")
    assert outcomes == sentences()
    assert stored_numbers(session) == sorted(NUMBERS[None])


def test_the_campaigns_api_refuses_each_kind_of_number(
    app: Flask, session: Session, tenant: Tenant, assistant: Assistant
) -> None:
    key = api_keys.create(
        session,
        tenant.caller(Role.PARTNER_ADMIN),
        organization_id=tenant.plus.id,
        name="Key",
        live=True,
    )
    session.commit()
    client, outcomes = app.test_client(), {}
    for number in EVERY_NUMBER:
        answer = client.post(
            "/api/v1/outbound/call",
            headers={"x-api-key": key.secret},
            json={"agentId": str(assistant.id), "contact": {"phoneNumber": number}},
        )
        outcomes[number] = refusal_in(answer.status_code, answer.get_json(), "contact.phoneNumber")
    assert outcomes == sentences()
    assert stored_numbers(session) == sorted(NUMBERS[None])


def test_a_test_call_refuses_each_kind_of_number(
    app: Flask, session: Session, tenant: Tenant, assistant: Assistant
) -> None:
    token = sessions.create(
        session, tenant.plus_user, lifetime=timedelta(hours=1), host="localhost"
    )
    session.commit()
    client = app.test_client()
    give_session(client, token)
    page = client.get("/test-call").text
    [csrf_token, *_] = re.findall(r'name="csrf_token" value="([^"]+)"', page)
    form = {"csrf_token": csrf_token, "assistant": str(assistant.id), "message_kind": "default"}
    outcomes: Outcomes = {}
    for number in EVERY_NUMBER:
        answer = client.post("/test-call", data={**form, "number": number})
        if answer.status_code == 303:
            outcomes[number] = None
            continue
        [answer_text] = re.findall(r'id="number-error"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
        words = unescape(re.sub(r"<[^>]+>", "", answer_text)).strip().replace("’", "'")
        outcomes[number] = words if E164.fullmatch(number) else "refused"
    assert outcomes == sentences()
    assert stored_numbers(session) == sorted(NUMBERS[None])


def test_a_campaign_refuses_each_kind_of_number(
    session: Session, tenant: Tenant, assistant: Assistant
) -> None:
    campaign = campaigns.create(
        session, SUPPORT, tenant.plus.id, name="Spring", all_assistants=True
    )
    plan = outreach.CampaignPlan(
        assistant.id, EVERY_DAY, time(0), time(0), call_instructions="A quote."
    )
    outreach.change_plan(session, SUPPORT, campaign.id, plan, max_at_once=200)
    people = [{"phone": number} for number in EVERY_NUMBER]
    result = contacts.apply(session, campaign, people, ContactAction.UPSERT)
    # A contact's number is read as people write numbers: what is none is refused right there.
    outcomes: Outcomes = {each["phone"]: "refused" for each in result.errors}
    outreach.start(session, SUPPORT, campaign.id)
    dispatcher.dispatch(session, campaign.id, CallSettings(calls_at_once=200), utcnow())
    decided = session.execute(
        select(Contact.phone, OutreachContact.status, OutreachContact.reason).join(
            OutreachContact, OutreachContact.contact_id == Contact.id
        )
    )
    answer_text = sentences()
    for number, state, reason in decided:
        assert number is not None
        never = (OutreachStatus.LEFT_OUT, "number_not_allowed")
        outcomes[number] = answer_text[number] if (state, reason) == never else reason
    unread = {number for number, outcome in outcomes.items() if outcome == "refused"}
    assert {
        number: "refused" if number in unread else why for number, why in answer_text.items()
    } == {number: outcomes.get(number) for number in EVERY_NUMBER}
    assert not unread & {*NUMBERS[None], *NUMBERS["region_not_allowed"]}
    assert stored_numbers(session) == sorted(NUMBERS[None])


def refusal_in(status: int, body: dict[str, Any], field: str) -> str | None:
    """Why the number is refused; None of an accepted call."""
    if status == 200:
        return None
    [problem] = body["details"]["errors"]
    assert (status, problem["field"]) == (400, field)
    return "refused" if problem["code"] == "invalid_phone" else str(problem["message"])
