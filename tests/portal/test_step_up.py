"""Risky acts need a proof of the last ten minutes: the password, or the second factor of users who
have one."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask, url_for
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role
from app.models import (
    ApiKey,
    AuthenticatorApp,
    Passkey,
    PortalSession,
    ThrottleCounter,
    User,
    utcnow,
)
from app.policy import ROLE_PERMISSIONS, ROUTES, OpenAccess
from app.policy.step_up import PERSONAL_LISTS, STEP_UP, WITHOUT_FACTOR, needs_proof
from app.portal.record_lists.registry import LISTS
from app.services.auth import passwords
from app.services.auth.password_checks import PasswordChecks
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import PASSWORD, Browser, user_of

ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD)


def age(session: Session, user: User, minutes: int) -> None:
    """Lets the last proof of the user's sessions lie some minutes back."""
    session.execute(
        update(PortalSession)
        .where(PortalSession.user_id == user.id)
        .values(proven_at=utcnow() - timedelta(minutes=minutes))
    )
    session.commit()


def addresses(app: Flask) -> dict[str, tuple[str, str]]:
    """The method and a path of each act."""
    found = {}
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            if rule.endpoint in STEP_UP:
                method = "GET" if "GET" in (rule.methods or ()) else "POST"
                others = {"role": Role.PARTNER_EDITOR.value, "ending": "csv"}
                values: dict[str, Any] = {
                    name: others.get(name, uuid4()) for name in rule.arguments
                }
                found[rule.endpoint] = method, url_for(rule.endpoint, **values)
    return found


def test_each_risky_action_is_a_route_for_users_who_are_signed_in() -> None:
    assert {
        name: ROUTES[name] for name in STEP_UP | WITHOUT_FACTOR if ROUTES[name] is OpenAccess.PUBLIC
    } == {}


@pytest.mark.alternating
@pytest.mark.parametrize("role", ROLES)
def test_each_risky_action_asks_permitted_users_for_a_proof_after_ten_minutes(
    app: Flask,
    session: Session,
    tenant: Tenant,
    signed_in: Callable[[User], Browser],
    role: Role,
) -> None:
    user = user_of(tenant, role)
    browser = signed_in(user)
    token = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/account").text)
    assert token
    age(session, user, 11)
    answers = {}
    for endpoint, (method, path) in addresses(app).items():
        data = {"csrf_token": token.group(1)} if method == "POST" else None
        answer = browser.client.open(path, method=method, data=data, buffered=True)
        asks = "/account/confirm" in (answer.location or answer.text)
        answers[endpoint] = "asks" if asks else answer.status_code
    assert answers == {endpoint: "asks" if _may(role, endpoint) else 404 for endpoint in STEP_UP}


@pytest.mark.parametrize("role", ROLES)
def test_no_risky_action_asks_for_a_proof_right_after_signing_in(
    app: Flask,
    tenant: Tenant,
    signed_in: Callable[[User], Browser],
    role: Role,
) -> None:
    browser = signed_in(user_of(tenant, role))
    asking = {
        endpoint
        for endpoint, (method, path) in addresses(app).items()
        if method == "GET" and "/account/confirm" in (browser.get(path).location or "")
    }
    assert asking == set()


def test_other_pages_never_ask_for_a_proof(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    age(session, tenant.staff[Role.PARTNER_ADMIN], 300)
    paths = ("/", "/users", "/account", "/account/factors", "/settings", "/api-access")
    for path in paths:
        answer = browser.get(path)
        assert answer.location is None
        assert "<h1>Confirm" not in answer.text
        assert answer.status_code == 200


def test_the_password_opens_the_page_that_was_asked_for(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    age(session, admin, 11)
    asked = browser.get("/users/invite").location
    assert asked == "/account/confirm?next=/users/invite"
    wrong = browser.post(
        "/account/confirm",
        {"current_password": "not this one", "next": "/users/invite"},
        page=asked,
    )
    assert wrong.status_code == 422
    assert browser.get("/users/invite").status_code == 303
    right = browser.post(
        "/account/confirm", {"current_password": PASSWORD, "next": "/users/invite"}, page=asked
    )
    assert (right.status_code, right.location) == (303, "/users/invite")
    assert browser.get("/users/invite").status_code == 200
    assert session.scalars(select(ThrottleCounter.failures)).all() == [0]


@pytest.mark.usefixtures("clock")
def test_passwords_sent_side_by_side_get_no_more_tries_than_one_by_one(
    app: Flask,
    session: Session,
    settings: Settings,
    tenant: Tenant,
    signed_in: Callable[[User], Browser],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strict = {
        "settings": settings.model_copy(update={"failed_sign_ins": 1}),
        "password_checks": PasswordChecks(2, 0),
    }
    for name, value in strict.items():
        monkeypatch.setitem(app.extensions, name, value)
    admin, page = tenant.staff[Role.PARTNER_ADMIN], "/account/confirm?next=/users/invite"
    first, second = signed_in(admin), signed_in(admin)
    age(session, admin, 11)
    compared: list[str] = []
    statuses: list[int] = []

    def send(browser: Browser, password: str) -> None:
        form = {"current_password": password}
        statuses.append(browser.post("/account/confirm", form, page=page).status_code)

    def compare(_hash: str | None, password: str) -> bool:
        compared.append(password)
        if password == "first":
            with ThreadPoolExecutor(1) as worker:
                worker.submit(send, second, "second").result()
        return False

    monkeypatch.setattr(passwords, "verify", compare)
    send(first, "first")
    assert (compared, statuses) == (["first"], [429, 422])


def test_cancelling_leads_back_to_the_page_before(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    age(session, admin, 11)
    asked = "/account/confirm?next=/users/invite"

    def cancel(page: str) -> str:
        found = re.search(r'<a class="btn btn-plain" href="([^"]*)">Cancel', page)
        assert found
        return found.group(1)

    for before, back in (
        ("https://localhost/users?status=active", "/users?status=active"),
        ("https://localhost/", "/"),
        ("https://localhost/users/invite", "/users"),
        ("https://localhost/account/confirm?next=/users", "/users"),
        ("https://localhost/nowhere", "/users"),
        (None, "/users"),
    ):
        headers = {"Referer": before} if before else {}
        assert cancel(browser.get(asked, headers=headers).text) == back
    wrong = {
        "current_password": "not this one",
        "next": "/users/invite",
        "back": "/users?status=active",
    }
    again = browser.post("/account/confirm", wrong, page=asked)
    assert (again.status_code, cancel(again.text)) == (422, "/users?status=active")
    elsewhere = wrong | {"back": "//evil.example/users"}
    assert cancel(browser.post("/account/confirm", elsewhere, page=asked).text) == "/"
    assert "“Invite user” needs a fresh confirmation." in browser.get(asked).text
    for page, name in (
        ("/settings/personal-data", "Personal data"),
        ("/settings/sign-in", "Sign-in"),
        ("/personal-data", "Find a person’s data"),
    ):
        shown = browser.get(f"/account/confirm?next={page}").text
        assert f"“{name}” needs a fresh confirmation." in shown


def test_a_form_sent_too_late_is_kept_and_sent_again(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    typed = {"email": "new@example.com", "name": "Nia", "role": Role.PARTNER_EDITOR.value}
    token = _token(browser.get("/users/invite").text)
    age(session, admin, 11)
    asked = browser.client.post("/users/invite", data={"csrf_token": token, **typed})
    assert asked.status_code == 403
    assert "“Invite user” needs a fresh confirmation." in asked.text
    seal = re.search(r'name="recovered" value="([^"]+)"', asked.text)
    assert seal
    assert session.scalar(select(func.count()).where(User.email_key == "new@example.com")) == 0
    again = browser.client.post(
        "/account/confirm",
        data={
            "csrf_token": _token(asked.text),
            "current_password": PASSWORD,
            "next": "/users",
            "recovered": seal.group(1),
        },
    )
    assert again.status_code == 200
    assert "<h1>Confirmed</h1>" in again.text
    assert 'action="/users/invite" novalidate data-send-now' in again.text
    assert 'name="email" value="new@example.com"' in again.text


def test_files_of_lists_about_people_ask_for_a_proof_and_others_do_not(
    app: Flask, session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    age(session, admin, 11)
    assert LISTS.keys() >= PERSONAL_LISTS
    for ending in ("csv", "xlsx"):
        asking = set()
        for name in LISTS:
            wanted = f"/lists/{name}/export.{ending}?campaign_id={uuid4()}"
            if (browser.get(wanted).location or "").startswith("/account/confirm?next=/lists/"):
                asking.add(name)
        assert asking == PERSONAL_LISTS


def test_after_the_proof_for_a_file_a_page_starts_it_and_leads_back(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    age(session, admin, 11)
    path, before = "/lists/calls/export.xlsx?status=failed", "/calls?status=failed"
    asked = browser.get(path).location
    assert "“Export” needs" in browser.get(asked).text
    form = {"current_password": PASSWORD, "next": path, "back": before}
    page = browser.post("/account/confirm", form, page=asked)
    assert f'<meta http-equiv="refresh" content="0;url={path}">' in page.text
    assert f'<a class="btn btn-primary" href="{before}">Back to Calls</a>' in page.text
    assert browser.get(path).headers["Content-Disposition"].startswith("attachment")


REVEALING = re.compile(r"\.(download|export)_")
WITHOUT_PEOPLE = {
    "portal.record_lists.export_list": "by the list's name, see PERSONAL_LISTS",
    "portal.record_lists.export_selected": "by the list's name, see PERSONAL_LISTS",
    "portal.usage.download_usage": "figures of organizations",
    "portal.billing.download_costs": "figures of organizations",
    "portal.report.download_month": "figures of organizations",
    "portal.billing.download_statement": "figures of an organization",
    "portal.billing.download_statement_pdf": "figures of an organization",
    "portal.calls.download_recording": "is played on the page of its call",
    "portal.personal_data.download_proof": "names no one: that something was erased, and when",
    "portal.spending.download_rates": "rates of calls",
    "portal.uploads.download_sample": "made-up contacts",
    "portal.organization_templates.download_sample": "made-up organizations",
    "portal.operator.download_mail_file": "reports, which hold figures",
    "portal.organization_templates.download_corrected_file": "rows that the user has just uploaded",
}


def test_each_file_asks_for_a_proof_unless_it_names_no_people() -> None:
    files = {name for name in ROUTES if name.startswith("portal.") and REVEALING.search(name)}
    assert files - STEP_UP == WITHOUT_PEOPLE.keys()


ENDING = re.compile(r"\.(confirm_)?(rotate|revoke|remove|archive|deactivate|delete)_")


def test_each_end_of_a_credential_or_account_asks_for_a_proof() -> None:
    about = (
        *("api_access.", "carriers.", "identity_providers.", "pricing."),
        *("scim.", "users.", "webhooks."),
    )
    wanted = {
        name
        for name in ROUTES
        if ENDING.search(name)
        and name.startswith("portal.")
        and name.removeprefix("portal.").startswith(about)
    }
    assert len(wanted) >= 20
    assert wanted - STEP_UP == set()


OF_ONE_ROW = {
    ("organizations", "suspend"): "portal.organizations.suspend_organization",
    ("organizations", "reactivate"): "portal.organizations.reactivate_organization",
    ("organizations", "plan"): "portal.organizations.save_plan",
    ("organizations", "group"): "portal.organization_groups.save_group",
    ("users", "resend"): "portal.users.resend_invitation",
    ("users", "suspend"): "portal.users.suspend_user",
    ("users", "reactivate"): "portal.users.reactivate_user",
    ("campaigns", "pause"): "portal.campaigns.pause_calling",
    ("campaigns", "resume"): "portal.campaigns.start_calling",
    ("campaigns", "archive"): "portal.campaigns.archive_campaign",
    ("contacts", "remove"): "portal.contacts.remove_contact",
    ("contacts", "restore"): "portal.contacts.restore_contact",
    ("contacts", "do-not-call"): "portal.contacts.add_to_do_not_call",
    ("calls", "cancel"): "portal.calls.cancel_call",
    ("uploads", "delete-data"): "portal.uploads.delete_upload_data",
    ("campaign-uploads", "delete-data"): "portal.uploads.delete_upload_data",
    ("assistants", "switch-off"): "portal.assistants.save_assistant",
    ("assistants", "switch-on"): "portal.assistants.save_assistant",
    ("do-not-call", "remove"): "portal.do_not_call.remove_number",
    ("webhooks", "pause"): "portal.webhooks.pause_webhook",
    ("webhooks", "resume"): "portal.webhooks.resume_webhook",
    ("webhooks", "remove"): "portal.webhooks.remove_webhook",
}
"""The bulk actions by list, with what does the same to one row."""


def test_several_rows_need_a_proof_if_one_does() -> None:
    asking = {
        (name, action.name): needs_proof(
            "portal.record_lists.apply_bulk_action", {"name": name, "action": action.name}
        )
        for name, definition in LISTS.items()
        for action in (definition.bulk.actions if definition.bulk else ())
    }
    assert asking == {pair: one in STEP_UP for pair, one in OF_ONE_ROW.items()}


def test_pages_with_a_secret_to_type_ask_for_the_proof_before_it_is_typed(
    app: Flask, tenant: Tenant, signed_in: Callable[[User], Browser], session: Session
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(user)
    age(session, user, 20)
    asked = [browser.get(f"/carriers/accounts/{kind}").location for kind in ("account", "trunk")]
    assert asked == [
        f"/account/confirm?next=/carriers/accounts/{kind}" for kind in ("account", "trunk")
    ]


INVITING = re.compile(r"\.(invite_users?|create_(partner|organizations?)(_from_template)?)$")


def test_each_form_that_invites_users_asks_for_a_proof() -> None:
    inviting = {name for name in ROUTES if name.startswith("portal.") and INVITING.search(name)}
    assert len(inviting) >= 4
    assert inviting - STEP_UP == set()


@pytest.mark.parametrize("factor", ["none", "app", "passkey"])
@pytest.mark.parametrize("role", ROLES)
def test_users_confirm_with_the_factor_that_they_have(
    app: Flask,
    session: Session,
    tenant: Tenant,
    signed_in: Callable[[User], Browser],
    role: Role,
    factor: str,
) -> None:
    user = user_of(tenant, role)
    browser = signed_in(user)
    if factor == "app":
        session.add(AuthenticatorApp(user_id=user.id, secret="x", confirmed_at=utcnow()))
    if factor == "passkey":
        given = {"credential_id": "x", "public_key": "x", "rp_id": "localhost", "name": "Laptop"}
        session.add(Passkey(user_id=user.id, credential_hash="0" * 64, **given))
    user.second_factor_at = None if factor == "none" else utcnow()
    age(session, user, 11)
    asked = {
        endpoint: browser.get(path).location
        for endpoint, (method, path) in addresses(app).items()
        if method == "GET" and _may(role, endpoint)
    }
    assert {where.partition("?")[0] for where in asked.values() if where} == {"/account/confirm"}
    page = browser.get(next(where for where in asked.values() if where)).text
    ways = [
        name for name in ('name="current_password"', 'name="code"', "data-passkey=") if name in page
    ]
    wanted = {"none": ways[:1], "app": ['name="code"'], "passkey": ['name="code"', "data-passkey="]}
    assert ways == wanted[factor]
    assert ('name="current_password"' in ways) is (factor == "none")


def test_scripts_are_never_asked_for_a_proof(tenant: Tenant) -> None:
    assert not [name for name in STEP_UP if not name.startswith("portal.")]


def test_a_key_is_not_made_without_a_fresh_proof(
    session: Session, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    token = _token(browser.get("/account").text)
    age(session, admin, 11)
    browser.client.post("/api-access/keys/new", data={"csrf_token": token, "name": "Key"})
    assert session.scalar(select(func.count()).select_from(ApiKey)) == 0


def _may(role: Role, endpoint: str) -> bool:
    needed = ROUTES[endpoint]
    return isinstance(needed, OpenAccess) or needed in ROLE_PERMISSIONS[role]


def _token(page: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert found
    return found.group(1)
