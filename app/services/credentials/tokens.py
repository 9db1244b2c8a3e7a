"""Access tokens: JWTs of the profile of RFC 9068, for the Partner API and the Legacy API.

A token names its client and scope; the client's current permissions are read from the database on
every request, so that revoking, suspending and demoting take effect at once.
"""

import json
import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeGuard
from uuid import UUID

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwt import JWTClaimsRegistry
from sqlalchemy import Row, bindparam, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Area, CallerKind, Role
from app.errors import Unauthenticated
from app.models import OAuthClient, Partner, RevokedToken, SigningKey, utcnow
from app.policy import ROLE_PERMISSIONS, Permission
from app.policy.caller import Caller
from app.services.credentials import signing_keys

TOKEN_TYPE = "at+jwt"  # noqa: S105 - the media type of a token, not a secret
MAX_TOKEN_LENGTH = 4096

_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
"""The characters of client ids, key ids and token ids: anything else never reaches the database."""

_CLIENT_OF_TOKEN = (
    select(
        OAuthClient.id,
        OAuthClient.name,
        OAuthClient.client_id,
        OAuthClient.partner_id,
        OAuthClient.organization_id,
        OAuthClient.area,
        OAuthClient.role,
        OAuthClient.is_limited,
        OAuthClient.expires_at,
        OAuthClient.suspended_at,
        OAuthClient.revoked_at,
        Partner.suspended_at.label("partner_suspended_at"),
        SigningKey.public_jwk,
        RevokedToken.jti.label("revoked_jti"),
    )
    .outerjoin(Partner, Partner.id == OAuthClient.partner_id)
    .outerjoin(SigningKey, SigningKey.kid == bindparam("kid"))
    .outerjoin(RevokedToken, RevokedToken.jti == bindparam("jti"))
    .where(OAuthClient.client_id == bindparam("client_id"))
)
"""All conditions of a valid token, in one row. Cached: every request runs it."""


@dataclass(frozen=True, slots=True)
class IssuedToken:
    access_token: str
    expires_in: int
    """The lifetime in seconds."""
    scope: str


@dataclass(frozen=True, slots=True)
class RevocableToken:
    """The data for revoking a token; ``client`` is the id of the client it was issued to."""

    client: UUID
    jti: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class _VerifiedToken:
    """A token that we signed and that has not expired, with its client as stored now."""

    client: Row[*tuple[Any, ...]]
    claims: dict[str, Any]


def audience(area: Area, settings: Settings) -> str:
    """Return the URL of the area that a token is for."""
    return settings.addresses.phone if area is Area.LEGACY_CALLS else settings.addresses.base


def permissions_of(area: Area, role: Role | None) -> frozenset[Permission]:
    """Return the permissions of a client: those of its role, or the one scope of Area B."""
    if area is Area.LEGACY_CALLS:
        return frozenset({Permission.LEGACY_CALL})
    return ROLE_PERMISSIONS[role] if role else frozenset()


def allowed_scope(client: OAuthClient, requested: str | None) -> str | None:
    """Return the scope to issue: the requested one, by default everything that the client may have.

    None if it requests anything else (RFC 6749: ``invalid_scope``).
    """
    allowed = permissions_of(client.area, client.role)
    requested_scopes = set((requested or "").split(" ")) - {""}
    if not requested_scopes <= allowed:
        return None
    return " ".join(sorted(requested_scopes or allowed))


def issue(session: Session, client: OAuthClient, scope: str, settings: Settings) -> IssuedToken:
    """Sign a token for the client, valid for an hour or until the client itself ends."""
    now = int(time.time())
    end = now + settings.token_seconds
    if client.expires_at is not None:
        end = min(end, int(client.expires_at.timestamp()))
    key = signing_keys.current(session, settings.secret_keys)
    claims = {
        "iss": settings.addresses.auth,
        "aud": audience(client.area, settings),
        "sub": client.client_id,
        "client_id": client.client_id,
        "iat": now,
        "exp": end,
        "jti": secrets.token_urlsafe(16),
        "partner_id": str(client.partner_id) if client.partner_id else None,
        "scope": scope,
    }
    header = {"alg": signing_keys.ALGORITHM, "typ": TOKEN_TYPE, "kid": key.kid}
    token = jwt.encode(header, claims, key, algorithms=[signing_keys.ALGORITHM])
    return IssuedToken(token, end - now, scope)


def caller_from_bearer(
    session: Session,
    token: str | None,
    area: Area,
    *,
    settings: Settings,
    ip: str | None = None,
    request_id: str | None = None,
) -> Caller:
    """Return the caller of a token of this area. One read, no write.

    Raises `Unauthenticated` (``token_missing``, ``invalid_token``).
    """
    if not token:
        message = "Send an access token: Authorization: Bearer …"
        raise Unauthenticated(message, "token_missing")
    recognised = _verify_token(session, token, settings, area)
    if recognised is None or not _is_active(recognised.client):
        message = "The access token is not valid here or no longer valid."
        raise Unauthenticated(message, "invalid_token")
    client = recognised.client
    return Caller(
        kind=CallerKind.LEGACY_CLIENT if area is Area.LEGACY_CALLS else CallerKind.CLIENT,
        role=client.role or Role.STANDARD,
        subject_id=client.id,
        label=f"{client.name} ({client.client_id})",
        partner_id=client.partner_id,
        organization_id=client.organization_id,
        permissions=permissions_of(area, client.role).intersection(
            recognised.claims["scope"].split()
        ),
        is_limited=client.is_limited,
        ip=ip,
        request_id=request_id,
    )


def look_up(session: Session, token: str, settings: Settings) -> RevocableToken | None:
    """Return our token if it has not expired; None for everything else."""
    recognised = _verify_token(session, token, settings)
    if recognised is None:
        return None
    end = datetime.fromtimestamp(recognised.claims["exp"], UTC)
    return RevocableToken(recognised.client.id, recognised.claims["jti"], end)


def revoke(session: Session, token: RevocableToken) -> None:
    """End a token before its time (RFC 7009), from the next request on. Repeating it is
    no error."""
    # Of two concurrent revocations the second finds the row of the first.
    with suppress(IntegrityError), session.begin_nested():
        session.add(RevokedToken(jti=token.jti, expires_at=token.expires_at))


def _verify_token(
    session: Session, token: str, settings: Settings, area: Area | None = None
) -> _VerifiedToken | None:
    """Decode a token, load its client and key, and verify it before anything in it is used."""
    if len(token) > MAX_TOKEN_LENGTH:
        return None
    try:
        signed = jws.extract_compact(token.encode())
        claims = json.loads(signed.payload)
    except (JoseError, ValueError, RecursionError):
        return None
    if not isinstance(claims, dict):
        return None
    client_id, jti, kid = claims.get("sub"), claims.get("jti"), signed.headers().get("kid")
    if not (_is_name(client_id) and _is_name(jti) and _is_name(kid)):
        return None
    names = {"client_id": client_id, "jti": jti, "kid": kid}
    client = session.execute(_CLIENT_OF_TOKEN, names).one_or_none()
    if client is None or client.public_jwk is None or area not in (None, client.area):
        return None
    return _VerifiedToken(client, claims) if _is_valid(signed, claims, client, settings) else None


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_valid(
    signed: jws.CompactSignature,
    claims: dict[str, Any],
    client: Row[*tuple[Any, ...]],
    settings: Settings,
) -> bool:
    """Check signature, algorithm, type and every claim by name (RFC 9068, section 4)."""
    header = signed.headers()
    if str(header.get("typ")).lower().removeprefix("application/") != TOKEN_TYPE:
        return False
    if "crit" in header:  # an extension that must be understood (RFC 7515, section 4.1.11)
        return False
    expected = JWTClaimsRegistry(
        iss={"essential": True, "value": settings.addresses.auth},
        aud={"essential": True, "value": audience(client.area, settings)},
        sub={"essential": True, "value": client.client_id},
        client_id={"essential": True, "value": client.client_id},
        iat={"essential": True},
        exp={"essential": True},
        jti={"essential": True},
        scope={"essential": True},
    )
    key = signing_keys.imported(json.dumps(client.public_jwk))
    try:
        if not jws.validate_compact(signed, key, algorithms=[signing_keys.ALGORITHM]):
            return False
        expected.validate(claims)
    except JoseError:
        return False
    partner_id = str(client.partner_id) if client.partner_id else None
    return isinstance(claims["scope"], str) and claims.get("partner_id") == partner_id


def _is_active(client: Row[*tuple[Any, ...]]) -> bool:
    """Return whether the token, its client and its partner are active."""
    return (
        client.revoked_jti is None
        and client.revoked_at is None
        and client.suspended_at is None
        and client.partner_suspended_at is None
        and (client.expires_at is None or client.expires_at > utcnow())
    )
