"""``flask keys rotate``: the key that signs access tokens is replaced without a gap."""

import json

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Forbidden
from app.models import AuditEntry, SigningKey
from app.services import oauth_clients
from app.services.credentials import signing_keys
from tests.fixtures.tenants import Tenant, make_tenant


@pytest.fixture
def tenant(session: Session) -> Tenant:
    return make_tenant(session)


@pytest.fixture
def script(app: Flask, session: Session, tenant: Tenant) -> "Script":
    made = oauth_clients.create(
        session, tenant.caller(Role.PARTNER_ADMIN), name="Sync", role=Role.PARTNER_ADMIN
    )
    session.commit()
    return Script(app.test_client(), made.client.client_id, made.secret)


class Script:
    """A client of the Partner API."""

    def __init__(self, client: FlaskClient, client_id: str, secret: str):
        self.client = client
        self.sent = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": secret,
        }

    def token(self) -> str:
        answer = self.client.post("/oauth2/token", data=self.sent)
        assert answer.json is not None
        return str(answer.json["access_token"])

    def status(self, token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return self.client.get("/api/partners", headers=headers).status_code

    def published(self) -> set[str]:
        answer = self.client.get("/.well-known/jwks.json").json
        assert answer is not None
        return {key["kid"] for key in answer["keys"]}


def rotate(app: Flask, *words: str) -> str:
    result = app.test_cli_runner().invoke(args=["keys", "rotate", *words, "--json"])
    assert result.exit_code == 0, result.output
    return str(json.loads(result.stdout)["keyId"])


@pytest.mark.parametrize(
    ("words", "before", "published"),
    [((), 200, {"old", "new"}), (("--end-tokens",), 401, {"new"})],
)
def test_a_rotation_signs_with_a_new_key_and_treats_older_tokens_as_asked(
    app: Flask,
    session: Session,
    script: Script,
    words: tuple[str, ...],
    before: int,
    published: set[str],
) -> None:
    old_token = script.token()
    old = session.scalars(select(SigningKey.kid)).one()
    new = rotate(app, *words)
    session.expire_all()
    names = {old: "old", new: "new"}
    statuses = [script.status(old_token), script.status(script.token())]
    assert (statuses, {names[kid] for kid in script.published()}) == ([before, 200], published)
    entry = session.scalars(
        select(AuditEntry).where(AuditEntry.action == "installation.signing_key_rotated")
    ).one()
    assert (entry.partner_id, entry.actor) == (None, "command line")


def test_every_rotation_before_a_token_ends_keeps_it_valid(app: Flask, script: Script) -> None:
    tokens = []
    for _ in range(3):
        tokens.append(script.token())
        rotate(app)
    assert [script.status(token) for token in tokens] == [200, 200, 200]
    assert len(script.published()) == 4


def test_users_and_scripts_rotate_no_keys(session: Session, tenant: Tenant) -> None:
    with pytest.raises(Forbidden) as refused:
        signing_keys.rotate(session, tenant.caller(Role.OPERATOR), ("secret",))
    assert refused.value.code == "command_line_only"
