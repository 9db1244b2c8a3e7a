import base64
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Area, CallerKind, Role
from app.errors import Unauthenticated
from app.models import OAuthClient, SigningKey, utcnow
from app.policy import ROLE_PERMISSIONS, Permission
from app.policy.caller import Caller, system_caller
from app.services import oauth_clients
from app.services.credentials import signing_keys, tokens
from tests.fixtures.tenants import Tenant

AREA = Area.PARTNER_ADMIN


@pytest.fixture
def client(session: Session, tenant: Tenant) -> OAuthClient:
    caller = tenant.caller(Role.PARTNER_ADMIN)
    return oauth_clients.create(session, caller, name="Sync", role=Role.PARTNER_ADMIN).client


@pytest.fixture
def legacy_client(session: Session, tenant: Tenant) -> OAuthClient:
    support = system_caller("command line")
    return oauth_clients.create_legacy(
        session, support, organization_id=tenant.plus.id, name="Dialler"
    ).client


def issue(
    session: Session, client: OAuthClient, settings: Settings, scope: str | None = None
) -> str:
    allowed = tokens.allowed_scope(client, scope)
    assert allowed is not None
    return tokens.issue(session, client, allowed, settings).access_token


def refusal(
    session: Session, token: str | None, settings: Settings, area: Area = AREA
) -> str | None:
    """The code of the refusal, None where the token is accepted."""
    try:
        tokens.caller_from_bearer(session, token, area, settings=settings)
    except Unauthenticated as error:
        return error.code
    return None


def test_a_token_gives_its_caller_and_scope(
    session: Session, tenant: Tenant, client: OAuthClient, settings: Settings
) -> None:
    token = issue(session, client, settings, "users:read partner:read")
    caller = tokens.caller_from_bearer(
        session, token, AREA, settings=settings, ip="192.0.2.1", request_id="req_1"
    )
    assert caller == Caller(
        kind=CallerKind.CLIENT,
        role=Role.PARTNER_ADMIN,
        subject_id=client.id,
        label=f"Sync ({client.client_id})",
        partner_id=tenant.partner.id,
        permissions=frozenset({Permission.USERS_READ, Permission.PARTNER_READ}),
        ip="192.0.2.1",
        request_id="req_1",
    )


def test_a_legacy_token_belongs_to_one_organization(
    session: Session, tenant: Tenant, legacy_client: OAuthClient, settings: Settings
) -> None:
    token = issue(session, legacy_client, settings)
    caller = tokens.caller_from_bearer(session, token, Area.LEGACY_CALLS, settings=settings)
    assert caller == Caller(
        kind=CallerKind.LEGACY_CLIENT,
        role=Role.STANDARD,
        subject_id=legacy_client.id,
        label=f"Dialler ({legacy_client.client_id})",
        partner_id=tenant.partner.id,
        organization_id=tenant.plus.id,
        permissions=frozenset({Permission.LEGACY_CALL}),
    )


def test_a_token_carries_the_claims_of_the_profile(
    session: Session, tenant: Tenant, client: OAuthClient, settings: Settings
) -> None:
    began = int(time.time())
    issued = tokens.issue(session, client, "users:read", settings)
    stored = session.scalars(select(SigningKey)).one()
    read = jwt.decode(
        issued.access_token, ECKey.import_key(stored.public_jwk), algorithms=["ES256"]
    )
    issued_at, token_id = read.claims["iat"], read.claims["jti"]
    assert read.header == {"alg": "ES256", "typ": "at+jwt", "kid": stored.kid}
    assert read.claims == {
        "iss": "http://localhost",
        "aud": "http://localhost",
        "sub": client.client_id,
        "client_id": client.client_id,
        "iat": issued_at,
        "exp": issued_at + 3600,
        "jti": token_id,
        "partner_id": str(tenant.partner.id),
        "scope": "users:read",
    }
    assert began <= issued_at <= int(time.time())
    assert len(token_id) == 22
    assert (issued.expires_in, issued.scope) == (3600, "users:read")
    other = tokens.issue(session, client, "users:read", settings)
    assert other.access_token != issued.access_token


def test_by_default_the_scope_is_all_that_the_role_permits(
    session: Session, tenant: Tenant, legacy_client: OAuthClient
) -> None:
    administrator = tenant.caller(Role.PARTNER_ADMIN)
    for role in oauth_clients.CLIENT_ROLES:
        client = oauth_clients.create(session, administrator, name="x", role=role).client
        assert tokens.allowed_scope(client, None) == " ".join(sorted(ROLE_PERMISSIONS[role]))
    assert tokens.allowed_scope(legacy_client, None) == "phone/call.out"


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        ("users:read", "users:read"),
        ("users:read partner:read users:read", "partner:read users:read"),
        ("users:read  ", "users:read"),
        ("users:write", None),
        ("users:read nonsense", None),
        ("phone/call.out", None),
        ("users:read\tpartner:read", None),
    ],
)
def test_a_scope_is_part_of_what_the_role_permits(
    session: Session, tenant: Tenant, asked: str, allowed: str | None
) -> None:
    administrator = tenant.caller(Role.PARTNER_ADMIN)
    editor = oauth_clients.create(session, administrator, name="x", role=Role.PARTNER_EDITOR).client
    assert tokens.allowed_scope(editor, asked) == allowed


def test_a_token_of_one_area_is_refused_by_the_other(
    session: Session, client: OAuthClient, legacy_client: OAuthClient, settings: Settings
) -> None:
    pair = [issue(session, c, settings) for c in (client, legacy_client)]
    accepted = [
        [refusal(session, token, settings, area) for token in pair]
        for area in (Area.PARTNER_ADMIN, Area.LEGACY_CALLS, Area.PUBLIC)
    ]
    assert accepted == [
        [None, "invalid_token"],
        ["invalid_token", None],
        ["invalid_token", "invalid_token"],
    ]


@dataclass
class Forger:
    """Create tokens that differ from a good one in one thing."""

    session: Session
    client: OAuthClient
    settings: Settings

    @property
    def key(self) -> ECKey:
        return signing_keys.current(self.session, self.settings.secret_keys)

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        good = {
            "iss": "http://localhost",
            "aud": "http://localhost",
            "sub": self.client.client_id,
            "client_id": self.client.client_id,
            "iat": now,
            "exp": now + 60,
            "jti": "a-token-id",
            "partner_id": str(self.client.partner_id),
            "scope": "users:read",
        }
        return {name: value for name, value in (good | changes).items() if value is not ...}

    def token(self, key: Any = None, header: dict[str, Any] | None = None, **changes: Any) -> str:
        head = {"alg": "ES256", "typ": "at+jwt", "kid": self.key.kid} | (header or {})
        return jwt.encode(head, self.claims(**changes), key or self.key, algorithms=["ES256"])

    def by_hand(self, algorithm: str, secret: bytes | None = None) -> str:
        """Signed with a shared secret, or not at all: what a library would refuse to make."""
        head = {"alg": algorithm, "typ": "at+jwt", "kid": self.key.kid}
        parts = [_encoded(json.dumps(part).encode()) for part in (head, self.claims())]
        signed = ".".join(parts)
        signature = hmac.digest(secret, signed.encode(), "sha256") if secret else b""
        return f"{signed}.{_encoded(signature)}"


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


@pytest.fixture
def forger(session: Session, client: OAuthClient, settings: Settings) -> Forger:
    return Forger(session, client, settings)


def test_the_unchanged_token_of_the_forgery_tests_is_accepted(forger: Forger) -> None:
    assert refusal(forger.session, forger.token(), forger.settings) is None


ANOTHER_KEY = ECKey.generate_key("P-256")
FORGERIES: dict[str, Callable[[Forger], str]] = {
    "another issuer": lambda f: f.token(iss="http://elsewhere"),
    "no issuer": lambda f: f.token(iss=...),
    "another audience": lambda f: f.token(aud="http://localhost/phone"),
    "no audience": lambda f: f.token(aud=...),
    "empty audience": lambda f: f.token(aud=[]),
    "expired": lambda f: f.token(exp=int(time.time())),
    "no expiry": lambda f: f.token(exp=...),
    "expiry as text": lambda f: f.token(exp="9999999999"),
    "issued in the future": lambda f: f.token(iat=int(time.time()) + 600),
    "no time of issue": lambda f: f.token(iat=...),
    "not yet valid": lambda f: f.token(nbf=int(time.time()) + 600),
    "a start as text": lambda f: f.token(nbf="0"),
    "no id": lambda f: f.token(jti=...),
    "an id that isn't text": lambda f: f.token(jti=7),
    "an id with NUL": lambda f: f.token(jti="a\x00b"),
    "unknown subject": lambda f: f.token(sub="ppc_unknown"),
    "subject is a list": lambda f: f.token(sub=["ppc_unknown"]),
    "another client": lambda f: f.token(client_id="ppc_unknown"),
    "another partner": lambda f: f.token(partner_id="00000000-0000-7000-8000-000000000000"),
    "no partner": lambda f: f.token(partner_id=...),
    "no scope": lambda f: f.token(scope=...),
    "scope is a list": lambda f: f.token(scope=["users:read"]),
    "another type": lambda f: f.token(header={"typ": "JWT"}),
    "no key id": lambda f: f.token(header={"kid": ""}),
    "unknown key id": lambda f: f.token(header={"kid": "unknown"}),
    "a path as the key id": lambda f: f.token(ANOTHER_KEY, {"kid": "../../dev/null"}),
    "a query as the key id": lambda f: f.token(ANOTHER_KEY, {"kid": "' OR '1'='1"}),
    "signed with another key": lambda f: f.token(ANOTHER_KEY),
    "an embedded key": lambda f: f.token(ANOTHER_KEY, {"jwk": ANOTHER_KEY.as_dict(private=False)}),
    "an embedded key with its own id": lambda f: f.token(
        ANOTHER_KEY, {"jwk": ANOTHER_KEY.as_dict(private=False), "kid": "own"}
    ),
    "a key set of others": lambda f: f.token(ANOTHER_KEY, {"jku": "https://evil.example/keys"}),
    "a certificate of others": lambda f: f.token(ANOTHER_KEY, {"x5u": "https://evil.example/x"}),
    "an extension that must be understood": lambda f: f.token(
        header={"crit": ["b64"], "b64": True}
    ),
    "public key as shared secret": lambda f: f.by_hand("HS256", f.key.as_pem(private=False)),
    "no signature": lambda f: f.token().rpartition(".")[0] + ".",
    "no algorithm": lambda f: f.by_hand("none"),
    "no algorithm, in capitals": lambda f: f.by_hand("NONE"),
    "an empty shared secret": lambda f: f.by_hand("HS256", b"\0"),
    "changed claims": lambda f: ".".join(
        [
            f.token().split(".")[0],
            f.token(scope="users:write").split(".")[1],
            f.token().split(".")[2],
        ]
    ),
    "not a token": lambda _: "not a token",
    "no letters": lambda _: "é.é.é",
    "lone surrogate": lambda _: "\ud800.a.b",
    "far too long": lambda f: f.token() + "A" * 100_000,
    "deeply nested": lambda f: f.token(scope="[" * 3000),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_is_refused(forger: Forger, forgery: str) -> None:
    token = FORGERIES[forgery](forger)
    assert refusal(forger.session, token, forger.settings) == "invalid_token"


@pytest.mark.parametrize("token", [None, ""])
def test_a_missing_token_is_named_as_such(
    session: Session, settings: Settings, token: str | None
) -> None:
    assert refusal(session, token, settings) == "token_missing"


def suspend(client: OAuthClient, tenant: Tenant) -> None:
    client.suspended_at = utcnow()


def revoke(client: OAuthClient, tenant: Tenant) -> None:
    client.revoked_at = utcnow()


def expire(client: OAuthClient, tenant: Tenant) -> None:
    client.expires_at = utcnow()


def suspend_partner(client: OAuthClient, tenant: Tenant) -> None:
    tenant.partner.suspended_at = utcnow()


@pytest.mark.parametrize("change", [suspend, revoke, expire, suspend_partner])
def test_a_client_that_is_stopped_is_refused_at_once(
    session: Session,
    tenant: Tenant,
    client: OAuthClient,
    settings: Settings,
    change: Callable[[OAuthClient, Tenant], None],
) -> None:
    token = issue(session, client, settings)
    assert refusal(session, token, settings) is None
    change(client, tenant)
    session.flush()
    assert refusal(session, token, settings) == "invalid_token"


def test_a_demotion_takes_rights_away_at_once(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    token = issue(session, client, settings, "users:write users:read")
    client.role = Role.PARTNER_EDITOR
    session.flush()
    caller = tokens.caller_from_bearer(session, token, AREA, settings=settings)
    assert (caller.role, caller.permissions) == (
        Role.PARTNER_EDITOR,
        frozenset({Permission.USERS_READ}),
    )


def test_a_revoked_token_is_refused_and_its_siblings_are_not(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    token, sibling = (issue(session, client, settings) for _ in range(2))
    found = tokens.look_up(session, token, settings)
    assert found is not None
    assert found.client == client.id
    for _ in range(2):
        tokens.revoke(session, found)
    assert [refusal(session, t, settings) for t in (token, sibling)] == ["invalid_token", None]


def test_a_token_never_outlives_its_client(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    client.expires_at = utcnow() + timedelta(minutes=5)
    issued = tokens.issue(session, client, "users:read", settings)
    assert 298 <= issued.expires_in <= 300


def test_the_private_key_is_stored_encrypted(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    issue(session, client, settings)
    stored = session.scalars(select(SigningKey)).one()
    private = signing_keys.current(session, settings.secret_keys).as_dict(private=True)
    assert str(private["d"]) not in stored.private_key
    assert set(stored.public_jwk) == {"kty", "crv", "x", "y", "use", "alg", "kid"}


def test_another_application_secret_makes_a_new_key_and_old_tokens_stay_valid(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    before = issue(session, client, settings)
    changed = settings.model_copy(update={"secret_key": "another" * 8})
    after = issue(session, client, changed)
    assert [refusal(session, t, changed) for t in (before, after)] == [None, None]
    assert len(signing_keys.published(session)) == 2


def test_while_the_application_secret_changes_both_hosts_sign_with_one_key(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    new_secret = {"secret_key": "another" * 8, "previous_secret_key": settings.secret_key}
    changed = settings.model_copy(update=new_secret)
    for _ in range(2):
        issue(session, client, settings)
        issue(session, client, changed)
    assert [stored.retired_at for stored in session.scalars(select(SigningKey))] == [None]


def test_keys_are_replaced_every_90_days_and_published_a_day_longer(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    before = issue(session, client, settings)
    old = session.scalars(select(SigningKey)).one()
    old.created_at -= signing_keys.REPLACED_AFTER
    session.flush()
    after = issue(session, client, settings)
    assert [refusal(session, t, settings) for t in (before, after)] == [None, None]
    assert [key["kid"] == old.kid for key in signing_keys.published(session)] == [True, False]
    assert old.retired_at is not None
    old.retired_at -= signing_keys.PUBLISHED_AFTER_RETIREMENT
    session.flush()
    assert [key["kid"] == old.kid for key in signing_keys.published(session)] == [False]


def test_a_key_deleted_from_the_database_verifies_nothing(
    session: Session, client: OAuthClient, settings: Settings
) -> None:
    token = issue(session, client, settings)
    assert refusal(session, token, settings) is None
    session.delete(session.scalars(select(SigningKey)).one())
    session.flush()
    assert refusal(session, token, settings) == "invalid_token"
