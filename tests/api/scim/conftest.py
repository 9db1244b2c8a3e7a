"""A directory with a token of one partner, and its requests."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from app.enums import Role
from app.models import ScimSettings
from app.services.credentials import scim_tokens
from tests.fixtures.tenants import Tenant

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
MEDIA = "application/scim+json"


@dataclass
class Directory:
    """Sends requests with one token."""

    client: FlaskClient
    secret: str
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.open(
            f"/scim/v2{path}",
            method=method,
            json=body,
            headers={"Authorization": f"Bearer {self.secret}", "Content-Type": MEDIA} | named,
        )

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.send("GET", path, **headers)

    def add_user(self, email: str, **more: Any) -> dict[str, Any]:
        sent = {"schemas": [USER], "userName": email, **more}
        answer = self.send("POST", "/Users", sent)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.get_json()
        return made

    def add_group(self, name: str, *member_ids: str) -> dict[str, Any]:
        members = [{"value": member_id} for member_id in member_ids]
        sent = {"schemas": [GROUP], "displayName": name, "members": members}
        answer = self.send("POST", "/Groups", sent)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.get_json()
        return made

    def patch(self, path: str, *operations: dict[str, Any], **headers: str) -> TestResponse:
        return self.send(
            "PATCH", path, {"schemas": [PATCH], "Operations": list(operations)}, **headers
        )

    def names(self, wanted: str) -> list[str]:
        """Return the addresses of the users that a filter finds."""
        answer = self.client.get(
            "/scim/v2/Users",
            query_string={"filter": wanted, "sortBy": "userName"},
            headers={"Authorization": f"Bearer {self.secret}"},
        )
        assert answer.status_code == 200, answer.text
        return [user["userName"] for user in answer.get_json().get("Resources", [])]


def make_token(session: Session, tenant: Tenant, name: str = "Entra") -> str:
    secret = scim_tokens.create(session, tenant.caller(Role.PARTNER_ADMIN), name=name).secret
    session.commit()
    return secret


@pytest.fixture
def directory(client: FlaskClient, session: Session, tenant: Tenant) -> Directory:
    return Directory(client, make_token(session, tenant))


@pytest.fixture
def with_default_role(session: Session, tenant: Tenant) -> None:
    """Users in no group are editors."""
    session.add(ScimSettings(partner_id=tenant.partner.id, default_role=Role.PARTNER_EDITOR))
    session.commit()
