"""Calls come from numbers of their own organization only: on every path, when a number is set,
when a call is accepted and when it is placed."""

import re
from collections.abc import Callable
from datetime import time, timedelta
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app.config.calls import CallSettings
from app.enums import CallSource, CallStatus, CarrierKind, ContactAction, EndedReason, Role
from app.errors import DomainError
from app.models import Assistant, Call, CallAttempt, Outreach, PhoneNumber, new_id, utcnow
from app.phone import EVERY_DAY
from app.policy.caller import Caller, system_caller
from app.portal.web.formats import typographic
from app.services import (
    assistants,
    calls,
    campaigns,
    contacts,
    oauth_clients,
    outreach,
    phone_numbers,
)
from app.services.assistants import settings as assistant_settings
from app.services.assistants.settings import AssistantFields
from app.services.auth import sessions
from app.services.calls import attempts, claims, lifecycle, waiting
from app.services.credentials import api_keys
from app.services.outreach import dispatcher
from tests.api.legacy_calls.conftest import RETIREMENT, LegacyScript, token_of
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

OWN, FOREIGN, FREE, TO = "+12025550100", "+12025550111", "+12025550122", "+12125550123"
NOT_OWN = "The assistant's number isn't assigned to its organization."
TWILIO = CarrierKind.TWILIO


backend = runs_on(["sqlite"])


@pytest.fixture
def tenant(session: Session) -> Tenant:
    """Its Plus organization calls from `OWN`; another partner's has `FOREIGN`."""
    tenant, other_tenant = make_tenant(session), make_tenant(session, "Southwind")
    phone_numbers.assign(session, OPERATOR, other_tenant.plus.id, [FOREIGN])
    phone_numbers.assign(session, OPERATOR, tenant.plus.id, [OWN])
    for each, number in ((tenant, OWN), (other_tenant, FOREIGN)):
        assistants.configure_assistant(
            session,
            OPERATOR,
            assistant_of(session, each),
            carrier=TWILIO,
            phone_number=number,
            phone_enabled=True,
            phone_configured=True,
            default_intro="Hello.",
            default_voicemail="Bye.",
        )
    session.commit()
    return tenant


@pytest.fixture
def assistant(session: Session, tenant: Tenant) -> Assistant:
    return assistant_of(session, tenant)


def assistant_of(session: Session, tenant: Tenant) -> Assistant:
    query = select(Assistant).where(Assistant.organization_id == tenant.plus.id)
    return session.scalars(query).one()


def pretend(session: Session, assistant: Assistant, number: str) -> None:
    """Store a number past every service, as a broken one would."""
    change = update(Assistant).where(Assistant.id == assistant.id).values(phone_number=number)
    session.execute(change)
    session.commit()
    session.expire_all()


def move_away(session: Session, tenant: Tenant) -> None:
    phone_numbers.move(session, OPERATOR, OWN, tenant.organization.id)


def release(session: Session, tenant: Tenant) -> None:
    phone_numbers.release(session, OPERATOR, OWN)


def take_foreign(session: Session, tenant: Tenant) -> None:
    pretend(session, assistant_of(session, tenant), FOREIGN)


def take_free(session: Session, tenant: Tenant) -> None:
    pretend(session, assistant_of(session, tenant), FREE)


LOSSES = (move_away, release, take_foreign, take_free)
each_loss = pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
Lose = Callable[[Session, Tenant], None]


def signed_in(app: Flask, session: Session, tenant: Tenant, role: Role) -> FlaskClient:
    user = tenant.plus_user if role is Role.STANDARD else tenant.staff[role]
    token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
    session.commit()
    client = app.test_client()
    give_session(client, token)
    return client


def csrf_of(page: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert found
    return found.group(1)


@pytest.mark.parametrize("carrier", ["simulator", "twilio"])
@pytest.mark.parametrize("path", ["create", "edit"])
def test_the_portal_refuses_a_number_of_another_tenant_at_its_field(
    make_app: Callable[..., Flask],
    session: Session,
    tenant: Tenant,
    assistant: Assistant,
    path: str,
    carrier: str,
) -> None:
    tenant.plus.assistant_limit = 5
    account = {"twilio_account_sid": "AC0", "twilio_auth_token": "x"}
    app = make_app(carrier=carrier, public_url="https://portal.example", **account)
    client = signed_in(app, session, tenant, Role.ADMIN)
    address = (
        f"/assistants/new?organization={tenant.plus.id}"
        if path == "create"
        else f"/assistants/{assistant.id}/edit"
    )
    form = {"name": "Robin", "active": "y", "once": "a", "version": str(assistant.version)}
    form["csrf_token"] = csrf_of(client.get(address).text)
    refused = {FOREIGN} if carrier == "simulator" else {FOREIGN, FREE}
    for number in (FOREIGN, FREE):
        answer = client.post(address, data=form | {"phone_number": number})
        at_field = re.search(r'id="phone_number-error"[^>]*>(.*?)</p>', answer.text, re.DOTALL)
        answer_text = unescape(at_field[1]).replace("’", "'") if at_field else ""
        assert (answer.status_code, phone_numbers.NOT_ASSIGNED in answer_text) == (
            (422, True) if number in refused else (303, False)
        )
    stored = session.scalars(select(PhoneNumber.number)).all()
    assert (FREE in stored) == (FREE not in refused)


@pytest.mark.parametrize("carrier", list(CarrierKind))
def test_the_services_refuse_a_number_of_another_tenant(
    session: Session, tenant: Tenant, assistant: Assistant, carrier: CarrierKind
) -> None:
    tenant.plus.assistant_limit = 5
    fields = AssistantFields(name="Robin", phone_number=FOREIGN)
    admin = tenant.caller(Role.ADMIN)
    ways: list[Callable[[], object]] = [
        lambda: assistant_settings.create_assistant(
            session, admin, tenant.plus, fields, carrier=carrier
        ),
        lambda: assistant_settings.update_assistant(
            session, admin, assistant.id, fields, carrier=carrier
        ),
        lambda: assistants.configure_assistant(
            session, admin, assistant, carrier=carrier, phone_number=FOREIGN
        ),
    ]
    for way in ways:
        with pytest.raises(DomainError) as refusal, session.begin_nested():
            way()
        assert refusal.value.code == "number_not_assigned"


@each_loss
def test_no_path_accepts_a_call_from_a_number_of_another_organization(
    make_app: Callable[..., Flask],
    session: Session,
    tenant: Tenant,
    assistant: Assistant,
    lose: Lose,
) -> None:
    admin = tenant.caller(Role.PARTNER_ADMIN)
    keys = {
        live: api_keys.create(session, admin, organization_id=tenant.plus.id, name="K", live=live)
        for live in (True, False)
    }
    old = oauth_clients.create_legacy(session, OPERATOR, organization_id=tenant.plus.id, name="Old")
    session.commit()
    app = make_app(legacy_retirement=RETIREMENT)
    legacy_script = LegacyScript(app.test_client(), token_of(app.test_client(), old))
    browser = signed_in(app, session, tenant, Role.STANDARD)
    csrf_token = csrf_of(browser.get("/test-call").text)
    lose(session, tenant)
    session.commit()
    session.expire_all()
    shown = assistant_of(session, tenant).phone_number
    client = app.test_client()
    body = {"agentId": str(assistant.id), "contact": {"phoneNumber": TO}}
    for key in keys.values():
        answer = client.post("/api/v1/outbound/call", headers={"x-api-key": key.secret}, json=body)
        answer_text = answer.get_json()
        assert (answer.status_code, answer_text["details"]["code"], answer_text["message"]) == (
            409,
            "agent_phone_not_ready",
            NOT_OWN,
        )
    request = calls.CallRequest(assistant.id, TO)
    with pytest.raises(DomainError, match=NOT_OWN):
        calls.dry_run(session, admin, request, live=True)
    answer = legacy_script.ask(toPhoneNumber=TO, fromPhoneNumber=shown)
    assert (answer.status_code, answer.get_json()["message"]) == (409, NOT_OWN)
    form = {"csrf_token": csrf_token, "assistant": str(assistant.id), "message_kind": "default"}
    answer = browser.post("/test-call", data={**form, "number": TO})
    assert answer.status_code == 422
    assert typographic(NOT_OWN) in unescape(answer.text)
    listed = client.get("/api/v1/agents", headers={"x-api-key": keys[True].secret}).get_json()
    assert [assistant_id_of_area["phoneReady"] for assistant_id_of_area in listed] == [False]
    page = unescape(
        signed_in(app, session, tenant, Role.ADMIN).get(f"/assistants/{assistant.id}").text
    )
    assert NOT_OWN in page
    assert session.scalars(select(Call)).all() == []


@each_loss
def test_a_campaign_waits_while_its_number_belongs_to_another_organization(
    session: Session, tenant: Tenant, assistant: Assistant, lose: Lose
) -> None:
    campaign = campaigns.create(
        session, OPERATOR, tenant.plus.id, name="Spring", all_assistants=True
    )
    plan = outreach.CampaignPlan(
        assistant.id, EVERY_DAY, time(0), time(0), call_instructions="A quote."
    )
    outreach.change_plan(session, OPERATOR, campaign.id, plan, max_at_once=9)
    contacts.apply(session, campaign, [{"phone": TO}], ContactAction.UPSERT)
    outreach.start(session, OPERATOR, campaign.id)
    lose(session, tenant)
    settings = CallSettings(TWILIO, calls_at_once=9)
    assert dispatcher.dispatch(session, campaign.id, settings, utcnow()) == 0
    found = session.get_one(Outreach, campaign.id)
    blocker = outreach.blocker(session, campaign, found, settings)
    assert (found.held_reason, blocker and blocker.code) == (NOT_OWN, "agent_phone_not_ready")


def accept(session: Session, tenant: Tenant, source: CallSource) -> Call:
    request = calls.CallRequest(assistant_of(session, tenant).id, TO)
    caller: Caller = system_caller("tests", tenant.partner.id)
    made = calls.schedule(session, caller, request, CallSettings(TWILIO), source=source, live=True)
    return session.get_one(Call, made.call_id)


@each_loss
@pytest.mark.parametrize("source", [CallSource.API, CallSource.LEGACY, CallSource.TEST])
def test_an_accepted_call_ends_before_it_is_placed_once_the_number_is_lost(
    session: Session, tenant: Tenant, source: CallSource, lose: Lose
) -> None:
    call = accept(session, tenant, source)
    lose(session, tenant)
    assert waiting.stopped_by_rules(session, [call.id]) == [call.id]
    claimed = claims.next_step(session, call.id, new_id(), calls_at_once=9)
    assert (claimed.kind, claimed.placement) == (claims.ClaimKind.DONE, None)
    assert (call.status, call.ended_reason, call.status_detail) == (
        CallStatus.CANCELED,
        EndedReason.ASSISTANT_INACTIVE,
        NOT_OWN,
    )
    assert session.scalars(select(CallAttempt)).all() == []


@each_loss
def test_an_attempt_that_the_carrier_delayed_ends_once_the_number_is_lost(
    session: Session, tenant: Tenant, lose: Lose
) -> None:
    call, attempt_id = accept(session, tenant, CallSource.API), new_id()
    first = claims.next_step(session, call.id, attempt_id, calls_at_once=9)
    assert first.placement is not None
    assert first.placement.from_number == OWN
    attempts.record_carrier_retry(session, attempt_id, -1.0, "The carrier asked to wait.")
    lose(session, tenant)
    again = claims.claim_retry(session, attempt_id)
    assert (again.kind, again.placement, call.status_detail) == (
        claims.ClaimKind.DONE,
        None,
        NOT_OWN,
    )


@each_loss
def test_a_retry_ends_once_the_number_is_lost(session: Session, tenant: Tenant, lose: Lose) -> None:
    tenant.plus.retry_times, tenant.plus.retry_minutes = 1, 1
    call, attempt_id = accept(session, tenant, CallSource.API), new_id()
    claims.next_step(session, call.id, attempt_id, calls_at_once=9)
    attempt = session.get_one(CallAttempt, attempt_id)
    ended = CallStatus.BUSY, EndedReason.BUSY
    lifecycle.end_attempt(session, call, attempt, *ended, at=utcnow())
    assert call.status is CallStatus.SCHEDULED
    lose(session, tenant)
    call.next_attempt_at = call.scheduled_for = utcnow()
    claimed = claims.next_step(session, call.id, new_id(), calls_at_once=9)
    assert (claimed.kind, session.scalars(select(CallAttempt.from_number)).all()) == (
        claims.ClaimKind.DONE,
        [OWN],
    )


@pytest.mark.parametrize("carrier", [CarrierKind.TWILIO, CarrierKind.SIP])
def test_a_number_that_was_only_simulated_is_not_used_on_a_real_carrier(
    session: Session, tenant: Tenant, assistant: Assistant, carrier: CarrierKind
) -> None:
    session.execute(delete(PhoneNumber).where(PhoneNumber.number == OWN))
    assistants.configure_assistant(session, OPERATOR, assistant, phone_number=None)
    assistants.configure_assistant(session, OPERATOR, assistant, phone_number=OWN)
    caller = system_caller("tests", tenant.partner.id)
    request = calls.CallRequest(assistant.id, TO)
    accepted = calls.schedule(session, caller, request, source=CallSource.API, live=True)
    with pytest.raises(DomainError) as refusal:
        calls.schedule(
            session, caller, request, CallSettings(carrier), source=CallSource.API, live=True
        )
    words = "The assistant's number isn't confirmed: it was only used on the simulated carrier."
    assert (refusal.value.code, refusal.value.message) == ("agent_phone_not_ready", words)
    call = session.get_one(Call, accepted.call_id)
    call.carrier = carrier  # as if the installation had changed its carrier meanwhile
    assert claims.next_step(session, call.id, new_id(), calls_at_once=9).placement is None
    assert call.status_detail == words
