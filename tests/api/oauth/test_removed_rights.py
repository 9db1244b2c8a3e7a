"""A removed right ends with the next request, for each of the four kinds of credential."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, Tier
from app.models import ApiKey, OAuthClient, User, utcnow
from app.policy.caller import Caller, system_caller
from app.services import oauth_clients, organizations, partners, users
from app.services.auth import sessions
from app.services.credentials import api_keys
from app.services.legacy import extensions
from tests.fixtures.browser_session import give_session
from tests.fixtures.tenants import Tenant

SUPPORT = system_caller("command line")
HOUR = timedelta(hours=1)


@pytest.fixture
def administrator(tenant: Tenant) -> Caller:
    return tenant.caller(Role.PARTNER_ADMIN)


def token_of(client: FlaskClient, new_client: oauth_clients.NewClient) -> dict[str, str]:
    form = {
        "grant_type": "client_credentials",
        "client_id": new_client.client.client_id,
        "client_secret": new_client.secret,
    }
    token = client.post("/oauth2/token", data=form).get_json()["access_token"]
    return {"Authorization": f"Bearer {token}"}


def suspend_partner(session: Session, tenant: Tenant) -> None:
    partners.suspend(session, SUPPORT, tenant.partner.id)


CLIENT_ENDS: dict[str, tuple[Callable[[Session, Caller, OAuthClient, Tenant], object], int]] = {
    "revoked": (lambda session, who, client, _: oauth_clients.revoke(session, who, client.id), 401),
    "suspended": (
        lambda session, who, client, _: oauth_clients.suspend(session, who, client.id),
        401,
    ),
    "expired": (lambda _s, _w, client, _t: setattr(client, "expires_at", utcnow()), 401),
    "demoted": (lambda _s, _w, client, _t: setattr(client, "role", Role.PARTNER_EDITOR), 403),
    "partner suspended": (lambda session, _w, _c, tenant: suspend_partner(session, tenant), 401),
}


@pytest.mark.parametrize("end", CLIENT_ENDS)
def test_a_bearer_token_ends_with_its_rights(
    client: FlaskClient, session: Session, tenant: Tenant, administrator: Caller, end: str
) -> None:
    made = oauth_clients.create(session, administrator, name="Sync", role=Role.PARTNER_ADMIN)
    session.commit()
    headers = token_of(client, made)
    path = f"/api/partners/{tenant.partner.id}/users"
    form = {"email": "new@northwind.example", "userType": "nonsense"}

    def status() -> int:
        return client.post(path, headers=headers, json=form).status_code

    assert status() == 400
    remove_access, refused = CLIENT_ENDS[end]
    remove_access(session, administrator, made.client, tenant)
    session.commit()
    assert status() == refused


LEGACY_ENDS: dict[str, Callable[[Session, OAuthClient, Tenant], object]] = {
    "revoked": lambda session, client, _: oauth_clients.revoke(session, SUPPORT, client.id),
    "suspended": lambda session, client, _: oauth_clients.suspend(session, SUPPORT, client.id),
    "plan lowered": lambda _s, _c, tenant: setattr(tenant.plus, "payment_tier", Tier.BASIC),
    "organization suspended": lambda session, _c, tenant: organizations.suspend(
        session, SUPPORT, tenant.plus.id
    ),
    "partner suspended": lambda session, _c, tenant: suspend_partner(session, tenant),
}


@pytest.mark.parametrize("end", LEGACY_ENDS)
def test_a_legacy_token_ends_with_its_rights(
    client: FlaskClient, session: Session, tenant: Tenant, end: str
) -> None:
    made = oauth_clients.create_legacy(
        session,
        SUPPORT,
        organization_id=tenant.plus.id,
        name="Dialler",
        served_until=utcnow() + HOUR,
    )
    session.commit()
    headers = token_of(client, made)

    def status() -> int:
        return client.post("/phone/outbound", headers=headers, json={}).status_code

    assert status() == 400
    LEGACY_ENDS[end](session, made.client, tenant)
    session.commit()
    assert status() == 403


def test_a_legacy_extension_ends_with_its_rights(
    client: FlaskClient, session: Session, tenant: Tenant
) -> None:
    made = oauth_clients.create_legacy(
        session,
        SUPPORT,
        organization_id=tenant.plus.id,
        name="Dialler",
        served_until=utcnow() + HOUR,
    )
    session.commit()
    headers = token_of(client, made)

    def code() -> tuple[int, str]:
        answer = client.post("/phone/outbound", headers=headers, json={})
        return answer.status_code, answer.get_json()["details"]["code"]

    assert code() == (400, "validation_failed")
    extensions.extend(session, SUPPORT, made.client.client_id, None)
    session.commit()
    assert code() == (410, "retired")


KEY_ENDS: dict[str, tuple[Callable[[Session, Caller, ApiKey, Tenant], object], int]] = {
    "revoked": (lambda session, who, key, _: api_keys.revoke(session, who, key.id), 401),
    "rotated": (lambda session, who, key, _: api_keys.rotate(session, who, key.id), 401),
    "expired": (lambda _s, _w, key, _t: setattr(key, "expires_at", utcnow()), 401),
    "scope taken": (lambda _s, _w, key, _t: setattr(key, "scopes", ["contacts:read"]), 403),
    "organization suspended": (
        lambda _s, _w, _k, tenant: setattr(tenant.plus, "status", OrganizationStatus.SUSPENDED),
        403,
    ),
    "partner suspended": (lambda session, _w, _k, tenant: suspend_partner(session, tenant), 401),
}


@pytest.mark.parametrize("end", KEY_ENDS)
def test_an_api_key_ends_with_its_rights(
    client: FlaskClient, session: Session, tenant: Tenant, administrator: Caller, end: str
) -> None:
    made = api_keys.create(session, administrator, organization_id=tenant.plus.id, name="CRM")
    session.commit()

    def status() -> int:
        headers = {"x-api-key": made.secret}
        return client.get("/api/v1/outbound/calls", headers=headers).status_code

    assert status() == 200
    remove_access, refused = KEY_ENDS[end]
    remove_access(session, administrator, made.key, tenant)
    session.commit()
    assert status() == refused


SESSION_ENDS: dict[str, tuple[Callable[[Session, Caller, User, str, Tenant], object], int]] = {
    "signed out": (lambda session, _w, _u, token, _t: sessions.end(session, token), 303),
    "signed out everywhere": (
        lambda session, _w, user, _k, _t: sessions.end_all_of_user(session, user.id),
        303,
    ),
    "suspended": (lambda session, who, user, _k, _t: users.suspend(session, who, user.id), 303),
    "deactivated": (
        lambda session, who, user, _k, _t: users.deactivate(session, who, user.id),
        303,
    ),
    "demoted": (
        lambda session, who, user, _k, _t: users.change_role(session, who, user.id, Role.ADMIN),
        404,
    ),
    "partner suspended": (
        lambda session, _w, _u, _k, tenant: suspend_partner(session, tenant),
        303,
    ),
}


@pytest.mark.parametrize("end", SESSION_ENDS)
def test_a_session_ends_with_its_rights(
    client: FlaskClient, session: Session, tenant: Tenant, administrator: Caller, end: str
) -> None:
    user = tenant.staff[Role.PARTNER_EDITOR]
    token = sessions.create(session, user, lifetime=HOUR, host="localhost")
    session.commit()
    give_session(client, token)
    assert "<h1>Branding</h1>" in client.get("/branding").text
    remove_access, refused = SESSION_ENDS[end]
    remove_access(session, administrator, user, token, tenant)
    session.commit()
    answer = client.get("/branding")
    assert answer.status_code == refused
    assert "<h1>Branding</h1>" not in answer.text


def test_a_session_stays_ended_when_its_partner_is_reactivated(
    client: FlaskClient, session: Session, tenant: Tenant
) -> None:
    token = sessions.create(session, tenant.user, lifetime=HOUR, host="localhost")
    partners.suspend(session, SUPPORT, tenant.partner.id)
    partners.reactivate(session, SUPPORT, tenant.partner.id)
    session.commit()
    give_session(client, token)
    answer = client.get("/")
    assert (answer.status_code, answer.location) == (303, "/sign-in")
