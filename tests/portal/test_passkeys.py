"""Passkeys: signing in with one alone, as second step and before risky acts."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import ValidationFailed
from app.models import AuditEntry, Passkey, PasskeyChallenge, PortalSession, User, utcnow
from app.portal.account import factor_views
from app.services.auth.sessions import caller_of
from app.services.factors import passkeys, recovery_codes
from app.services.factors.passkeys import BrowserSite, PasskeyPurpose
from app.services.identity_providers import providers
from app.services.identity_providers.providers import ProviderFields
from tests.fixtures.authenticator import PRESENT, Authenticator
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

FACTORS = "/account/factors"
SECOND_STEP = "/sign-in/second-step"


def options(browser: Browser, path: str, page: str) -> dict[str, Any]:
    answer = browser.post(path, page=page)
    assert answer.status_code == 200
    found: dict[str, Any] = answer.get_json()
    return found


def add(browser: Browser, key: Authenticator, name: str = "Laptop") -> Any:
    asked = options(browser, f"{FACTORS}/passkeys/options", FACTORS)
    data = {"answer": key.make(asked), "name": name}
    return browser.post(f"{FACTORS}/passkeys", data, page=FACTORS)


def alone(browser: Browser, key: Authenticator, **lies: Any) -> Any:
    """Send the passkey of a visitor to the sign-in page."""
    asked = options(browser, "/passkey/options?purpose=sign_in", "/sign-in")
    return browser.post("/sign-in/passkey", {"answer": key.prove(asked, **lies)}, page="/sign-in")


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


@pytest.fixture
def key() -> Authenticator:
    return Authenticator()


@pytest.fixture
def admin(tenant: Tenant, signed_in: Callable[[User], Browser], key: Authenticator) -> Browser:
    """An administrator with a passkey."""
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert "Store these codes now" in add(browser, key).text
    return browser


@pytest.fixture
def signed_out_browser(app: Flask, admin: Browser) -> Browser:
    return Browser(app.test_client())


def test_a_passkey_signs_in_without_email_and_password(
    session: Session, tenant: Tenant, signed_out_browser: Browser, key: Authenticator
) -> None:
    answer = alone(signed_out_browser, key)
    assert (answer.status_code, answer.location) == (303, "/")
    assert is_signed_in(signed_out_browser)
    factors = session.scalars(
        select(PortalSession.factor).where(PortalSession.factor.is_not(None))
    ).all()
    assert factors == ["passkey", "passkey"]  # the browser that added it, and this one
    actions = session.scalars(
        select(AuditEntry.action).where(
            AuditEntry.target_id == str(tenant.staff[Role.PARTNER_ADMIN].id)
        )
    ).all()
    assert actions == ["user.passkey_added", "user.signed_in"]


def test_a_passkey_is_the_second_step_after_the_password(
    tenant: Tenant, signed_out_browser: Browser, key: Authenticator
) -> None:
    signed_out_browser.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    assert not is_signed_in(signed_out_browser)
    asked = options(signed_out_browser, "/passkey/options?purpose=second_step", SECOND_STEP)
    signed_out_browser.post(SECOND_STEP, {"answer": key.prove(asked)}, page=SECOND_STEP)
    assert is_signed_in(signed_out_browser)


def test_a_passkey_confirms_a_risky_act(
    session: Session, tenant: Tenant, admin: Browser, key: Authenticator
) -> None:
    session.execute(update(PortalSession).values(proven_at=utcnow() - timedelta(minutes=11)))
    session.commit()
    asked = admin.get("/users/invite").location
    given = options(admin, "/passkey/options?purpose=step_up", asked)
    data = {"answer": key.prove(given), "next": "/users/invite"}
    assert admin.post("/account/confirm", data, page=asked).location == "/users/invite"
    assert admin.get("/users/invite").status_code == 200


@pytest.mark.parametrize(
    "lies",
    [
        {"origin": "https://evil.example"},
        {"type": "webauthn.create"},
        {"challenge": "AAAAAAAAAAAAAAAAAAAAAA"},
    ],
)
def test_an_answer_to_another_page_or_challenge_is_refused(
    signed_out_browser: Browser, key: Authenticator, lies: dict[str, str]
) -> None:
    assert alone(signed_out_browser, key, **lies).location == "/sign-in"
    assert "not accepted" in signed_out_browser.get("/sign-in").text
    assert not is_signed_in(signed_out_browser)


def test_an_answer_works_once(signed_out_browser: Browser, app: Flask, key: Authenticator) -> None:
    key.count = -1  # a passkey that is synchronized counts no signatures
    asked = options(signed_out_browser, "/passkey/options?purpose=sign_in", "/sign-in")
    name = app.config["SESSION_COOKIE_NAME"]
    cookie = signed_out_browser.client.get_cookie(name)
    assert cookie is not None
    answer = {"answer": key.prove(asked)}
    found = []
    for browser in (signed_out_browser, Browser(app.test_client())):
        browser.client.set_cookie(name, cookie.value)
        browser.post("/sign-in/passkey", answer, page="/sign-in")
        found.append(is_signed_in(browser))
    assert found == [True, False]


def test_an_answer_in_another_browser_is_refused(
    signed_out_browser: Browser, app: Flask, key: Authenticator
) -> None:
    asked = options(signed_out_browser, "/passkey/options?purpose=sign_in", "/sign-in")
    other = Browser(app.test_client())
    other.post("/sign-in/passkey", {"answer": key.prove(asked)}, page="/sign-in")
    assert not is_signed_in(other)


def test_an_answer_for_another_purpose_is_refused(
    tenant: Tenant, admin: Browser, key: Authenticator
) -> None:
    admin.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    asked = options(admin, "/passkey/options?purpose=step_up", "/account")
    answer = admin.post(SECOND_STEP, {"answer": key.prove(asked)}, page=SECOND_STEP)
    assert answer.status_code == 422
    assert "This passkey was not accepted. Try again." in answer.text


def test_an_answer_to_another_hosts_challenge_is_refused(
    session: Session, tenant: Tenant, key: Authenticator
) -> None:
    here, elsewhere = (
        BrowserSite(host, f"http://{host}") for host in ("localhost", "portal.example")
    )
    user = tenant.staff[Role.PARTNER_ADMIN]
    made = passkeys.ask_to_register(session, user, here, "Portal")
    passkeys.register(session, user, here, made.challenge, key.make(json.loads(made.options)), "")
    asked = passkeys.ask_to_prove(session, elsewhere, PasskeyPurpose.SIGN_IN)
    answer = key.prove(json.loads(asked.options))
    with pytest.raises(ValidationFailed):
        passkeys.prove(session, here, PasskeyPurpose.SIGN_IN, asked.challenge, answer)


def test_a_challenge_that_expired_is_refused(
    session: Session, signed_out_browser: Browser, key: Authenticator
) -> None:
    asked = options(signed_out_browser, "/passkey/options?purpose=sign_in", "/sign-in")
    session.execute(update(PasskeyChallenge).values(expires_at=utcnow() - timedelta(seconds=1)))
    session.commit()
    signed_out_browser.post("/sign-in/passkey", {"answer": key.prove(asked)}, page="/sign-in")
    assert not is_signed_in(signed_out_browser)


def test_a_device_that_did_not_check_its_user_is_refused(
    signed_out_browser: Browser, key: Authenticator
) -> None:
    key.flags = PRESENT
    alone(signed_out_browser, key)
    assert not is_signed_in(signed_out_browser)


def test_a_passkey_with_a_lower_counter_is_refused_as_a_copy(
    app: Flask, signed_out_browser: Browser, key: Authenticator
) -> None:
    key.count = 10
    alone(signed_out_browser, key)
    assert is_signed_in(signed_out_browser)
    key.count = 3
    other = Browser(app.test_client())
    alone(other, key)
    assert not is_signed_in(other)


def test_a_passkey_of_another_user_is_no_second_step(
    tenant: Tenant, signed_in: Callable[[User], Browser], signed_out_browser: Browser
) -> None:
    theirs = Authenticator()
    add(signed_in(tenant.staff[Role.PARTNER_EDITOR]), theirs)
    signed_out_browser.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    asked = options(signed_out_browser, "/passkey/options?purpose=second_step", SECOND_STEP)
    answer = signed_out_browser.post(SECOND_STEP, {"answer": theirs.prove(asked)}, page=SECOND_STEP)
    assert answer.status_code == 422
    assert "This passkey was not accepted. Try again." in answer.text
    assert signed_out_browser.get("/account").status_code == 303


def test_a_removed_passkey_is_refused_and_the_password_is_enough(
    session: Session,
    tenant: Tenant,
    admin: Browser,
    signed_out_browser: Browser,
    key: Authenticator,
) -> None:
    passkey = session.scalars(select(Passkey)).one()
    path = f"{FACTORS}/passkeys/{passkey.id}/remove"
    assert f"Remove the passkey {passkey.name}?" in admin.get(path).text
    admin.post(path, page=path)
    alone(signed_out_browser, key)
    assert not is_signed_in(signed_out_browser)
    signed_out_browser.sign_in(tenant.staff[Role.PARTNER_ADMIN].email)
    assert is_signed_in(signed_out_browser)


def test_lock_out_drill_a_lost_passkey_is_removed_after_a_recovery_code_signed_in(
    session: Session, tenant: Tenant, signed_out_browser: Browser
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    codes = recovery_codes.replace(session, user.id)
    session.commit()
    signed_out_browser.sign_in(user.email)
    page = "/sign-in/second-step"
    assert signed_out_browser.post(page, {"code": "wrong"}, page=page).status_code == 422
    assert signed_out_browser.post(page, {"code": codes[0]}, page=page).status_code == 303
    passkey = session.scalars(select(Passkey)).one()
    removed = signed_out_browser.post(f"{FACTORS}/passkeys/{passkey.id}/remove", page=FACTORS)
    assert (removed.status_code, is_signed_in(signed_out_browser)) == (303, True)
    assert session.scalars(select(Passkey)).all() == []


def test_a_passkey_of_another_user_is_not_removed(
    session: Session, tenant: Tenant, admin: Browser, signed_in: Callable[[User], Browser]
) -> None:
    passkey = session.scalars(select(Passkey)).one()
    editor = signed_in(tenant.staff[Role.PARTNER_EDITOR])
    path = f"{FACTORS}/passkeys/{passkey.id}/remove"
    assert editor.post(path, page=FACTORS).status_code == 404
    assert passkey.name in admin.get(FACTORS).text


def test_a_suspended_user_does_not_sign_in_with_a_passkey(
    session: Session, tenant: Tenant, signed_out_browser: Browser, key: Authenticator
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    session.execute(update(User).where(User.id == user.id).values(status="suspended"))
    session.commit()
    alone(signed_out_browser, key)
    assert not is_signed_in(signed_out_browser)


@pytest.mark.parametrize("answer", ["", "no json", "[]", "{}", '{"id": "?"}', '{"id": 5}'])
def test_an_invalid_answer_is_refused(signed_out_browser: Browser, answer: str) -> None:
    options(signed_out_browser, "/passkey/options?purpose=sign_in", "/sign-in")
    sent = signed_out_browser.post("/sign-in/passkey", {"answer": answer}, page="/sign-in")
    assert (sent.status_code, is_signed_in(signed_out_browser)) == (303, False)


def test_the_same_passkey_is_not_added_twice(admin: Browser, key: Authenticator) -> None:
    assert add(admin, key).status_code == 422
    assert len(re.findall("Remove the passkey", admin.get(FACTORS).text)) == 1


def test_where_a_company_account_is_required_nothing_else_signs_staff_in(
    app: Flask,
    session: Session,
    tenant: Tenant,
    signed_in: Callable[[User], Browser],
    key: Authenticator,
) -> None:
    editor, waiting = tenant.staff[Role.PARTNER_EDITOR], Browser(app.test_client())
    add(signed_in(editor), key)
    waiting.sign_in(editor.email)
    asked = options(waiting, "/passkey/options?purpose=second_step", SECOND_STEP)
    fields = ProviderFields("Acme ID", "https://id.example", "portal", "s", required_for_staff=True)
    providers.add(session, caller_of(tenant.staff[Role.PARTNER_ADMIN]), ["a key"], fields)
    session.commit()
    refusal = "Your company requires its own account. Sign in with Acme ID."
    waiting.post(SECOND_STEP, {"answer": key.prove(asked)}, page=SECOND_STEP)
    assert not is_signed_in(waiting)
    visitor = Browser(app.test_client())
    assert alone(visitor, key).location == "/sign-in"
    assert refusal in visitor.get("/sign-in").text
    assert not is_signed_in(visitor)
    later = Browser(app.test_client())
    assert refusal in later.sign_in(editor.email).text
    assert later.get(SECOND_STEP).status_code == 303


@pytest.mark.parametrize(
    ("host", "has_passkeys"),
    [
        ("portal.example.com", True),
        ("localhost:8000", True),
        ("127.0.0.1:8000", False),
        ("[::1]:8000", False),
    ],
)
def test_browsers_have_no_passkeys_at_an_ip_address(host: str, *, has_passkeys: bool) -> None:
    assert BrowserSite(host, f"http://{host}").has_passkeys is has_passkeys


def test_a_page_at_an_ip_address_says_where_passkeys_work(
    monkeypatch: pytest.MonkeyPatch, tenant: Tenant, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(tenant.staff[Role.PARTNER_ADMIN])
    assert "Add passkey" in browser.get(FACTORS).text
    monkeypatch.setattr(factor_views, "site", lambda: BrowserSite("127.0.0.1", "http://127.0.0.1"))
    page = browser.get(FACTORS).text
    assert "Passkeys don’t work at the IP address 127.0.0.1." in page
    assert "Add passkey" not in page
