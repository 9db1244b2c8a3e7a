"""Risky acts need a proof of the last ten minutes: the password, or the second factor of users who
have one."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask, url_for
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import ApiKey, PortalSession, User, utcnow
from app.policy import ROLE_PERMISSIONS, ROUTES, Access
from app.policy.step_up import STEP_UP, WITHOUT_FACTOR
from tests.fixtures.cast import Tenant
from tests.portal.conftest import PASSWORD, Browser

ROLES = (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD)


def age(session: Session, user: User, minutes: int) -> None:
    """Lets the last proof of the user's sessions lie some minutes back."""
    session.execute(
        update(PortalSession)
        .where(PortalSession.user_id == user.id)
        .values(proven_at=utcnow() - timedelta(minutes=minutes))
    )
    session.commit()


def user_of(tenant: Tenant, role: Role) -> User:
    return tenant.user if role is Role.STANDARD else tenant.staff[role]


def addresses(app: Flask) -> dict[str, tuple[str, str]]:
    """The method and a path of each act."""
    found = {}
    with app.test_request_context():
        for rule in app.url_map.iter_rules():
            if rule.endpoint in STEP_UP:
                method = "GET" if "GET" in (rule.methods or ()) else "POST"
                values: dict[str, Any] = {
                    name: uuid4() if name.endswith("_id") else Role.PARTNER_EDITOR.value
                    for name in rule.arguments
                }
                found[rule.endpoint] = method, url_for(rule.endpoint, **values)
    return found


def test_each_listed_act_is_a_route_for_users_who_are_signed_in() -> None:
    assert {
        name: ROUTES[name] for name in STEP_UP | WITHOUT_FACTOR if ROUTES[name] is Access.PUBLIC
    } == {}


@pytest.mark.parametrize("role", ROLES)
def test_each_act_asks_for_a_proof_after_ten_minutes_and_only_those_who_may_do_it(
    app: Flask,
    session: Session,
    own: Tenant,
    signed_in: Callable[[User], Browser],
    role: Role,
) -> None:
    user = user_of(own, role)
    browser = signed_in(user)
    token = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/account").text)
    assert token
    age(session, user, 11)
    answers = {}
    for endpoint, (method, path) in addresses(app).items():
        data = {"csrf_token": token.group(1)} if method == "POST" else None
        answer = browser.client.open(path, method=method, data=data)
        asks = "/account/confirm" in (answer.location or answer.text)
        answers[endpoint] = "asks" if asks else answer.status_code
    assert answers == {endpoint: "asks" if _may(role, endpoint) else 404 for endpoint in STEP_UP}


@pytest.mark.parametrize("role", ROLES)
def test_no_act_asks_right_after_signing_in(
    app: Flask,
    own: Tenant,
    signed_in: Callable[[User], Browser],
    role: Role,
) -> None:
    browser = signed_in(user_of(own, role))
    asking = {
        endpoint
        for endpoint, (method, path) in addresses(app).items()
        if method == "GET" and "/account/confirm" in (browser.get(path).location or "")
    }
    assert asking == set()


def test_other_pages_never_ask(
    session: Session, own: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(own.staff[Role.PARTNER_ADMIN])
    age(session, own.staff[Role.PARTNER_ADMIN], 300)
    paths = ("/", "/people", "/account", "/account/factors", "/settings", "/api-access")
    assert {path: browser.get(path).status_code for path in paths[:5]} == dict.fromkeys(
        paths[:5], 200
    )


def test_the_password_opens_the_page_that_was_asked_for(
    session: Session, own: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = own.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    age(session, admin, 11)
    asked = browser.get("/people/invite").location
    assert asked == "/account/confirm?next=/people/invite"
    wrong = browser.post(
        "/account/confirm", {"present": "not this one", "next": "/people/invite"}, page=asked
    )
    assert wrong.status_code == 422
    assert browser.get("/people/invite").status_code == 303
    right = browser.post(
        "/account/confirm", {"present": PASSWORD, "next": "/people/invite"}, page=asked
    )
    assert (right.status_code, right.location) == (303, "/people/invite")
    assert browser.get("/people/invite").status_code == 200


def test_a_form_sent_too_late_is_kept_and_sent_again(
    session: Session, own: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = own.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    typed = {"email": "new@example.com", "name": "Nia", "role": Role.PARTNER_EDITOR.value}
    token = _token(browser.get("/people/invite").text)
    age(session, admin, 11)
    asked = browser.client.post("/people/invite", data={"csrf_token": token, **typed})
    assert asked.status_code == 403
    seal = re.search(r'name="recovered" value="([^"]+)"', asked.text)
    assert seal
    assert session.scalar(select(func.count()).where(User.email_key == "new@example.com")) == 0
    again = browser.client.post(
        "/account/confirm",
        data={
            "csrf_token": _token(asked.text),
            "present": PASSWORD,
            "next": "/people",
            "recovered": seal.group(1),
        },
    )
    assert again.status_code == 200
    assert 'action="/people/invite"' in again.text
    assert 'name="email" value="new@example.com"' in again.text


def test_scripts_are_asked_for_nothing(own: Tenant) -> None:
    assert not [name for name in STEP_UP if not name.startswith("portal.")]


def test_a_key_is_not_made_without_a_fresh_proof(
    session: Session, own: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    admin = own.staff[Role.PARTNER_ADMIN]
    browser = signed_in(admin)
    token = _token(browser.get("/account").text)
    age(session, admin, 11)
    browser.client.post("/api-access/keys/new", data={"csrf_token": token, "name": "Key"})
    assert session.scalar(select(func.count()).select_from(ApiKey)) == 0


def _may(role: Role, endpoint: str) -> bool:
    needed = ROUTES[endpoint]
    return isinstance(needed, Access) or needed in ROLE_PERMISSIONS[role]


def _token(page: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert found
    return found.group(1)
