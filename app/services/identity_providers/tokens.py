"""Check the tokens of a provider: ID tokens and logout tokens.

Keys come only from the provider's key set, never from the token. The libraries accept expired
tokens and wrong audiences, so every claim is checked here.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from app.gateways import openid
from app.gateways.openid import ProviderEndpoints

LEEWAY_SECONDS = 60
"""Maximum difference of the clocks."""
MAX_SIGN_OUT_SECONDS = 86_400
"""Maximum lifetime of a logout token, which is remembered until it expires."""
MAX_TIME = 253_402_300_800
"""The year 10000: larger times are invalid."""
MAX_TOKEN_LENGTH = 20_000
MAX_SUBJECT_LENGTH = 255
ALGORITHMS = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    "ES256": "P-256",
    "ES384": "P-384",
    "ES512": "P-521",
}
"""Signatures with a public key, and its type: the family or the curve."""
MIN_RSA_BITS = 2048
ID_TOKEN_TYPES = (None, "JWT")
SIGN_OUT_TOKEN_TYPES = (None, "JWT", "logout+jwt")
SIGN_OUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"

TOO_OLD = "auth_time"
"""The reason of a refusal because the user signed in at the provider too long ago."""


class _TokenRegistry(jws.JWSRegistry):
    """Accepts tokens with many groups, and unknown headers: none of them is used."""

    max_header_length = 4096
    max_payload_length = MAX_TOKEN_LENGTH


class TokenRefused(Exception):
    """``reason`` is a word for the log."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class UnknownKey(TokenRefused):
    """None of the keys is that of the token: the provider may have a new one."""


def with_current_keys(
    endpoints: ProviderEndpoints,
    check: Callable[[Mapping[str, Any]], dict[str, Any]],
    *,
    allow_private: bool,
) -> dict[str, Any]:
    """Return the claims that ``check`` finds with the provider's keys, which are fetched again if
    none of them is that of the token. Raises as ``check``, and `openid.ProviderFailed`."""
    try:
        return check(openid.keys_of(endpoints, allow_private=allow_private))
    except UnknownKey:
        return check(openid.keys_of(endpoints, allow_private=allow_private, renew=True))


def check_id_token(
    token: str, keys: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """Return the claims of an ID token for us that answers our request. Raises `TokenRefused`."""
    claims = _signed_claims(token, keys, ID_TOKEN_TYPES)
    _check_common(claims, issuer, client_id)
    if claims.get("nonce") != nonce:
        raise TokenRefused("nonce")
    if not is_subject(claims.get("sub")):
        raise TokenRefused("subject")
    return claims


def check_proven_since(claims: Mapping[str, Any], since: datetime, *, must_say: bool) -> None:
    """Check that the user of an ID token signed in at the provider after a moment, if it says when.
    Raises `TokenRefused`, also if it doesn't say so although it must."""
    if "auth_time" not in claims and not must_say:
        return
    auth_time = _seconds_of(claims.get("auth_time"))
    if auth_time is None or auth_time < since.timestamp() - LEEWAY_SECONDS:
        raise TokenRefused(TOO_OLD)


def signed_in_at(claims: Mapping[str, Any]) -> datetime | None:
    """Return when the user of an ID token signed in at the provider, if it says so."""
    auth_time = _seconds_of(claims.get("auth_time"))
    return None if auth_time is None or auth_time < 0 else datetime.fromtimestamp(auth_time, UTC)


def check_sign_out_token(
    token: str, keys: Mapping[str, Any], *, issuer: str, client_id: str
) -> dict[str, Any]:
    """Return the claims of a logout token for us (OpenID Connect Back-Channel Logout 1.0, section
    2.6). Raises `TokenRefused`."""
    claims = _signed_claims(token, keys, SIGN_OUT_TOKEN_TYPES)
    _check_common(claims, issuer, client_id)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(SIGN_OUT_EVENT), dict):
        raise TokenRefused("event")
    if "nonce" in claims:
        raise TokenRefused("nonce")
    if claims["exp"] > time.time() + MAX_SIGN_OUT_SECONDS:
        raise TokenRefused("lifetime")
    if not is_subject(claims.get("jti")):
        raise TokenRefused("id")
    subjects = [claims[name] for name in ("sub", "sid") if name in claims]
    if not subjects or not all(map(is_subject, subjects)):
        raise TokenRefused("subject")
    return claims


def is_subject(value: object) -> bool:
    """Return whether the text can be a subject: printable ASCII of at most 255 characters (OpenID
    Connect Core, section 2)."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_SUBJECT_LENGTH
        and value.isascii()
        and value.isprintable()
    )


def _signed_claims(
    token: str, keys: Mapping[str, Any], types: tuple[str | None, ...]
) -> dict[str, Any]:
    if len(token) > MAX_TOKEN_LENGTH:
        raise TokenRefused("length")
    registry = _TokenRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
    try:
        header = jws.extract_compact(token.encode(), registry=registry).headers()
    except (JoseError, ValueError, TypeError):
        raise TokenRefused("form") from None
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise TokenRefused("algorithm")
    if header.get("typ") not in types:
        raise TokenRefused("type")
    if "crit" in header:
        raise TokenRefused("critical")
    key = _find_key(keys, header.get("kid"), ALGORITHMS[algorithm])
    try:
        # nosemgrep: token-without-claims - both callers check the claims
        token_read = jwt.decode(token, key, algorithms=[algorithm], registry=registry)
    except (JoseError, ValueError, TypeError):
        raise TokenRefused("signature") from None
    return token_read.claims


def _find_key(keys: Mapping[str, Any], kid: object, key_type: str) -> RSAKey | ECKey:
    """Return the one key of this type with the id; without an id, the only key of this type."""
    matching = [
        entry
        for entry in keys.get("keys", ())
        if isinstance(entry, dict)
        and (kid is None or entry.get("kid") == kid)
        and entry.get("use", "sig") == "sig"
        and key_type in (entry.get("kty"), entry.get("crv"))
    ]
    if len(matching) != 1:
        raise UnknownKey("key")
    public = {name: value for name, value in matching[0].items() if name not in ("alg", "key_ops")}
    if key_type == "RSA" and len(str(public.get("n"))) * 6 < MIN_RSA_BITS:  # six bits a character
        raise TokenRefused("short_key")
    try:
        return RSAKey.import_key(public) if key_type == "RSA" else ECKey.import_key(public)
    except (JoseError, ValueError, TypeError, KeyError):
        raise UnknownKey("key") from None


def _check_common(claims: Mapping[str, Any], issuer: str, client_id: str) -> None:
    """Check issuer, audience and times."""
    now = time.time()
    if claims.get("iss") != issuer:
        raise TokenRefused("issuer")
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if client_id not in audiences:
        raise TokenRefused("audience")
    party = claims.get("azp")
    if (party is None and len(audiences) > 1) or party not in (None, client_id):
        raise TokenRefused("audience")
    ends, issued = _seconds_of(claims.get("exp")), _seconds_of(claims.get("iat"))
    begins = _seconds_of(claims["nbf"]) if "nbf" in claims else 0.0
    if ends is None or now >= ends + LEEWAY_SECONDS:
        raise TokenRefused("expired")
    if any(moment is None or moment > now + LEEWAY_SECONDS for moment in (issued, begins)):
        raise TokenRefused("not_yet_valid")


def _seconds_of(value: object) -> float | None:
    """Return a number of seconds; None for everything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if abs(value) < MAX_TIME else None
