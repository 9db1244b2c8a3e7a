"""Settings of company accounts: listed, added after a test of the provider, changed, removed."""

import re
from collections.abc import Callable, Iterator

import pytest
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role
from app.models import AuditEntry, IdentityProvider, User
from app.services.identity_providers import providers
from tests.fixtures.identity_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    IdentityServer,
    identity_server,
)
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
LIST = "/settings/company-accounts"
NEW = f"{LIST}/new"


@pytest.fixture(scope="module")
def server() -> Iterator[IdentityServer]:
    with identity_server({}) as running:
        yield running


@pytest.fixture
def private_addresses_allowed(app: Flask, settings: Settings) -> Iterator[None]:
    """Providers may be at this machine's own address."""
    app.extensions["settings"] = settings.model_copy(update={"webhook_allow_private": True})
    yield
    app.extensions["settings"] = settings


@pytest.fixture
def admin(tenant: Tenant, session: Session, signed_in: SignedIn) -> Browser:
    tenant.partner.email_domain = "Northwind.example"
    session.commit()
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def provider_form(issuer: str, **more: str) -> dict[str, str]:
    return {
        "name": "Acme ID",
        "issuer": issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "domains": "@NORTHWIND.example",
        "default_role": Role.ADMIN.value,
        "creates_users": "y",
        **more,
    }


def test_all_problems_of_a_blank_form_are_named_at_once_in_the_order_of_the_page(
    admin: Browser,
) -> None:
    blank = {"name": "", "issuer": "", "client_id": "", "client_secret": "", "domains": ""}
    answer = admin.post(NEW, {**provider_form(""), **blank}, page=NEW)
    assert answer.status_code == 422
    named = re.findall(r'<li><a href="#(\w+)">', answer.text)
    assert named == ["name", "issuer", "client_id", "client_secret", "domains"]


@pytest.mark.usefixtures("private_addresses_allowed")
def test_the_redirect_address_is_known_before_the_provider_is_added(
    admin: Browser, tenant: Tenant, server: IdentityServer
) -> None:
    for client_id in ("first", "second"):
        page = admin.get(NEW).text.replace("<wbr>", "")
        address = re.findall(r"http://localhost/p/[a-z]+/sso/([0-9a-f-]+)/callback", page)
        added = admin.post(NEW, provider_form(server.issuer, client_id=client_id), page=NEW)
        assert (len(address), added.location) == (1, f"{LIST}/{address[0]}")


def test_after_a_problem_elsewhere_the_secret_is_asked_for_again(admin: Browser) -> None:
    answer = admin.post(NEW, provider_form("https://id.acme.example", name=""), page=NEW)
    assert answer.status_code == 422
    assert "Enter the secret again." in answer.text
    assert CLIENT_SECRET not in answer.text


@pytest.mark.usefixtures("private_addresses_allowed")
def test_a_provider_is_added_after_its_discovery_was_read(
    admin: Browser, tenant: Tenant, server: IdentityServer, session: Session, settings: Settings
) -> None:
    assert "No company account" in admin.get(LIST).text
    answer = admin.post(NEW, provider_form(server.issuer), page=NEW)
    provider = session.scalars(select(IdentityProvider)).one()
    assert (answer.status_code, answer.location) == (303, f"{LIST}/{provider.id}")
    facts = {
        "name": "Acme ID",
        "issuer": server.issuer,
        "clientId": CLIENT_ID,
        "domains": ["northwind.example"],
        "createsUsers": True,
        "defaultRole": "admin",
        "roleClaim": None,
        "roleValues": {},
        "requiredForStaff": False,
    }
    assert providers.audit_values(provider) == facts
    assert CLIENT_SECRET not in provider.secret
    assert providers.secret_of(provider, settings.secret_keys) == CLIENT_SECRET
    page = admin.get(f"{LIST}/{provider.id}").text.replace("<wbr>", "")
    assert CLIENT_SECRET not in page
    slug = tenant.partner.slug
    assert f"http://localhost/p/{slug}/sso/{provider.id}/callback" in page
    assert f"http://localhost/sso/{provider.id}/logout" in page
    assert server.issuer in admin.get(LIST).text
    entry = session.scalars(
        select(AuditEntry).where(AuditEntry.target_id == str(provider.id))
    ).one()
    assert (entry.action, entry.target) == ("identity_provider.created", "Acme ID")
    assert CLIENT_SECRET not in str(entry.after)


@pytest.mark.usefixtures("private_addresses_allowed")
def test_a_change_keeps_the_secret_and_the_issuer(
    admin: Browser, server: IdentityServer, session: Session, settings: Settings
) -> None:
    url = admin.post(NEW, provider_form(server.issuer), page=NEW).location
    sent = provider_form("https://evil.example", name="Acme", client_secret="", version="1")
    assert admin.post(url, sent, page=url).location == LIST
    provider = session.scalars(select(IdentityProvider)).one()
    session.refresh(provider)
    assert (provider.name, provider.issuer, provider.version) == ("Acme", server.issuer, 2)
    assert providers.secret_of(provider, settings.secret_keys) == CLIENT_SECRET


@pytest.mark.parametrize(
    ("issuer", "words"),
    [
        ("", "Enter an address that begins with https://."),
        ("http://id.example", "Enter an address that begins with https://."),
        ("https://user@id.example", "Enter an address that begins with https://."),
        ("file:///etc/passwd", "Enter an address that begins with https://."),
        ("https://127.0.0.1", "the address of 127.0.0.1 is not public"),
        ("https://[::1]", "Enter an address that begins with https://."),
        ("https://169.254.169.254/latest", "the address of 169.254.169.254 is not public"),
        ("https://10.0.0.1", "the address of 10.0.0.1 is not public"),
        ("https://0x7f000001", "the address of 0x7f000001 is not public"),
    ],
)
def test_only_public_addresses_are_asked(
    admin: Browser, session: Session, issuer: str, words: str
) -> None:
    answer = admin.post(NEW, provider_form(issuer), page=NEW)
    assert answer.status_code == 422
    assert words in answer.text
    assert session.query(IdentityProvider).count() == 0


@pytest.mark.usefixtures("private_addresses_allowed")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "Enter the name on the button."),
        ({"client_id": ""}, "Enter the client ID of your provider."),
        ({"name": "x" * 61}, "Too long. Use at most 60 characters."),
        ({"client_secret": ""}, "Enter the client secret of your provider."),
        ({"domains": "gmail.com"}, "gmail.com is neither the email domain"),
        ({"domains": "other.example"}, "other.example is neither the email domain"),
        ({"domains": ""}, "Enter the email domain of the users to create."),
        ({"default_role": "partnerAdmin"}, "Choose one of the roles."),
        ({"default_role": "operator"}, "Choose one of the roles."),
        ({"editor_value": "editors"}, "Enter the claim that has these values."),
    ],
)
def test_a_wrong_value_is_refused_at_its_field(
    admin: Browser,
    server: IdentityServer,
    session: Session,
    changes: dict[str, str],
    words: str,
) -> None:
    answer = admin.post(NEW, provider_form(server.issuer) | changes, page=NEW)
    assert answer.status_code == 422
    assert words in answer.text
    assert session.query(IdentityProvider).count() == 0


@pytest.mark.usefixtures("private_addresses_allowed")
def test_a_provider_that_names_another_issuer_is_refused(
    admin: Browser, server: IdentityServer
) -> None:
    answer = admin.post(NEW, provider_form(f"{server.issuer}/"), page=NEW)
    assert answer.status_code == 422
    assert re.search("it names another issuer", answer.text)


@pytest.mark.usefixtures("private_addresses_allowed")
def test_the_same_client_is_added_once(admin: Browser, server: IdentityServer) -> None:
    assert admin.post(NEW, provider_form(server.issuer), page=NEW).status_code == 303
    answer = admin.post(NEW, provider_form(server.issuer), page=NEW)
    assert answer.status_code == 422
    assert "This issuer with this client ID exists already." in answer.text


@pytest.mark.usefixtures("private_addresses_allowed")
def test_only_partner_admins_of_the_same_partner_see_it(
    admin: Browser,
    tenant: Tenant,
    other_tenant: Tenant,
    server: IdentityServer,
    signed_in: SignedIn,
    operator: Browser,
) -> None:
    url = admin.post(NEW, provider_form(server.issuer), page=NEW).location
    stranger = signed_in(other_tenant.staff[Role.PARTNER_ADMIN])
    editor, member = signed_in(tenant.staff[Role.PARTNER_EDITOR]), signed_in(tenant.user)
    assert [who.get(url).status_code for who in (stranger, editor, member, operator)] == [404] * 4
    assert [who.get(LIST).status_code for who in (editor, member, operator)] == [404] * 3
    assert "Acme ID" not in stranger.get(LIST).text
    assert stranger.post(f"{url}/remove", page="/account").status_code == 404
    assert admin.get(url).status_code == 200
