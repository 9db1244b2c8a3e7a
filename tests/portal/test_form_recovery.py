"""A form whose session or token had ended: what was typed is kept, and sent again on a click."""

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import delete
from sqlalchemy.orm import Session
from wtforms import Form, PasswordField

from app import portal
from app.models import PortalSession, User
from app.portal.auth.form_recovery import MAX_CHARACTERS, SECRETS
from app.services import partners
from app.services.auth import sessions
from tests.fixtures.browser_session import give_session
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import PASSWORD, Browser

SignedIn = Callable[[User], Browser]

OURS = {"Sec-Fetch-Site": "same-origin"}
NAME = "Olga <b>Łódź</b> \"&' 'x"


def hidden(html: str) -> dict[str, str]:
    """The hidden fields of a page, the last of each name."""
    found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', html)
    return {name: unescape(value) for name, value in found}


def action(html: str) -> str:
    found = re.search(r'<form[^>]* action="([^"]+)"', html)
    assert found
    return unescape(found[1])


def send(client: FlaskClient, path: str, typed: Mapping[str, str], **headers: str) -> str:
    answer = client.post(path, data=typed, headers=OURS | headers)
    assert answer.status_code == 401
    return answer.text


@pytest.fixture
def expired_browser(tenant: Tenant, signed_in: SignedIn, session: Session) -> Browser:
    """A browser whose session has run out since its page was opened."""
    browser = signed_in(tenant.user)
    browser.get("/account")
    session.execute(delete(PortalSession))
    session.commit()
    return browser


def test_a_form_sent_while_the_partner_is_suspended_leads_to_the_paused_portal(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    browser = signed_in(tenant.user)
    browser.sign_in(tenant.user.email, path=f"/p/{tenant.partner.slug}/sign-in?show=1")
    partners.suspend(session, OPERATOR, tenant.partner.id)
    session.commit()
    answer = browser.client.post("/account", data={"name": "Ada"}, headers=OURS)
    assert (answer.status_code, answer.location) == (303, f"/p/{tenant.partner.slug}/sign-in")
    page = browser.get(answer.location).text
    assert "This portal is paused" in page
    assert f"If you work for {tenant.partner.name}, contact the provider" in page


def test_a_form_is_sent_after_signing_in_again(
    expired_browser: Browser, tenant: Tenant, session: Session
) -> None:
    typed = {"name": NAME, "timezone": "Asia/Tokyo", "version": "1", "csrf_token": "old"}
    ended = send(expired_browser.client, "/account", typed)
    assert "<h1>Your session has ended</h1>" in ended
    before = tenant.user.name
    assert before is None
    form = {"email": tenant.user.email, "password": PASSWORD}
    wrong = expired_browser.client.post(
        action(ended), data=hidden(ended) | form | {"password": "wrong"}, headers=OURS
    )
    assert wrong.status_code == 422
    again = expired_browser.client.post(
        action(wrong.text), data=hidden(wrong.text) | form, headers=OURS
    )
    assert again.status_code == 200
    assert "You are signed in again" in again.text
    assert f"You are signed in as {tenant.user.email}." in again.text
    assert action(again.text) == "/account"
    fields = hidden(again.text)
    assert {name: fields[name] for name in ("name", "timezone", "version")} == {
        "name": NAME,
        "timezone": "Asia/Tokyo",
        "version": "1",
    }
    done = expired_browser.client.post("/account", data=fields, headers=OURS)
    assert (done.status_code, done.location) == (303, "/account")
    session.refresh(tenant.user)
    assert (tenant.user.name, tenant.user.timezone) == (NAME.strip(), "Asia/Tokyo")


def test_the_pages_are_in_the_brand_and_escape_the_kept_values(
    expired_browser: Browser, tenant: Tenant, session: Session
) -> None:
    tenant.partner.product_name = "Northwind Voice"
    session.commit()
    expired_browser.client.set_cookie("portal_partner", tenant.partner.slug)
    ended = send(expired_browser.client, "/account", {"name": NAME})
    assert "· Northwind Voice</title>" in ended
    form = {"email": tenant.user.email, "password": PASSWORD}
    again = expired_browser.client.post(action(ended), data=hidden(ended) | form, headers=OURS).text
    assert "<b>Łódź" not in again
    assert "&lt;b&gt;Łódź" in again


def test_passwords_are_never_kept(expired_browser: Browser, tenant: Tenant) -> None:
    typed = {
        "current_password": PASSWORD,
        "password": "a new one of mine",
        "again": "a new one of mine",
    }
    ended = send(expired_browser.client, "/account/password", typed)
    form = {"email": tenant.user.email, "password": PASSWORD}
    again = expired_browser.client.post(action(ended), data=hidden(ended) | form, headers=OURS).text
    assert "a new one of mine" not in ended + again
    assert PASSWORD not in ended + again
    assert hidden(again).keys() == {"csrf_token"}


def test_every_password_field_is_recognised() -> None:
    names = set()
    for module in pkgutil.walk_packages(portal.__path__, "app.portal."):
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and issubclass(kind, Form) and kind is not Form:
                unbound = ((n, getattr(kind, n)) for n in dir(kind) if not n.startswith("_"))
                names |= {n for n, f in unbound if getattr(f, "field_class", None) is PasswordField}
    assert names == SECRETS


def test_a_user_who_signed_in_elsewhere_continues_without_a_password(
    expired_browser: Browser, tenant: Tenant, session: Session
) -> None:
    ended = send(expired_browser.client, "/account", {"name": "Olga"})
    token = sessions.create(session, tenant.user, lifetime=timedelta(hours=1), host="localhost")
    session.commit()
    give_session(expired_browser.client, token)
    again = expired_browser.client.post(action(ended), data=hidden(ended), headers=OURS)
    assert (again.status_code, hidden(again.text)["name"]) == (200, "Olga")


@pytest.mark.parametrize("seal", ["", "x", "eyJhIjoxfQ.aSBhbQ.not-sealed-by-us"])
def test_only_a_sealed_form_of_the_portal_is_sent(
    browser: Browser, tenant: Tenant, seal: str
) -> None:
    form = {"email": tenant.user.email, "password": PASSWORD, "recovered": seal}
    answer = browser.post("/sign-in/again", form)
    assert (answer.status_code, answer.location) == (303, "/")


def test_a_seal_ends_after_some_hours(
    expired_browser: Browser, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = send(expired_browser.client, "/account", {"name": "Olga"})
    monkeypatch.setattr("app.portal.auth.form_recovery.RECOVERABLE_SECONDS", -1)
    form = {"email": tenant.user.email, "password": PASSWORD}
    answer = expired_browser.client.post(action(ended), data=hidden(ended) | form, headers=OURS)
    assert (answer.status_code, answer.location) == (303, "/")


def test_a_form_from_another_site_is_not_kept(expired_browser: Browser) -> None:
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
    ):
        answer = expired_browser.client.post("/account", data={"name": "Eve"}, headers=headers)
        assert answer.status_code == 403
        assert "Eve" not in answer.text


def test_a_form_too_large_to_keep_leads_to_sign_in(expired_browser: Browser) -> None:
    answer = expired_browser.client.post(
        "/account", data={"name": "x" * (MAX_CHARACTERS + 1)}, headers=OURS
    )
    assert (answer.status_code, answer.location) == (303, "/sign-in")


def test_a_form_without_a_valid_token_can_be_sent_again(
    tenant: Tenant, signed_in: SignedIn, session: Session
) -> None:
    browser = signed_in(tenant.user)
    typed = {"name": "Olga", "timezone": "", "csrf_token": "old"}
    refused = browser.client.post("/account", data=typed, headers=OURS)
    assert refused.status_code == 403
    assert "<h1>This page has expired</h1>" in refused.text
    session.refresh(tenant.user)
    assert tenant.user.name is None
    sent = browser.client.post(action(refused.text), data=hidden(refused.text), headers=OURS)
    assert sent.status_code == 303
    session.refresh(tenant.user)
    assert tenant.user.name == "Olga"


def test_an_old_sign_in_page_asks_for_the_password_once_more(
    browser: Browser, tenant: Tenant
) -> None:
    typed = {"email": tenant.user.email, "password": PASSWORD, "csrf_token": "old"}
    refused = browser.client.post("/sign-in", data=typed, headers=OURS)
    assert refused.status_code == 403
    assert PASSWORD not in refused.text
    sent = browser.client.post("/sign-in", data=hidden(refused.text), headers=OURS)
    assert sent.status_code == 422
    assert f'value="{tenant.user.email}"' in sent.text


def test_the_back_button_after_a_form_was_sent_again_opens_the_forms_page(
    expired_browser: Browser, tenant: Tenant
) -> None:
    ended = send(expired_browser.client, "/account", {"name": "Ada"})
    form = {"email": tenant.user.email, "password": PASSWORD}
    again = expired_browser.client.post(action(ended), data=hidden(ended) | form, headers=OURS).text
    assert ' data-address="/account"' in again.partition("<head>")[0]


def test_a_form_is_sent_again_with_its_query_parameters(
    expired_browser: Browser, tenant: Tenant
) -> None:
    ended = send(
        expired_browser.client, "/account?from=menu&x=%2F%2Fevil.example", {"name": "Olga"}
    )
    form = {"email": tenant.user.email, "password": PASSWORD}
    again = expired_browser.client.post(action(ended), data=hidden(ended) | form, headers=OURS).text
    assert action(again) == "/account?from=menu&x=%2F%2Fevil.example"


def test_a_fragment_keeps_the_page_and_says_so(
    expired_browser: Browser, app: Flask, tenant: Tenant
) -> None:
    answer = expired_browser.client.post(
        "/account", data={"name": "Olga"}, headers=OURS | {"HX-Request": "true"}
    )
    assert (answer.status_code, answer.text) == (401, "")
    assert "What you typed stays here." in answer.headers["HX-Trigger"]
