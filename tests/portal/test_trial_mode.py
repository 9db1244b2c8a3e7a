"""Trial mode on screen: verifying a number, and ending the trials."""

import re
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallStatus, Role
from app.models import Assistant, AuditEntry, Call, Organization, User, VerifiedNumber, utcnow
from app.services.auth import sessions
from app.services.verified_numbers.codes import code_of
from tests.fixtures.browser_session import give_session
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.tenants import Tenant, make_partner
from tests.fixtures.trial import shows, start_trial, start_trial_of_partner
from tests.portal.conftest import Browser
from tests.portal.page_text import body_text

SignedIn = Callable[[User], Browser]

NUMBER = "+12125551000"
TRIAL = "Trial mode: only verified numbers can be called"


@pytest.fixture
def organization(session: Session, tenant: Tenant) -> Organization:
    """In trial, with an assistant that can call."""
    start_trial(session, tenant.organization.id)
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.organization.id)
    ).one()
    assistant.phone_number, assistant.phone_enabled, assistant.phone_configured = (
        "+12025550199",
        True,
        True,
    )
    assistant.default_intro, assistant.default_voicemail = "Hello.", "Call us back."
    session.commit()
    return tenant.organization


@pytest.fixture
def page(organization: Organization) -> str:
    return f"/organizations/{organization.id}/verified-numbers"


@pytest.fixture
def member(tenant: Tenant, signed_in: SignedIn) -> Browser:
    return signed_in(tenant.user)


def call_of(session: Session, path: str) -> Call:
    number = session.get_one(VerifiedNumber, UUID(path.rpartition("/")[2]))
    return session.get_one(Call, number.call_id)


def test_a_member_verifies_a_number_and_sees_the_code_nowhere(
    session: Session, page: str, member: Browser, admin: Browser
) -> None:
    assert "No verified numbers yet" in body_text(member.get(page))
    sent = member.post(page, {"number": "+1 212 555 1000"}, page=page)
    assert sent.status_code == 303
    call = call_of(session, sent.location)
    code = code_of(call.id, SECRET_KEY)
    assert "Waiting for the code" in body_text(member.get(page))

    wrong = member.post(
        sent.location, {"code": f"{(int(code) + 1) % 10**6:06}"}, page=sent.location
    )
    assert wrong.status_code == 422
    assert "This code is wrong. You have 4 more tries." in body_text(wrong)
    right = member.post(sent.location, {"code": f" {code[:3]} {code[3:]} "}, page=sent.location)
    assert (right.status_code, right.location) == (303, page)
    listed = body_text(member.get(page))
    assert "+1 212 555 1000 is verified and can be called now." in listed.replace("\u00a0", " ")
    assert "1 of 10" in listed

    paths = (page, sent.location, "/calls", f"/calls/{call.id}", f"/calls/{call.id}/live", "/audit")
    shown = [admin.get(path).text for path in paths]
    assert [text for text in shown if shows(text, code)] == []
    assert "Verification call" in shown[2]
    assert "Your code is ••••••." in shown[3]
    actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert [each for each in actions if each.startswith("verified_number")] == [
        "verified_number.called",
        "verified_number.verified",
    ]


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        ("", "Number: "),
        ("+19005550101", "premium"),
        ("+447911123456", "isn’t open for calls"),
    ],
)
def test_a_number_that_can_not_be_called_is_refused_at_its_field(
    session: Session, page: str, member: Browser, number: str, problem: str
) -> None:
    answer = member.post(page, {"number": number}, page=page)
    assert answer.status_code == 422
    assert problem in body_text(answer)
    assert session.scalars(select(Call.id)).all() == []


def test_a_form_sent_twice_places_one_call(session: Session, page: str, member: Browser) -> None:
    typed = {"number": NUMBER, "once": "a" * 32}
    sent = [member.post(page, typed, page=page).location for _ in range(2)]
    assert sent[0] == sent[1]
    assert len(session.scalars(select(Call.id)).all()) == 1


def test_a_code_that_has_ended_leads_to_another_call(
    session: Session, page: str, member: Browser
) -> None:
    sent = member.post(page, {"number": NUMBER}, page=page)
    for _ in range(5):
        answer = member.post(sent.location, {"code": "000000"}, page=page)
    assert "This code can’t be used any more. Request a new call." in body_text(answer)
    assert "Needs a new call" in body_text(member.get(page))
    assert "Call again" in body_text(member.get(sent.location))
    again = member.post(page, {"number": NUMBER}, page=sent.location)
    assert again.location == sent.location
    assert "Waiting for the code" in body_text(member.get(page))


@pytest.mark.parametrize(
    "status", [CallStatus.FAILED, CallStatus.BUSY, CallStatus.NO_ANSWER, CallStatus.CANCELED]
)
def test_a_call_that_reached_no_one_asks_for_another_call_and_not_for_its_code(
    session: Session, page: str, member: Browser, status: CallStatus
) -> None:
    sent = member.post(page, {"number": NUMBER}, page=page)
    call = call_of(session, sent.location)
    progress = f"/calls/{call.id}/live"
    assert 'name="code"' in member.get(sent.location).text
    assert "HX-Refresh" not in member.get(progress).headers
    call.status, call.ended_at = status, utcnow()
    session.commit()
    shown = member.get(sent.location)
    assert "The call didn’t reach you. Call again to get a new code." in body_text(shown)
    assert "Answer the call" not in body_text(shown)
    assert "valid until" not in body_text(shown)
    assert 'name="code"' not in shown.text
    assert re.search(r'<button class="btn btn-primary"[^>]*>.*?Call again', shown.text, re.DOTALL)
    assert member.get(progress).headers["HX-Refresh"] == "true"


@pytest.mark.parametrize("status", [CallStatus.COMPLETED, CallStatus.UNKNOWN])
def test_a_call_that_may_have_spoken_its_code_asks_for_it_after_its_end(
    session: Session, page: str, member: Browser, status: CallStatus
) -> None:
    sent = member.post(page, {"number": NUMBER}, page=page)
    call = call_of(session, sent.location)
    call.status, call.ended_at = status, utcnow()
    if status is CallStatus.COMPLETED:
        call.answered_at = utcnow()
    session.commit()
    assert 'name="code"' in member.get(sent.location).text


def test_a_number_is_removed_after_a_confirmation(
    session: Session, page: str, member: Browser
) -> None:
    sent = member.post(page, {"number": NUMBER}, page=page)
    asked = body_text(member.get(f"{sent.location}/remove"))
    assert "can’t call this number any more in trial mode" in asked
    assert member.post(f"{sent.location}/remove", page=page).location == page
    assert session.scalars(select(VerifiedNumber.id)).all() == []
    assert member.get(sent.location).status_code == 404


def test_numbers_of_other_organizations_and_partners_are_not_found(
    session: Session,
    tenant: Tenant,
    other_tenant: Tenant,
    page: str,
    member: Browser,
    signed_in: SignedIn,
) -> None:
    sent = member.post(page, {"number": NUMBER}, page=page)
    strangers = (tenant.plus_user, other_tenant.user, other_tenant.staff[Role.PARTNER_ADMIN])
    for browser in map(signed_in, strangers):
        paths = (page, sent.location, f"{sent.location}/remove")
        assert {browser.get(path).status_code for path in paths} == {404}
        posts = (page, sent.location, f"{sent.location}/remove")
        typed = {"number": NUMBER, "code": "123456"}
        assert {browser.post(path, typed, page="/account").status_code for path in posts} == {404}
    [kept] = session.scalars(select(VerifiedNumber))
    assert (kept.verified_at, kept.wrong_codes) == (None, 0)


def test_a_test_call_says_what_trial_mode_allows_and_leads_to_the_verified_numbers(
    session: Session, organization: Organization, page: str, member: Browser
) -> None:
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == organization.id)
    ).one()
    typed = {"assistant": str(assistant.id), "number": NUMBER, "message_kind": "default"}
    refused = member.post("/test-call", typed, page="/test-call")
    assert refused.status_code == 422
    assert "In trial mode only verified numbers can be called." in body_text(refused)
    assert f'href="{page}"' in refused.text
    sent = member.post(page, {"number": NUMBER}, page=page)
    code = code_of(call_of(session, sent.location).id, SECRET_KEY)
    member.post(sent.location, {"code": code}, page=sent.location)
    assert member.post("/test-call", typed, page="/test-call").status_code == 303


def test_the_banner_leads_each_role_to_its_next_step(
    tenant: Tenant, organization: Organization, page: str, member: Browser, signed_in: SignedIn
) -> None:
    of_organization = f"/organizations/{organization.id}"
    end = f"{of_organization}/end-trial"
    shown = {Role.STANDARD: member.get("/").text} | {
        role: signed_in(tenant.staff[role]).get(of_organization).text for role in tenant.staff
    }
    assert {role: TRIAL in text for role, text in shown.items()} == dict.fromkeys(shown, True)
    assert {role: f'href="{page}"' in text for role, text in shown.items()} == dict.fromkeys(
        shown, True
    )
    assert [role for role, text in shown.items() if f'href="{end}"' in text] == [Role.PARTNER_ADMIN]


def test_an_assistant_in_trial_mode_says_what_it_can_call(
    session: Session, organization: Organization, page: str, admin: Browser
) -> None:
    assistants = select(Assistant).where(Assistant.organization_id == organization.id)
    address = f"/assistants/{session.scalars(assistants).one().id}"
    trial = "In trial mode only verified numbers can be called. Verify number"
    assert trial in body_text(admin.get(address))
    assert f'href="{page}"' in admin.get(address).text
    organization.trial_ended_at = utcnow()
    session.commit()
    assert trial not in body_text(admin.get(address))


def test_a_partner_admin_ends_the_trial_of_an_organization(
    session: Session,
    tenant: Tenant,
    organization: Organization,
    admin: Browser,
    signed_in: SignedIn,
) -> None:
    of_organization = f"/organizations/{organization.id}"
    end = f"{of_organization}/end-trial"
    assert f"End trial mode of {organization.name}?" in body_text(admin.get(end))
    editor = signed_in(tenant.staff[Role.ADMIN])
    assert editor.post(end, page="/account").status_code == 404
    assert admin.post(end, page=end).location == of_organization
    shown = body_text(admin.get(of_organization))
    assert f"The trial mode of {organization.name} has ended." in shown
    assert TRIAL not in shown
    session.refresh(organization)
    assert organization.trial_ended_at is not None


def test_the_trial_of_the_portal_is_ended_before_that_of_an_organization(
    session: Session, tenant: Tenant, organization: Organization, admin: Browser
) -> None:
    start_trial_of_partner(session, tenant.partner.id)
    session.commit()
    of_organization = f"/organizations/{organization.id}"
    end = f"{of_organization}/end-trial"
    assert f'href="{end}"' not in admin.get(of_organization).text
    admin.post(end, page=end)
    shown = body_text(admin.get(of_organization))
    assert "The trial mode of the portal has to end first." in shown
    assert TRIAL in body_text(admin.get("/"))
    session.refresh(organization)
    assert organization.trial_ended_at is None


def test_the_operator_ends_and_starts_the_trial_of_a_partner(
    session: Session, operator: Browser
) -> None:
    partner = make_partner(session, "Westport")
    partner.trial_ended_at = None
    session.commit()
    assert "Trial mode" in body_text(operator.get("/"))
    page = f"/operator/partners/{partner.id}"
    in_trial = []
    for what in ("end", "start"):
        path = f"/partners/{partner.id}/{what}-trial"
        assert operator.post(path, page=path).location == page
        session.refresh(partner)
        in_trial.append(partner.trial_ended_at is None)
    assert in_trial == [False, True]
    assert "Westport is in trial mode." in body_text(operator.get(page))


@pytest.mark.parametrize("in_trial", [True, False])
def test_a_setting_decides_whether_new_organizations_start_in_trial(
    session: Session, tenant: Tenant, make_app: Callable[..., Flask], in_trial: bool
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    token = sessions.create(session, admin, lifetime=timedelta(hours=1), host="localhost")
    session.commit()
    client = make_app(new_organizations_in_trial=in_trial).test_client()
    give_session(client, token)
    path = "/organizations/new"
    for name in ("First", "Second"):
        typed = {"name": name, "tier": "customerFreePlan", "assistant_limit": 1, "user_limit": 1}
        assert Browser(client).post(path, typed, page=path).status_code == 303
        start_trial_of_partner(session, tenant.partner.id)
        session.commit()
    query = select(Organization).where(Organization.name.in_(("First", "Second")))
    found = {row.name: row.trial_ended_at is None for row in session.scalars(query)}
    assert found == {"First": in_trial, "Second": True}
