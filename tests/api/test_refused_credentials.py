"""Refused credentials of scripts, in the history of their partner."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import OAuthClient, utcnow
from app.policy.caller import system_caller
from app.services import oauth_clients
from app.services.credentials import api_keys
from tests.fixtures.refusals import refused
from tests.fixtures.tenants import OPERATOR, Tenant


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_use_of_an_ended_key_is_recorded_and_of_an_unknown_one_is_not(
    client: FlaskClient, session: Session, tenant: Tenant, how: str
) -> None:
    made = api_keys.create(session, OPERATOR, organization_id=tenant.organization.id, name="CRM")
    if how == "revoked":
        made.key.revoked_at = utcnow()
    else:
        made.key.expires_at = utcnow() - timedelta(seconds=1)
    session.commit()
    other = made.secret.replace("ppk_live_", "ppk_test_")
    for secret in (made.secret, made.secret, other, "nonsense"):
        answer = client.get("/api/v1/agents", headers={"x-api-key": secret})
        assert (answer.status_code, answer.get_json()["details"]["code"]) == (
            401,
            "invalid_api_key",
        )
    target = f"CRM ({made.key.public_id})"
    assert refused(session) == [(tenant.partner.id, "key.refused", target, "127.0.0.1", how, 1)]


def token(client: FlaskClient, client_id: str, secret: str) -> int:
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    return client.post("/oauth2/token", data=form).status_code


@pytest.fixture
def script(session: Session, tenant: Tenant) -> oauth_clients.NewClient:
    owner = system_caller("tests", tenant.partner.id)
    made = oauth_clients.create(session, owner, name="Sync", role=Role.ADMIN)
    session.commit()
    return made


@pytest.mark.usefixtures("clock")
def test_refused_token_requests_are_recorded(
    make_app: Callable[..., Flask],
    session: Session,
    tenant: Tenant,
    script: oauth_clients.NewClient,
) -> None:
    client = make_app(failed_sign_ins=2).test_client()
    name = script.client.client_id
    statuses = [token(client, name, "wrong"), token(client, "ppc_unknown", "wrong")]
    session.get_one(OAuthClient, script.client.id).suspended_at = utcnow()
    session.commit()
    statuses += [token(client, name, script.secret) for _turn in range(3)]
    assert statuses == [400, 400, 400, 429, 429]
    target = f"Sync ({name})"
    assert refused(session) == [
        (tenant.partner.id, "client.refused", target, "127.0.0.1", "wrong_secret", 1),
        (None, "client.refused", None, "127.0.0.1", "unknown_client", 1),
        (tenant.partner.id, "client.refused", target, "127.0.0.1", "not_active", 1),
        (tenant.partner.id, "client.refused", target, "127.0.0.1", "too_many_failures", 1),
    ]
