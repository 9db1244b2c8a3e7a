"""Refused sign-ins and actions on the history screen."""

import re
from collections.abc import Callable

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import AuditEntry, User
from app.services.audit import refusals
from app.services.audit.refusals import Refusal
from app.services.auth import throttle
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
SIGN_INS = "/audit?kind=sign_in"


def whats(page: str) -> list[str]:
    """What the rows of a history page say, without marks."""
    cells = re.findall(r'<td class="wrap what">(.*?)</td>', page, re.DOTALL)
    shown = (re.sub(r"<[^>]+>", " ", cell.replace("<wbr>", "")) for cell in cells)
    return [" ".join(each.split()) for each in shown]


def test_refused_sign_ins_are_shown_to_the_partners_administrators(
    browser: Browser, tenant: Tenant, other_tenant: Tenant, signed_in: SignedIn
) -> None:
    page = f"/p/{tenant.partner.slug}/sign-in"
    assert browser.sign_in(tenant.user.email, "wrong", page).status_code == 422
    shown = signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(SIGN_INS).text
    [what] = whats(shown)
    assert re.sub(r"Since: \S+ \S+", "Since: …", what).startswith(
        f"Sign-in refused: {tenant.user.email} in Northwind Bakery "
        "Attempts: 1 Reason: wrong password"
    )
    assert "Not signed in" in shown
    assert whats(signed_in(other_tenant.staff[Role.PARTNER_ADMIN]).get(SIGN_INS).text) == []


def test_an_unknown_email_at_the_neutral_page_is_shown_to_the_operator_alone(
    browser: Browser, tenant: Tenant, operator: Browser, signed_in: SignedIn
) -> None:
    browser.sign_in("stranger@nowhere.example", "wrong")
    shown = operator.get(SIGN_INS).text
    assert [what.partition(" Since:")[0] for what in whats(shown)] == [
        "Sign-in refused Attempts: 1 Reason: unknown email"
    ]
    assert "nowhere.example" not in shown
    assert whats(signed_in(tenant.staff[Role.PARTNER_ADMIN]).get(SIGN_INS).text) == []


def test_the_filter_shows_sign_ins_and_leaves_changes_out(
    browser: Browser, tenant: Tenant, signed_in: SignedIn
) -> None:
    admin = tenant.staff[Role.PARTNER_ADMIN]
    browser.sign_in(admin.email)
    browser.post("/account", {"name": "Ada", "timezone": "", "version": "1"}, page="/account")
    shown = signed_in(admin)
    assert whats(shown.get(SIGN_INS).text) == ["Signed in"]
    assert len(whats(shown.get("/audit").text)) == 2


def test_a_change_that_a_role_does_not_allow_is_in_the_history(
    tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    editor = tenant.staff[Role.PARTNER_EDITOR]
    browser = signed_in(editor)
    assert browser.post(f"/users/{tenant.user.id}/suspend", page="/account").status_code == 404
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "request.refused")).one()
    found = (entry.partner_id, entry.actor_id, entry.after["reason"])
    assert found == (tenant.partner.id, editor.id, "insufficient_scope")


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/users/{user}/suspend", "Benutzer einladen, ändern und sperren"),
        ("/pricing/plans/customerPlusPlan/show", "Tarife und Preise ändern"),
    ],
)
def test_the_history_says_in_the_readers_words_what_was_not_allowed(
    tenant: Tenant, session: Session, signed_in: SignedIn, path: str, shown: str
) -> None:
    signed_in(tenant.staff[Role.PARTNER_EDITOR]).post(
        path.format(user=tenant.user.id), page="/account"
    )
    admin = tenant.staff[Role.PARTNER_ADMIN]
    admin.language = "de"
    session.commit()
    [what] = whats(signed_in(admin).get("/audit").text)
    assert what.startswith(f"Aktion nicht erlaubt: {shown} ")


def test_an_entry_of_a_refused_action_from_an_earlier_version_stays_readable(
    tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    earlier = Refusal(
        action=refusals.REQUEST,
        reason="insufficient_scope",
        target_type="request",
        target_id="suspend_user",
        target="suspend user",
        partner_id=tenant.partner.id,
    )
    refusals.record_refusals(session, tenant.caller(Role.PARTNER_EDITOR), [earlier])
    session.commit()
    [what] = whats(signed_in(tenant.staff[Role.PARTNER_ADMIN]).get("/audit").text)
    assert what.startswith("Action not allowed: suspend user ")


def test_a_wrong_current_password_is_in_the_history(
    tenant: Tenant, session: Session, signed_in: SignedIn
) -> None:
    form = {"current_password": "wrong", "password": "a long way to the sea", "again": "x"}
    form["again"] = form["password"]
    answer = signed_in(tenant.user).post("/account/password", form, page="/account")
    assert answer.status_code == 422
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "password.refused")).one()
    found = (entry.partner_id, entry.actor_id, entry.target, entry.after["reason"])
    assert found == (tenant.partner.id, tenant.user.id, tenant.user.email, "wrong_password")


@pytest.mark.usefixtures("clock")
def test_a_browser_that_has_signed_in_is_not_delayed_by_guesses_of_others(
    make_app: Callable[..., Flask], tenant: Tenant
) -> None:
    app = make_app(failed_sign_ins_account=2)
    at_home, stranger = Browser(app.test_client()), Browser(app.test_client())
    at_home.sign_in(tenant.user.email)
    at_home.post("/sign-out", page="/")
    statuses = [stranger.sign_in(tenant.user.email, "wrong").status_code for _turn in range(3)]
    assert statuses == [422, 422, 429]
    assert stranger.sign_in(tenant.user.email).status_code == 429
    assert at_home.sign_in(tenant.user.email).status_code == 303


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_cookie_of_a_known_browser_is_hidden_from_scripts_and_opens_nothing(
    app: Flask, tenant: Tenant, scheme: str
) -> None:
    name = "__Host-portal_device" if scheme == "https" else "portal_device"
    browser = Browser(app.test_client())
    base = f"{scheme}://localhost"
    shown = browser.client.get("/sign-in", base_url=base).text
    token = re.findall(r'name="csrf_token" value="([^"]+)"', shown)[0]
    form = {"csrf_token": token, "email": tenant.user.email, "password": "correct horse battery"}
    answer = browser.client.post(
        "/sign-in", data=form, base_url=base, headers={"Referer": f"{base}/sign-in"}
    )
    [cookie] = [c for c in answer.headers.getlist("Set-Cookie") if c.startswith(name)]
    flags = cookie.split("; ")[1:]
    assert {"HttpOnly", "Path=/", "SameSite=Lax"} <= set(flags)
    assert ("Secure" in flags) is (scheme == "https")
    alone = app.test_client()
    alone.set_cookie(name, cookie.split("=", 1)[1].split(";")[0], secure=scheme == "https")
    assert alone.get("/", base_url=base).status_code == 303


def test_a_wait_is_described_in_seconds_or_minutes() -> None:
    assert [throttle.retry_label(seconds) for seconds in (1, 59, 60, 61, 900)] == [
        "in 1 second",
        "in 59 seconds",
        "in 1 minute",
        "in 2 minutes",
        "in 15 minutes",
    ]
