"""Hostile credentials and headers: refused in the area's shape, without a crash or a write.

A web server hands headers over as Latin-1, so a test sends what arrives there.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.contract.all_areas import AllAreas, Route, known_routes
from tests.contract.refusals import refusal

pytestmark = pytest.mark.alternating

ROUTES = known_routes()
LONG = "a" * 100_000
NOT_ASCII = {
    "Latin-1": "\xe9\xff",
    "UTF-8 as it arrives": "ключ".encode().decode("latin-1"),
    "half of a character": "\xc3",
    "a byte order mark": "\xef\xbb\xbfkey",
}
KEYS: Mapping[str, str] = {
    "empty": "",
    "blank": "   ",
    "very long": LONG,
    **NOT_ASCII,
    "a bare prefix": "ppk_live_",
    "wide digits": "ppk_live_" + "\xef\xbc\x91" * 16,
    "a wildcard": "ppk_live_%_%",
    "SQL": "' OR 1=1 --",
    "two keys": "ppk_live_a, ppk_live_b",
}


def part(value: Any) -> str:
    """A part of a JWT that holds this value, or these bytes."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


GOOD_HEADER = {"alg": "ES256", "typ": "at+jwt", "kid": "a"}
GOOD_CLAIMS = {"sub": "ppc_a", "jti": "a", "scope": "partner:read"}
TOKENS: Mapping[str, str] = {
    "very long": LONG,
    **NOT_ASCII,
    "one part": "a",
    "two parts": "a.b",
    "three empty parts": "..",
    "five parts": "a.b.c.d.e",
    "no base64": "!.!.!",
    "no JSON": f"{part(b'{')}.{part(b'{')}.a",
    "no UTF-8": f"{part(bytes([255, 254]))}.{part(bytes([255, 254]))}.a",
    "a list for a header": f"{part([])}.{part(GOOD_CLAIMS)}.a",
    "a list for claims": f"{part(GOOD_HEADER)}.{part([])}.a",
    "a text for claims": f"{part(GOOD_HEADER)}.{part('a')}.a",
    "null for everything": f"{part(None)}.{part(None)}.{part(None)}",
    "1,000 levels in the header": f"{part(b'[' * 1000)}.{part(GOOD_CLAIMS)}.a",
    "1,000 levels in the claims": f"{part(GOOD_HEADER)}.{part(b'[' * 1000)}.a",
    "a number of 1,000 digits": f"{part(GOOD_HEADER)}.{part(b'9' * 1000)}.a",
    "NaN": f"{part(GOOD_HEADER)}.{part(b'NaN')}.a",
    "no signature": f"{part(GOOD_HEADER | {'alg': 'none'})}.{part(GOOD_CLAIMS)}.",
    "another algorithm": f"{part(GOOD_HEADER | {'alg': 'HS256'})}.{part(GOOD_CLAIMS)}.a",
    "an algorithm that is an object": f"{part(GOOD_HEADER | {'alg': {}})}.{part(GOOD_CLAIMS)}.a",
    "a key that is an object": f"{part(GOOD_HEADER | {'kid': {}})}.{part(GOOD_CLAIMS)}.a",
    "a NUL in the key's name": f"{part(GOOD_HEADER | {'kid': chr(0)})}.{part(GOOD_CLAIMS)}.a",
    "a NUL in the client": f"{part(GOOD_HEADER)}.{part(GOOD_CLAIMS | {'sub': chr(0)})}.a",
    "a surrogate in it": f"{part(GOOD_HEADER)}.{part(GOOD_CLAIMS | {'sub': chr(0xD800)})}.a",
    "a list for the client": f"{part(GOOD_HEADER)}.{part(GOOD_CLAIMS | {'sub': ['a']})}.a",
    "a list for the scope": f"{part(GOOD_HEADER)}.{part(GOOD_CLAIMS | {'scope': ['a']})}.a",
    "critical extensions": f"{part(GOOD_HEADER | {'crit': ['b64'], 'b64': False})}"
    f".{part(GOOD_CLAIMS)}.a",
    "a compressed one": f"{part(GOOD_HEADER | {'zip': 'DEF'})}.{part(GOOD_CLAIMS)}.a",
    "a key of its own": f"{part(GOOD_HEADER | {'jku': 'http://127.0.0.1/'})}.{part(GOOD_CLAIMS)}.a",
}
SCHEMES = ("", "Bearer", "Bearer ", "bearer", "Basic eDp5", "Digest a", "Bearer a b", "\xe9", "=")
HOSTILE_REQUEST_HEADERS: Mapping[str, Mapping[str, str]] = {
    "no host": {"Host": ""},
    "a stranger's host": {"Host": "evil.example:99999"},
    "a forwarded host": {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "\xe9"},
    "a forwarded address": {"X-Forwarded-For": "127.0.0.1, \xe9", "Forwarded": "for=\xe9"},
    "another method inside": {"X-HTTP-Method-Override": "DELETE"},
    "another address inside": {"X-Original-URL": "/admin", "X-Rewrite-URL": "/admin"},
    "cookies": {"Cookie": "session=\xe9; a=" + "b" * 5000 + "; =; ;;"},
    "what it accepts": {"Accept": "text/html;q=NaN, \xe9", "Accept-Language": "\xe9;q=-1"},
    "a part of it": {"Range": "bytes=99999999999999999999-", "If-Range": "\xe9"},
    "conditions": {"If-Modified-Since": "\xe9", "If-None-Match": '"\xe9', "If-Match": "*"},
    "an id of its own": {"X-Request-Id": "\xe9" * 5000, "Traceparent": "\xe9"},
    "an origin": {"Origin": "null", "Referer": "\xe9", "Sec-Fetch-Site": "cross-site"},
    "a browser": {"User-Agent": "\xe9" * 5000},
}


def hostile_credentials(blueprint: str) -> Iterator[tuple[str, dict[str, str]]]:
    if blueprint == "public":
        for name, key in KEYS.items():
            yield name, {"x-api-key": key}
        return
    for scheme in SCHEMES:
        yield f"Authorization: {scheme}", {"Authorization": scheme}
    for name, token in TOKENS.items():
        yield name, {"Authorization": f"Bearer {token}"}


def message_of(blueprint: str, headers: Mapping[str, str]) -> tuple[int, str]:
    """The refusal of a credential that is none."""
    if blueprint == "public":
        return 401, "invalid_api_key"
    scheme, _, token = headers["Authorization"].partition(" ")
    sent = scheme.lower() == "bearer" and token.strip()
    status = 403 if blueprint == "legacy_calls" else 401
    return status, "invalid_token" if sent else "token_missing"


def guarded() -> list[str]:
    return sorted(name for name, route in ROUTES.items() if route.blueprint != "oauth")


def one_of_each_area() -> list[str]:
    return ["legacy_calls.place_call", "partner_admin.update_partner", "public.create_call"]


def ask(all_areas: AllAreas, route: Route, headers: Mapping[str, str]) -> Any:
    body = all_areas.good_body(route) if route.declared.body else None
    path = route.path(all_areas.ids)
    return all_areas.client.open(path, method=route.method, headers=dict(headers), json=body)


@pytest.mark.parametrize("endpoint", one_of_each_area())
def test_a_hostile_credential_is_refused_like_a_missing_one(
    all_areas: AllAreas, endpoint: str
) -> None:
    route, before = ROUTES[endpoint], all_areas.saved()
    path = route.path(all_areas.ids)
    found, expected = {}, {}
    for name, headers in hostile_credentials(route.blueprint):
        response = ask(all_areas, route, headers)
        found[name] = refusal(response, path)
        expected[name] = message_of(route.blueprint, headers)
        challenged = "WWW-Authenticate" in response.headers
        assert challenged == (response.status_code == 401), name
    assert found == expected
    assert all_areas.saved() == before


@pytest.mark.parametrize("endpoint", guarded())
def test_missing_credentials_and_those_of_other_areas_are_refused(
    all_areas: AllAreas, endpoint: str
) -> None:
    route, before = ROUTES[endpoint], all_areas.saved()
    own = all_areas.credentials[route.blueprint]
    strangers = [headers for headers in all_areas.credentials.values() if headers != own]
    found = [
        refusal(ask(all_areas, route, headers), route.path(all_areas.ids)) for headers in strangers
    ]
    expected = [
        message_of(route.blueprint, {"Authorization": "", **headers}) for headers in strangers
    ]
    assert found == expected
    assert all_areas.saved() == before


@pytest.mark.parametrize("endpoint", guarded())
def test_hostile_headers_change_nothing(all_areas: AllAreas, endpoint: str) -> None:
    route = ROUTES[endpoint]
    found = {}
    for name, headers in HOSTILE_REQUEST_HEADERS.items():
        path = route.path(all_areas.ids)
        sent = {**all_areas.headers(route), **headers, "Content-Type": "text/plain"}
        response = all_areas.client.open(path, method=route.method, headers=sent, data=b"{}")
        is_good = response.status_code == 200 or refusal(response, path)[0] < 500
        assert response.content_type == "application/json", name
        assert "evil.example" not in response.get_data(as_text=True), name
        assert is_good, name
        found[name] = response.status_code
    # Without a body in JSON the ones that read a body say 415, and those that need a query 400.
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(
    "key",
    ["", " ", "\t", "a" * 256, "\xe9", "ключ".encode().decode("latin-1"), "a\x7fb", "a\tb"],
)
def test_a_hostile_idempotency_key_is_refused(all_areas: AllAreas, key: str) -> None:
    route, before = ROUTES["public.create_call"], all_areas.saved()
    response = ask(all_areas, route, {**all_areas.headers(route), "Idempotency-Key": key})
    assert refusal(response, route.path(all_areas.ids)) == (400, "invalid_idempotency_key")
    assert all_areas.saved() == before
