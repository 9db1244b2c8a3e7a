"""Scripts with a live and a test key of one organization, and a stranger's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.policy.caller import system_caller
from app.services.credentials import api_keys
from tests.fixtures.worker import CallingOrganization, make_calling_organization

NUMBER = "+12025550101"


def make_key(session: Session, calling_organization: CallingOrganization, **changes: Any) -> str:
    """Return the secret of a new key of the organization."""
    owner = system_caller("the owner", partner_id=calling_organization.partner_id)
    made = api_keys.create(
        session,
        owner,
        organization_id=calling_organization.organization_id,
        name="Script",
        **changes,
    )
    return made.secret


@dataclass
class Script:
    """Requests calls with one key."""

    client: FlaskClient
    secret: str
    assistant_id: str

    def body(self, **changes: Any) -> dict[str, Any]:
        """Return a good request with ``changes``; ``...`` leaves a field out."""
        good = {
            "agentId": self.assistant_id,
            "contact": {"phoneNumber": NUMBER, "firstName": "Ada"},
            "introMessage": "Hello.",
            "voicemailMessage": "Bye.",
        }
        return {name: value for name, value in (good | changes).items() if value is not ...}

    def call(self, key: str | None = None, **changes: Any) -> TestResponse:
        headers = {"x-api-key": self.secret} | ({"Idempotency-Key": key} if key else {})
        return self.client.post("/api/v1/outbound/call", headers=headers, json=self.body(**changes))

    def get(self, path: str) -> TestResponse:
        return self.client.get(f"/api/v1{path}", headers={"x-api-key": self.secret})

    def cancel(self, call_id: str) -> TestResponse:
        path = f"/api/v1/outbound/calls/{call_id}/cancel"
        return self.client.post(path, headers={"x-api-key": self.secret})


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    made = make_calling_organization(session)
    session.commit()
    return made


@pytest.fixture
def make_script(client: FlaskClient, session: Session) -> Callable[..., Script]:
    """``make_script(calling_organization, live=False)``: a script with a new key."""

    def make(calling_organization: CallingOrganization, **changes: Any) -> Script:
        secret = make_key(session, calling_organization, **changes)
        session.commit()
        return Script(client, secret, str(calling_organization.assistant_id))

    return make


@pytest.fixture
def script(make_script: Callable[..., Script], calling_organization: CallingOrganization) -> Script:
    return make_script(calling_organization)
