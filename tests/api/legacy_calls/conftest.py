"""A customer on the Plus plan with a ready assistant and a legacy client."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.models import Assistant, OAuthClient, utcnow
from app.policy.caller import system_caller
from app.services import oauth_clients
from app.services.legacy import extensions
from tests.fixtures.tenants import Tenant, make_tenant

SUPPORT = system_caller("command line")
FROM, TO = "+12025550100", "+12025550123"
RETIREMENT = datetime(2099, 7, 1, tzinfo=UTC)


@pytest.fixture
def tenant(session: Session) -> Tenant:
    tenant = make_tenant(session)
    assistant = session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.plus.id)
    ).one()
    assistant.phone_number, assistant.phone_enabled, assistant.phone_configured = FROM, True, True
    session.commit()
    return tenant


@pytest.fixture
def assistant(session: Session, tenant: Tenant) -> Assistant:
    return session.scalars(
        select(Assistant).where(Assistant.organization_id == tenant.plus.id)
    ).one()


@pytest.fixture
def new_client(session: Session, tenant: Tenant) -> oauth_clients.NewClient:
    new = oauth_clients.create_legacy(
        session, SUPPORT, organization_id=tenant.plus.id, name="Dialler", expires_at=None
    )
    session.commit()
    return new


@dataclass
class LegacyScript:
    """The old script: gets a token and requests calls."""

    client: FlaskClient
    headers: dict[str, str]

    def ask(self, **changes: Any) -> TestResponse:
        """Return a good request with ``changes``; ``...`` leaves a field out."""
        body = {
            "name": "Ada Lovelace",
            "toPhoneNumber": TO,
            "fromPhoneNumber": FROM,
            "introNotes": "She asked for a quote.",
            "formInfo": [],
        } | changes
        sent = {name: value for name, value in body.items() if value is not ...}
        return self.client.post("/phone/outbound", headers=self.headers, json=sent)


def token_of(client: FlaskClient, new_client: oauth_clients.NewClient) -> dict[str, str]:
    form = {
        "grant_type": "client_credentials",
        "client_id": new_client.client.client_id,
        "client_secret": new_client.secret,
        "scope": "phone/call.out",
    }
    answer = client.post("/oauth2/token", data=form)
    return {"Authorization": f"Bearer {answer.get_json()['access_token']}"}


@pytest.fixture
def legacy_script(
    make_app: Callable[..., Flask], new_client: oauth_clients.NewClient
) -> LegacyScript:
    """Before the retirement date."""
    client = make_app(legacy_retirement=RETIREMENT).test_client()
    return LegacyScript(client, token_of(client, new_client))


@pytest.fixture
def retired_legacy_script(
    make_app: Callable[..., Flask], new_client: oauth_clients.NewClient
) -> LegacyScript:
    """After the retirement date, which is the default's."""
    client = make_app().test_client()
    return LegacyScript(client, token_of(client, new_client))


@pytest.fixture
def extend(
    session: Session, new_client: oauth_clients.NewClient
) -> Callable[[timedelta], OAuthClient]:
    def extend_by(more: timedelta) -> OAuthClient:
        until = utcnow().replace(microsecond=0) + more
        client = extensions.extend(session, SUPPORT, new_client.client.client_id, until)
        session.commit()
        return client

    return extend_by
