"""Forged tokens of every known kind are refused: ID tokens and logout tokens."""

import base64
import hmac
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwk, jws, jwt

from app.services.identity_providers import tokens
from app.services.identity_providers.tokens import TokenRefused

ISSUER = "https://id.example"
CLIENT_ID = "portal"
NONCE = "the nonce of this request"
RSA = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
EC = jwk.ECKey.generate_key("P-256", {"kid": "two"})
STRANGER = jwk.RSAKey.generate_key(2048, {"kid": "one"})
SHORT = {"kty": "RSA", "kid": "short", "e": "AQAB", "n": RSA.as_dict(private=False)["n"][:171]}
"""The first 1,024 bits."""
KEYS = {"keys": [*(key.as_dict(private=False) for key in (RSA, EC)), SHORT]}
CLIENT_SECRET = b"the client secret, which the provider and we know"
SIGN_OUT: dict[str, Any] = {"events": {tokens.SIGN_OUT_EVENT: {}}, "jti": "j-1", "sid": "s-1"}

Make = Callable[[], str]


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    usual = {
        "iss": ISSUER,
        "aud": CLIENT_ID,
        "sub": "s-ada",
        "nonce": NONCE,
        "iat": now,
        "exp": now + 300,
    }
    return {name: value for name, value in (usual | changes).items() if value is not None}


def signed(
    header: dict[str, Any] | None = None, key: Any = RSA, alg: str = "RS256", **changes: Any
) -> str:
    written = {"alg": alg, "kid": "one", **(header or {})}
    written = {name: value for name, value in written.items() if value is not None}
    registry = jws.JWSRegistry(algorithms=[alg], strict_check_header=False)
    return jwt.encode(written, claims(**changes), key, registry=registry)


def encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def unsigned(alg: str = "none") -> str:
    parts = (encoded(json.dumps(part).encode()) for part in ({"alg": alg, "kid": "one"}, claims()))
    return ".".join([*parts, ""])


def with_secret(key: bytes) -> str:
    """A token with a signature that needs a shared secret (HS256)."""
    body = unsigned("HS256").rstrip(".")
    return f"{body}.{encoded(hmac.digest(key, body.encode(), 'sha256'))}"


def changed_afterwards() -> str:
    head, _body, signature = signed().split(".")
    return f"{head}.{encoded(json.dumps(claims(sub='s-eve')).encode())}.{signature}"


def now(seconds: float) -> int:
    return int(time.time() + seconds)


FORGED: dict[str, tuple[str, Make]] = {
    "no signature": ("algorithm", unsigned),
    "no signature, in capitals": ("algorithm", lambda: unsigned("NONE")),
    "the public key as a secret": ("algorithm", lambda: with_secret(RSA.as_pem(private=False))),
    "the client secret as the key": ("algorithm", lambda: with_secret(CLIENT_SECRET)),
    "a body changed afterwards": ("signature", changed_afterwards),
    "a key of others under a known id": ("signature", lambda: signed(key=STRANGER)),
    "an embedded key": (
        "signature",
        lambda: signed({"jwk": STRANGER.as_dict(private=False)}, key=STRANGER),
    ),
    "an embedded key without an id": (
        "key",
        lambda: signed({"jwk": STRANGER.as_dict(private=False), "kid": "x"}, key=STRANGER),
    ),
    "a key set of others": (
        "signature",
        lambda: signed({"jku": "https://evil.example/keys"}, key=STRANGER),
    ),
    "a path as the key's id": ("key", lambda: signed({"kid": "../../dev/null"}, key=STRANGER)),
    "a query as the key's id": ("key", lambda: signed({"kid": "' OR '1'='1"}, key=STRANGER)),
    "no id where several keys fit": ("key", lambda: signed({"kid": None})),
    "a key of another kind": ("key", lambda: signed({"kid": "one"}, key=EC, alg="ES256")),
    "a short key": ("short_key", lambda: signed({"kid": "short"})),
    "an extension that must be understood": (
        "critical",
        lambda: signed({"crit": ["b64"], "b64": True}),
    ),
    "an access token": ("type", lambda: signed({"typ": "at+jwt"})),
    "another issuer": ("issuer", lambda: signed(iss="https://id.example/")),
    "another tenant's issuer": ("issuer", lambda: signed(iss="https://id.example/other")),
    "no issuer": ("issuer", lambda: signed(iss=None)),
    "another audience": ("audience", lambda: signed(aud="another client")),
    "another partner's client": ("audience", lambda: signed(aud="portal-2")),
    "an audience of ours as a part": ("audience", lambda: signed(aud="portal portal-2")),
    "no audience": ("audience", lambda: signed(aud=None)),
    "several audiences without a party": ("audience", lambda: signed(aud=[CLIENT_ID, "b"])),
    "another authorized party": ("audience", lambda: signed(azp="b")),
    "expired": ("expired", lambda: signed(exp=now(-61))),
    "without an end": ("expired", lambda: signed(exp=None)),
    "an end in words": ("expired", lambda: signed(exp="tomorrow")),
    "an infinite end": ("expired", lambda: signed(exp=float("inf"))),
    "issued in the future": ("not_yet_valid", lambda: signed(iat=now(120))),
    "not yet valid": ("not_yet_valid", lambda: signed(nbf=now(120))),
    "without the time of issue": ("not_yet_valid", lambda: signed(iat=None)),
    "not words at all": ("form", lambda: "x.y.z"),
    "nothing": ("form", lambda: ""),
    "far too long": ("length", lambda: "x" * 30_000),
}
OF_ID_TOKENS: dict[str, tuple[str, Make]] = {
    "a logout token": ("type", lambda: signed({"typ": "logout+jwt"})),
    "another request's nonce": ("nonce", lambda: signed(nonce="another")),
    "no nonce": ("nonce", lambda: signed(nonce=None)),
    "no subject": ("subject", lambda: signed(sub=None)),
    "an empty subject": ("subject", lambda: signed(sub="")),
    "a subject that isn't text": ("subject", lambda: signed(sub=["s-ada"])),
    "a subject beyond 255 characters": ("subject", lambda: signed(sub="x" * 256)),
}
OF_SIGN_OUT_TOKENS: dict[str, tuple[str, Make]] = {
    "an ID token": ("event", lambda: signed(nonce=None)),
    "an ID token's nonce": ("nonce", lambda: signed(**SIGN_OUT)),
    "another event": ("event", lambda: signed(**SIGN_OUT | {"nonce": None, "events": {"x": {}}})),
    "an event that isn't an object": (
        "event",
        lambda: signed(**SIGN_OUT | {"nonce": None, "events": {tokens.SIGN_OUT_EVENT: True}}),
    ),
    "no id": ("id", lambda: signed(**SIGN_OUT | {"nonce": None, "jti": None})),
    "no subject and no session": (
        "subject",
        lambda: signed(**SIGN_OUT | {"nonce": None, "sid": None, "sub": None}),
    ),
    "valid for longer than a day": (
        "lifetime",
        lambda: signed(**SIGN_OUT | {"nonce": None, "exp": now(100_000)}),
    ),
}


def of_id_token(token: str) -> dict[str, Any]:
    return tokens.check_id_token(token, KEYS, issuer=ISSUER, client_id=CLIENT_ID, nonce=NONCE)


def of_sign_out_token(token: str) -> dict[str, Any]:
    return tokens.check_sign_out_token(token, KEYS, issuer=ISSUER, client_id=CLIENT_ID)


@pytest.mark.parametrize("name", FORGED | OF_ID_TOKENS)
def test_a_forged_id_token_is_refused(name: str) -> None:
    reason, make = (FORGED | OF_ID_TOKENS)[name]
    with pytest.raises(TokenRefused) as refused:
        of_id_token(make())
    assert refused.value.reason == reason


@pytest.mark.parametrize("name", FORGED | OF_SIGN_OUT_TOKENS)
def test_a_forged_sign_out_token_is_refused(name: str) -> None:
    reason, make = (FORGED | OF_SIGN_OUT_TOKENS)[name]
    with pytest.raises(TokenRefused) as refused:
        of_sign_out_token(make())
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "make",
    [
        signed,
        lambda: signed(alg="PS256"),
        lambda: signed({"kid": "two"}, key=EC, alg="ES256"),
        lambda: signed({"typ": "JWT", "x5t": "unused"}),
        lambda: signed(aud=[CLIENT_ID]),
        lambda: signed(aud=[CLIENT_ID, "b"], azp=CLIENT_ID),
        lambda: signed(exp=now(-50), iat=now(50), nbf=now(50)),
    ],
)
def test_a_genuine_id_token_gives_its_claims(make: Make) -> None:
    assert of_id_token(make())["sub"] == "s-ada"


@pytest.mark.parametrize("typ", [None, "JWT", "logout+jwt"])
def test_a_genuine_sign_out_token_gives_its_claims(typ: str | None) -> None:
    found = of_sign_out_token(signed({"typ": typ}, nonce=None, sub=None, **SIGN_OUT))
    assert found["sid"] == "s-1"
    assert "sub" not in found
