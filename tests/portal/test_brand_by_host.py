"""At a partner's verified host every surface has that brand, and only its own sessions count."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask, url_for
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import Role
from app.models import Assistant, LinkPurpose, MailKind, PortalSession, User
from app.portal.record_lists.registry import LISTS
from app.services import campaigns, mail_queue, partners
from app.services.auth import one_time_links, sessions
from app.services.branding.brand import NEUTRAL_NAME
from app.services.contacts import single_contact
from app.services.credentials import api_keys
from tests.fixtures.browser_session import give_session
from tests.fixtures.mails import send_waiting
from tests.fixtures.tenants import OPERATOR, Tenant
from tests.portal.conftest import PASSWORD, Browser
from tests.portal.test_calls import answered, make_call

HOST = "https://northwind.example"
PUBLIC = (
    *("/sign-in", "/chat", "/forgot-password", "/password/no-such-link", "/nowhere"),
    *("/p/northwind/sign-in", "/p/southgate/sign-in", "/p/absent/sign-in", "/p/southgate/chat"),
    *("/p/northwind/password/no-such-link", "/p/southgate/password/no-such-link"),
    *("/api/docs", "/api/openapi.json", "/api/absent", "/api/v1/absent", "/favicon.ico"),
)


@pytest.fixture
def branded_tenant(tenant: Tenant, other_tenant: Tenant, session: Session) -> Tenant:
    """A partner with a verified domain next to another partner. The platform's host has a name."""
    for each, name in ((tenant, "Northwind Voice"), (other_tenant, "Southgate Calls")):
        each.partner.product_name = name
        each.partner.show_embedded_chat = True
        each.partner.chat_assistant_id = "an-assistant"
        each.partner.support_email = f"support@{each.partner.slug}.example"
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    session.commit()
    return tenant


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    """Links of mails and their previews lead to a partner's host only in production."""
    made = make_app(public_url="http://host.platform.example")
    made.extensions["settings"] = made.extensions["settings"].model_copy(
        update={"env": "production"}
    )
    return made


def names_in(response: TestResponse) -> list[str]:
    """What a page, file or header says of the platform or another partner."""
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers)
    text = unescape(response.get_data().decode("utf-8", "replace") + headers).casefold()
    words = (NEUTRAL_NAME, "partner-portal", "platform.example", "southgate")
    return [word for word in words if word.casefold() in text]


def at_host(app: Flask, user: User, session: Session) -> FlaskClient:
    token = sessions.create(session, user, lifetime=timedelta(hours=1), host="northwind.example")
    session.commit()
    client = app.test_client()
    give_session(client, token, HOST)
    return client


def addresses(app: Flask, tenant: Tenant, session: Session) -> list[str]:
    """Every page and file of the portal that needs no record, or one of these, and all lists as
    files."""
    organization, admin = tenant.organization, tenant.caller(Role.PARTNER_ADMIN)
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == organization.id)
    ).first()
    campaign = campaigns.create(session, admin, organization.id, name="Winter recall")
    contact_id = single_contact.add(
        session, admin, campaign.id, single_contact.ContactFields("Ann", "Lee", "+12025550143")
    )
    key = api_keys.create(session, admin, organization_id=organization.id, name="CRM")
    call = make_call(session, organization, "+12025550143", **answered())
    session.commit()
    values: dict[str, Any] = {
        "organization_id": organization.id,
        "user_id": tenant.user.id,
        "assistant_id": assistant.id if assistant else None,
        "campaign_id": campaign.id,
        "contact_id": contact_id,
        "key_id": key.key.id,
        "call_id": call.id,
        "slug": tenant.partner.slug,
    }
    with app.test_request_context(base_url=HOST):
        found = [
            url_for(rule.endpoint, **{name: values[name] for name in rule.arguments})
            for rule in app.url_map.iter_rules()
            if rule.endpoint.startswith("portal.")
            and "GET" in (rule.methods or ())
            and rule.arguments <= values.keys()
        ]
    query = f"?campaign_id={campaign.id}&organization_id={organization.id}"
    files = [f"/lists/{name}/export.{end}{query}" for name in LISTS for end in ("csv", "xlsx")]
    return [urlsplit(each).path for each in found] + files


@pytest.mark.usefixtures("branded_tenant")
def test_pages_before_signing_in_name_no_other_company(app: Flask) -> None:
    answers = {path: app.test_client().get(path, base_url=HOST) for path in PUBLIC}
    message = {path: [n for n in names_in(a) if n not in path] for path, a in answers.items()}
    assert {path: names for path, names in message.items() if names} == {}
    missing = {path: answer.status_code for path, answer in answers.items() if "southgate" in path}
    assert set(missing.values()) == {404}
    for path in ("/sign-in", "/nowhere", "/p/southgate/sign-in"):
        assert "· Northwind Voice</title>" in answers[path].text


@pytest.mark.parametrize("role", [Role.PARTNER_ADMIN, Role.STANDARD])
def test_pages_after_signing_in_name_no_other_company(
    app: Flask, branded_tenant: Tenant, session: Session, role: Role
) -> None:
    user = branded_tenant.user if role is Role.STANDARD else branded_tenant.staff[role]
    client = at_host(app, user, session)
    # What an administrator sets at others names the host that they have to call.
    allowed = {"/settings", "/settings/domain", "/settings/domain/records", "/pricing/stripe"}
    statuses, message = Counter[int](), {}
    for path in addresses(app, branded_tenant, session):
        answer = client.get(path, base_url=HOST)
        statuses[answer.status_code] += 1
        names = names_in(answer)
        if names and path not in allowed:
            message[path] = names
    assert message == {}
    assert statuses[200] > (100 if role is Role.PARTNER_ADMIN else 30), statuses


def test_mails_link_to_the_host_and_name_no_other_company(
    app: Flask, branded_tenant: Tenant, session: Session
) -> None:
    user = branded_tenant.staff[Role.PARTNER_ADMIN]
    for kind in (MailKind.RESET_PASSWORD, MailKind.PASSWORD_CHANGED):
        mail_queue.enqueue(session, kind, partner_id=branded_tenant.partner.id, user_id=user.id)
    letters = send_waiting(session, app.extensions["settings"])
    text = "".join(f"{one.sender_name}{one.subject}{one.text}{one.html}" for one in letters)
    found = [n for n in (NEUTRAL_NAME, "platform.example", "southgate") if n in text.casefold()]
    assert (len(letters), found) == (2, [])
    assert f"{HOST}/p/northwind/password/" in letters[0].text


def test_a_session_of_one_host_is_not_accepted_at_another(
    app: Flask, branded_tenant: Tenant, session: Session
) -> None:
    user = branded_tenant.staff[Role.PARTNER_ADMIN]
    token = sessions.create(session, user, lifetime=timedelta(hours=1), host="northwind.example")
    session.commit()
    statuses = {}
    for url in (HOST, "https://southgate.example", "https://host.platform.example"):
        client = app.test_client()
        give_session(client, token, url)
        statuses[url] = client.get("/users", base_url=url).status_code
    assert list(statuses.values()) == [200, 303, 303]


def test_users_of_another_partner_cannot_sign_in_at_the_host(
    app: Flask, branded_tenant: Tenant, other_tenant: Tenant
) -> None:
    assert branded_tenant.partner.domain_verified_at is not None
    client = app.test_client()
    page = client.get("/sign-in", base_url=HOST).text
    token = page.split('name="csrf_token" value="')[1].split('"')[0]
    form = {"csrf_token": token, "email": other_tenant.user.email, "password": PASSWORD}
    headers = {"Referer": f"{HOST}/sign-in"}
    answer = client.post("/sign-in", data=form, base_url=HOST, headers=headers)
    assert answer.status_code == 422
    assert "Email or password is wrong" in answer.text


def test_an_operators_link_opens_nothing_at_the_host(
    app: Flask, branded_tenant: Tenant, operator: Browser, session: Session
) -> None:
    assert branded_tenant.partner.domain_verified_at is not None
    root = session.scalars(select(User).where(User.partner_id.is_(None))).one()
    token = one_time_links.create(session, root.id, LinkPurpose.RESET_PASSWORD)
    session.commit()
    answer = app.test_client().get(f"/password/{token}", base_url=HOST)
    assert (answer.status_code, names_in(answer)) == (410, [])
    assert operator.get(f"/password/{token}").status_code == 200


def test_verifying_a_domain_ends_the_sessions_of_others_there(
    tenant: Tenant, other_tenant: Tenant, session: Session
) -> None:
    lifetime = timedelta(hours=1)
    for user in (tenant.user, other_tenant.user):
        sessions.create(session, user, lifetime=lifetime, host="northwind.example")
    partners.verify_domain(session, OPERATOR, tenant.partner.id)
    assert session.scalars(select(PortalSession.user_id)).all() == [tenant.user.id]


def test_a_domain_that_is_not_verified_has_the_neutral_brand(
    app: Flask, branded_tenant: Tenant, session: Session
) -> None:
    branded_tenant.partner.domain_verified_at = None
    session.commit()
    page = app.test_client().get("/sign-in", base_url=HOST).text
    assert NEUTRAL_NAME in page
    assert "Northwind" not in page


def test_every_page_at_a_suspended_partners_domain_says_that_it_is_paused(
    app: Flask, branded_tenant: Tenant, session: Session
) -> None:
    branded_tenant.partner.suspended_at = branded_tenant.partner.created_at
    session.commit()
    pages = ("/", *(path for path in PUBLIC if not path.startswith("/api/")))
    answers = {path: app.test_client().get(path, base_url=HOST) for path in pages}
    shown = ("<h1>This portal is paused</h1>", "support@northwind.example", "· Northwind Voice<")
    found = {
        path: (answer.status_code, [words in answer.text for words in shown])
        for path, answer in answers.items()
    }
    assert found == dict.fromkeys(pages, (403, [True] * 3))
    as_before = {"/healthz": 200, "/api/docs": 200, "/api/absent": 404}
    others = {path: app.test_client().get(path, base_url=HOST) for path in as_before}
    assert {path: answer.status_code for path, answer in others.items()} == as_before
    assert "· Northwind Voice<" in others["/api/docs"].text


def test_the_url_of_a_partner_leads_to_its_sign_in_page(app: Flask, tenant: Tenant) -> None:
    answer = app.test_client().get(f"/p/{tenant.partner.slug}")
    assert (answer.status_code, answer.location) == (303, f"/p/{tenant.partner.slug}/sign-in")


def test_an_unknown_partner_has_the_neutral_brand_and_the_language_of_the_browser(
    app: Flask, tenant: Tenant
) -> None:
    client, german = app.test_client(), {"Accept-Language": "de"}
    client.get(f"/p/{tenant.partner.slug}/sign-in")
    for path in ("/p/nonexistent", "/p/nonexistent/sign-in", "/p/nonexistent/more/parts"):
        page = client.get(path, headers=german).text
        assert ('<html lang="de"' in page, tenant.partner.name in page) == (True, False), path


def test_the_page_of_a_paused_portal_offers_the_languages(
    app: Flask, branded_tenant: Tenant, session: Session
) -> None:
    branded_tenant.partner.suspended_at = branded_tenant.partner.created_at
    session.commit()
    client = app.test_client()
    page = client.get("/sign-in", base_url=HOST).text
    [token] = re.findall(r'name="csrf_token" value="([^"]+)"', page)
    chosen = {"csrf_token": token, "language": "fr", "next": "/sign-in"}
    answer = client.post("/language", data=chosen, base_url=HOST)
    assert answer.status_code == 303
    assert '<html lang="fr"' in client.get("/sign-in", base_url=HOST).text
