"""A partner's customers never read the platform's own name."""

from collections.abc import Callable
from html import unescape

import pytest
from flask import Flask
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import User
from app.policy import ROUTES
from app.services import mails
from app.services.branding.brand import NEUTRAL_NAME, of_partner
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]

PUBLIC = ("sign-in", "chat", "forgot-password", "password/no-such-link", "invitation/no-such-link")
NAMES = (NEUTRAL_NAME, "partner-portal")


@pytest.fixture
def branded_tenant(tenant: Tenant, session: Session) -> Tenant:
    """A partner whose surfaces are all switched on."""
    tenant.partner.product_name = "Northwind Voice"
    tenant.partner.show_embedded_chat = True
    tenant.partner.chat_assistant_id = "an-assistant"
    tenant.partner.support_email = "support@northwind.example"
    session.commit()
    return tenant


def names_in(text: str) -> list[str]:
    shown = unescape(text).casefold()
    return [name for name in NAMES if name.casefold() in shown]


@pytest.mark.parametrize("page", PUBLIC)
def test_no_page_before_signing_in_names_the_platform(
    browser: Browser, branded_tenant: Tenant, page: str
) -> None:
    html = browser.get(f"/p/{branded_tenant.partner.slug}/{page}").text
    assert "Northwind" in html
    assert "· Northwind Voice</title>" in html
    assert names_in(html) == []


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.STANDARD])
def test_no_page_of_the_portal_names_the_platform(
    branded_tenant: Tenant, signed_in: SignedIn, app: Flask, role: Role
) -> None:
    browser = signed_in(
        branded_tenant.user if role is Role.STANDARD else branded_tenant.staff[role]
    )
    rules = [
        rule.rule
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("portal.")
        and "GET" in (rule.methods or ())
        and not rule.arguments
        and rule.endpoint in ROUTES
    ]
    found = {rule: names_in(browser.get(rule).data.decode(errors="replace")) for rule in rules}
    assert len(found) > 10
    assert {rule: names for rule, names in found.items() if names} == {}


def test_no_error_page_names_the_platform(
    branded_tenant: Tenant, signed_in: SignedIn, make_app: Callable[..., Flask]
) -> None:
    browser = signed_in(branded_tenant.user)
    pages = [
        browser.get("/nowhere"),
        browser.client.delete("/"),
        browser.client.post("/sign-out", data={}),
    ]
    assert [page.status_code for page in pages] == [404, 405, 403]
    assert [names_in(page.text) for page in pages] == [[], [], []]
    for page in pages:
        assert "· Northwind Voice</title>" in page.text


def test_no_mail_names_the_platform(branded_tenant: Tenant) -> None:
    mail = mails.sample(of_partner(branded_tenant.partner), "https://northwind.example")
    assert names_in(mail.subject + mail.text + mail.html) == []
    assert "Northwind Voice" in mail.subject
