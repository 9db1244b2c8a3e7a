"""Keys and clients in the portal: made, shown once, rotated, stopped, and who may see them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import ApiKey, ApiRequest, OAuthClient, Organization, User, utcnow
from app.policy.caller import system_caller
from app.portal.web import formats
from app.services import campaigns, oauth_clients, organizations
from app.services.credentials import api_keys
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import Browser, user_of

SignedIn = Callable[[User], Browser]
KEY = re.compile(r"ppk_(?:live|test)_\w{16}_\w{49}")
NEW_KEY = {"name": "CRM nightly sync", "kind": "live", "scopes": ["contacts:write"]}
NEW_CLIENT = {"name": "Billing export", "role": "admin", "lifetime": "365"}


def make_key(session: Session, tenant: Tenant, **changes: Any) -> api_keys.NewKey:
    owner = system_caller("the owner", tenant.partner.id)
    values: dict[str, Any] = {"organization_id": tenant.organization.id, "name": "Sync"} | changes
    made = api_keys.create(session, owner, **values)
    session.commit()
    return made


def make_client(session: Session, tenant: Tenant) -> oauth_clients.NewClient:
    owner = system_caller("the owner", tenant.partner.id)
    made = oauth_clients.create(session, owner, name="Export", role=Role.ADMIN)
    session.commit()
    return made


def new_key_address(organization: Organization) -> str:
    return f"/api-access/keys/new?organization={organization.id}"


def count(session: Session, model: type[ApiKey] | type[OAuthClient]) -> int:
    return session.scalar(select(func.count()).select_from(model)) or 0


def test_a_key_is_shown_once_and_works(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    address = new_key_address(tenant.organization)
    made = admin.post(address, {**NEW_KEY, "once": "a1"}, page=address)
    [secret] = set(KEY.findall(made.text))
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "no-store")
    answer = app.test_client().get("/api/v1/agents", headers={"x-api-key": secret})
    assert answer.status_code == 200
    key = session.scalars(select(ApiKey)).one()
    assert (key.name, key.scopes, key.live) == ("CRM nightly sync", ["contacts:write"], True)
    assert key.expires_at is not None
    assert timedelta(days=364) < key.expires_at - utcnow() <= timedelta(days=365)
    for path in ("/api-access", f"/api-access/keys/{key.id}"):
        shown = admin.get(path)
        assert shown.status_code == 200
        assert secret not in shown.text
        assert key.name in shown.text


def test_the_page_of_a_test_key_says_once_that_its_contacts_are_real(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    address = new_key_address(tenant.organization)
    admin.post(address, {**NEW_KEY, "kind": "test", "once": "a1"}, page=address)
    key = session.scalars(select(ApiKey)).one()
    page = admin.get(f"/api-access/keys/{key.id}").text
    assert page.count("Contacts that a test key adds are real") == 1


def test_the_form_sent_twice_makes_one_key_and_shows_no_secret_again(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    address = new_key_address(tenant.organization)
    admin.post(address, {**NEW_KEY, "once": "a1"}, page=address)
    again = admin.post(address, {**NEW_KEY, "once": "a1"}, page=address)
    key = session.scalars(select(ApiKey)).one()
    assert (again.status_code, again.location) == (303, f"/api-access/keys/{key.id}")
    assert KEY.findall(again.text) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": " "}, "Enter a name of 1 to 200 characters."),
        ({"scopes": []}, "Choose at least one permission."),
        ({"lifetime": "soon"}, "Choose when it expires."),
        ({"lifetime": "date"}, "Enter a day like 2026-02-28"),
        ({"lifetime": "date", "last_day": "2020-01-01"}, "Choose an end date in the future."),
        ({"lifetime": "date", "last_day": "31.12.2026"}, "Enter a day like 2026-02-28"),
    ],
)
def test_each_problem_of_a_new_key_is_at_its_field(
    session: Session, tenant: Tenant, admin: Browser, changes: dict[str, Any], words: str
) -> None:
    address = new_key_address(tenant.organization)
    answer = admin.post(address, {**NEW_KEY, "last_day": "", **changes}, page=address)
    assert (answer.status_code, answer.text.count(words), count(session, ApiKey)) == (422, 2, 0)


@pytest.mark.usefixtures("clock")
def test_a_key_ends_with_its_last_day(session: Session, tenant: Tenant, admin: Browser) -> None:
    address, day = new_key_address(tenant.organization), (utcnow() + timedelta(days=5)).date()
    admin.post(address, {**NEW_KEY, "lifetime": "date", "last_day": day.isoformat()}, page=address)
    key = session.scalars(select(ApiKey)).one()
    assert key.expires_at is not None
    assert key.expires_at.date() == day + timedelta(days=1)
    listed = admin.get("/api-access").text
    assert '<strong class="is-warning">in 5 days</strong>' in listed
    assert "Expires in 5 days" in listed
    assert f"Until {formats.day(day)}." in admin.get("/").text
    key.expires_at += timedelta(days=30)
    session.commit()
    assert formats.day(day + timedelta(days=30)) in admin.get(f"/api-access/keys/{key.id}").text


def test_a_rotated_key_leaves_the_old_one_working_for_as_long_as_asked(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    old = make_key(session, tenant)
    page = f"/api-access/keys/{old.key.id}/rotate"
    rotated = admin.post(page, {"overlap": "3", "once": "b1"}, page=page)
    [secret] = set(KEY.findall(rotated.text))
    answers = [
        app.test_client().get("/api/v1/agents", headers={"x-api-key": each}).status_code
        for each in (old.secret, secret)
    ]
    assert (rotated.status_code, answers) == (200, [200, 200])
    session.expire_all()
    left = session.get_one(ApiKey, old.key.id).expires_at
    assert left is not None
    assert timedelta(days=2) < left - utcnow() < timedelta(days=3)
    assert f"{old.key.public_id}, works until" in rotated.text
    again = admin.post(page, {"overlap": "0", "once": "b2"}, page=page)
    assert again.status_code == 422
    assert "was already rotated" in again.text


@pytest.mark.parametrize("overlap", ["8", "-1", "soon", ""])
def test_an_overlap_out_of_range_is_refused_at_its_field(
    session: Session, tenant: Tenant, admin: Browser, overlap: str
) -> None:
    key = make_key(session, tenant).key
    page = f"/api-access/keys/{key.id}/rotate"
    answer = admin.post(page, {"overlap": overlap}, page=page)
    assert (
        answer.status_code,
        answer.text.count("The old key can keep working for 0 to 7 days."),
    ) == (
        422,
        2,
    )
    assert count(session, ApiKey) == 1


def test_revoking_asks_says_the_last_use_and_ends_the_key_at_once(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    new = make_key(session, tenant)
    page = f"/api-access/keys/{new.key.id}/revoke"
    confirmation = admin.get(page)
    assert "It has never been used." in confirmation.text
    answer = admin.post(page, page=page)
    assert (answer.status_code, answer.location) == (303, f"/api-access/keys/{new.key.id}")
    refused = app.test_client().get("/api/v1/agents", headers={"x-api-key": new.secret})
    assert refused.status_code == 401
    assert "Revoked" in admin.get(f"/api-access/keys/{new.key.id}").text


def test_the_latest_requests_of_a_key_are_listed_with_their_answers(
    app: Flask, session: Session, tenant: Tenant, admin: Browser
) -> None:
    new = make_key(session, tenant, scopes=["contacts:read"])
    script = app.test_client()
    script.get("/api/v1/agents", headers={"x-api-key": new.secret})
    refused = script.get("/api/v1/outbound/calls", headers={"x-api-key": new.secret})
    app.extensions["request_log"].flush()
    assert session.scalar(select(func.count()).select_from(ApiRequest)) == 2
    page = admin.get(f"/api-access/keys/{new.key.id}").text.replace("<wbr>", "")
    for words in (
        "/api/v1/agents",
        "200 OK",
        "/api/v1/outbound/calls",
        "403 Forbidden",
        'href="/api/docs#operation/listCalls"><code>insufficient_scope</code>',
        refused.headers["X-Request-Id"],
    ):
        assert words in page
    described = app.test_client().get("/api/openapi.json").get_json()["paths"]
    assert described["/api/v1/outbound/calls"]["get"]["operationId"] == "listCalls"


def test_a_key_of_a_suspended_organization_is_shown_as_refused(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    key = make_key(session, tenant).key
    paths = ("/api-access", f"/api-access/keys/{key.id}")
    notice = "Its keys and clients are refused until"
    assert ["Refused" in admin.get(path).text for path in paths] == [False, False]
    organizations.suspend(session, OPERATOR, tenant.organization.id)
    session.commit()
    assert ["Refused" in admin.get(path).text for path in paths] == [True, True]
    assert "Organization suspended" in admin.get(paths[0]).text
    page = admin.get(paths[1]).text
    assert page.index(notice) < page.index("Ready to run.")
    organizations.archive(session, OPERATOR, tenant.organization.id)
    session.commit()
    assert "Organization archived" in admin.get(paths[0]).text
    assert notice in admin.get(paths[1]).text


def test_a_client_is_created_rotated_suspended_resumed_and_revoked(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    page = "/api-access/clients/new"
    made = admin.post(page, {**NEW_CLIENT, "once": "c1"}, page=page)
    client = session.scalars(select(OAuthClient)).one()
    shown = re.search(r'<code id="secret">(\w+)</code>', made.text)
    assert shown is not None
    assert oauth_clients.authenticate(session, client.client_id, shown[1]) is not None
    address = f"/api-access/clients/{client.id}"
    assert shown[1] not in admin.get(address).text
    again = admin.post(page, {**NEW_CLIENT, "once": "c1"}, page=page)
    assert (again.status_code, again.location) == (303, address)

    rotate = f"{address}/rotate"
    rotated = admin.post(rotate, {"overlap": "1", "once": "c2"}, page=rotate)
    new = re.search(r'<code id="secret">(\w+)</code>', rotated.text)
    assert new is not None
    session.expire_all()
    both = [oauth_clients.authenticate(session, client.client_id, s[1]) for s in (shown, new)]
    assert both == [client, client]

    states = []
    for act in ("suspend", "resume", "revoke"):
        answer = admin.post(f"{address}/{act}", page=address)
        session.expire_all()
        states.append((answer.status_code, client.suspended_at is None, client.revoked_at is None))
    assert states == [(303, False, True), (303, True, True), (303, True, False)]
    assert admin.get(f"{address}/revoke").location == address


def test_a_secret_rotated_at_once_gets_no_token_any_more(session: Session, tenant: Tenant) -> None:
    made = make_client(session, tenant)
    owner = system_caller("the owner", tenant.partner.id)
    oauth_clients.rotate(session, owner, made.client.id)
    assert oauth_clients.authenticate(session, made.client.client_id, made.secret) is None


def test_a_client_of_support_is_shown_and_not_to_be_changed(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    legacy = oauth_clients.create_legacy(
        session, system_caller("support"), organization_id=tenant.plus.id, name="Old dialler"
    ).client
    session.commit()
    address = f"/api-access/clients/{legacy.id}"
    page = admin.get(address)
    assert page.status_code == 200
    assert "provider manages it" in page.text
    statuses = {
        act: admin.post(f"{address}/{act}", page="/api-access").status_code
        for act in ("rotate", "suspend", "revoke")
    }
    assert statuses == {"rotate": 404, "suspend": 404, "revoke": 404}


def test_a_legacy_client_names_its_organization_and_the_end_of_its_service(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    until = datetime(2999, 3, 1, 12, tzinfo=UTC)
    legacy = oauth_clients.create_legacy(
        session,
        system_caller("support"),
        organization_id=tenant.plus.id,
        name="Old dialler",
        served_until=until,
        expires_at=None,
    ).client
    session.commit()
    known = ("Legacy API", tenant.plus.name, "1\N{NO-BREAK SPACE}Mar\N{NO-BREAK SPACE}2999")
    for path in ("/api-access/clients", f"/api-access/clients/{legacy.id}"):
        page = admin.get(path).text
        assert [words for words in known if words not in page] == []


def test_keys_and_clients_of_another_tenant_are_not_found(
    session: Session, tenant: Tenant, other_tenant: Tenant, admin: Browser
) -> None:
    key, client = make_key(session, other_tenant).key, make_client(session, other_tenant).client
    seen = []
    for key_id, client_id, organization_id in (
        (key.id, client.id, other_tenant.organization.id),
        (uuid4(), uuid4(), uuid4()),
    ):
        seen.append(
            [
                admin.get(f"/api-access/keys/{key_id}").status_code,
                admin.get(f"/api-access/keys/{key_id}/rotate").status_code,
                admin.get(f"/api-access/keys/{key_id}/revoke").status_code,
                admin.post(f"/api-access/keys/{key_id}/revoke", page="/api-access").status_code,
                admin.get(f"/api-access/clients/{client_id}").status_code,
                admin.post(
                    f"/api-access/clients/{client_id}/rotate", page="/api-access"
                ).status_code,
                admin.get(f"/api-access?organization={organization_id}").status_code,
                admin.post(
                    f"/api-access/keys/new?organization={organization_id}",
                    NEW_KEY,
                    page="/api-access",
                ).status_code,
            ]
        )
    assert seen == [[404] * 8, [404] * 8]
    assert key.name not in admin.get("/api-access").text
    assert count(session, ApiKey) == 1


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD])
def test_other_roles_are_not_offered_api_access(
    tenant: Tenant, signed_in: SignedIn, role: Role
) -> None:
    user = user_of(tenant, role)
    browser = signed_in(user)
    statuses = [
        browser.get(path).status_code
        for path in ("/api-access", "/api-access/clients", f"/api-access/keys/{UUID(int=1)}")
    ]
    assert statuses == [404, 404, 404]
    assert "API access" not in browser.get("/").text


def test_the_lists_can_be_searched_and_say_when_nothing_matches(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    kept, gone = make_key(session, tenant, name="Kept"), make_key(session, tenant, name="Gone")
    api_keys.revoke(session, system_caller("the owner", tenant.partner.id), gone.key.id)
    session.commit()
    shown = {
        query: [name for name in ("Kept", "Gone") if f">{name}</a>" in admin.get(query).text]
        for query in (
            "/api-access",
            "/api-access?state=in-use",
            "/api-access?state=ended",
            f"/api-access?q={kept.key.public_id[:14]}",
            "/api-access?q=nothing",
            "/api-access?kind=live",
            "/api-access?kind=test",
            "/api-access?organization=northwind+bak",
            "/api-access?organization=dental",
        )
    }
    both = ["Kept", "Gone"]
    assert list(shown.values()) == [both, ["Kept"], ["Gone"], ["Kept"], [], both, [], both, []]
    page = admin.get("/api-access?state=ended").text
    assert '<tr class="row-ended">' in page
    assert "<summary>All 4 permissions</summary>Place calls, read calls, read contacts" in page


def test_a_new_key_is_a_test_key_without_permissions_until_some_are_chosen(
    tenant: Tenant, admin: Browser
) -> None:
    path = f"/api-access/keys/new?organization={tenant.organization.id}"
    page = admin.get(path).text
    checked = re.findall(r"<input[^>]*\bchecked\b[^>]*>", page)
    assert [re.findall(r'name="(\w+)"|value="(\w+)"', each) for each in checked] == [
        [("kind", ""), ("", "test")]
    ]


def test_the_example_of_a_new_key_uses_its_first_permission(tenant: Tenant, admin: Browser) -> None:
    path = f"/api-access/keys/new?organization={tenant.organization.id}"
    typed = {**NEW_KEY, "kind": "test", "scopes": ["calls:read", "contacts:write"]}
    assert "Try it: Read the newest calls" in admin.post(path, typed, page=path).text


def test_the_guide_begins_with_the_readers_own_key_and_leads_back(
    session: Session, tenant: Tenant, admin: Browser, signed_in: Callable[[User], Browser]
) -> None:
    new = make_key(session, tenant)
    campaign = campaigns.create(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, name="Recall"
    )
    session.commit()
    guide, members = admin.get("/api/docs").text, signed_in(tenant.user).get("/api/docs").text
    own_words = (
        f"<code>{new.key.public_id[:17]}</code>",
        f"/api/v1/campaigns/{campaign.id}/contacts",
        'href="/api-access">← Back to API access</a>',
    )
    assert [words for words in own_words if words not in guide] == []
    assert [words for words in own_words if words in members] == []
    assert new.secret not in guide


def test_the_guide_begins_with_what_the_readers_newest_key_may_do(
    session: Session, tenant: Tenant, admin: Browser
) -> None:
    newest = make_key(session, tenant, scopes=["calls:read"])
    campaigns.create(
        session, tenant.caller(Role.PARTNER_ADMIN), tenant.organization.id, name="Recall"
    )
    session.commit()
    guide = unescape(admin.get("/api/docs").text)
    commands = guide.partition('id="start-call"')[2].partition("</pre>")[0]
    assert newest.key.public_id[:17] in guide
    assert "/api/v1/campaigns'" in commands
    assert "/contacts" not in commands
