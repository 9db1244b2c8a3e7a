"""Whatever a client sends as a body, every operation refuses it whole and saves nothing.

Generated from the routes: an operation that is added is tested without a word here, except that
it needs a good body in `world.good_bodies`.
"""

import gzip
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from app.config import Settings
from tests.contract.all_areas import AllAreas, Route, good_bodies, known_routes
from tests.contract.refusals import Refusal, refusal
from tests.fixtures.hostile import HOSTILE_JSON

pytestmark = pytest.mark.alternating

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
ROUTES = known_routes()
BODIES = sorted(name for name, route in ROUTES.items() if route.declared.body)
FORMS = sorted(name for name, route in ROUTES.items() if route.declared.form)

WRONG_MEDIA: Mapping[str, tuple[str, str | None, str]] = {
    "no content type": ("", None, "unsupported_media_type"),
    "text": ("text/plain", None, "unsupported_media_type"),
    "HTML": ("text/html", None, "unsupported_media_type"),
    "a form": (FORM, None, "unsupported_media_type"),
    "a form with files": ("multipart/form-data; boundary=x", None, "unsupported_media_type"),
    "another kind of JSON": ("application/merge-patch+json", None, "unsupported_media_type"),
    "nonsense": ("/;=;,", None, "unsupported_media_type"),
    "latin-1": (f"{JSON}; charset=latin-1", None, "unsupported_media_type"),
    "UTF-16": (f"{JSON}; charset=utf-16", None, "unsupported_media_type"),
    "gzip": (JSON, "gzip", "unsupported_encoding"),
    "brotli": (JSON, "br", "unsupported_encoding"),
    "twice encoded": (JSON, "identity, gzip", "unsupported_encoding"),
    "an unknown encoding": (JSON, "\xe9", "unsupported_encoding"),
}
"""Content-Type, Content-Encoding and the code of the refusal."""

UNREADABLE_FORMS: Mapping[str, bytes] = {
    "no UTF-8": b"grant_type=client_credentials&scope=\xff\xfe",
    "escaped, no UTF-8": b"grant_type=client_credentials&scope=%ff%fe",
    "an escaped half of a surrogate pair": b"grant_type=client_credentials&scope=%ed%a0%80",
    "a name twice": b"grant_type=client_credentials&grant_type=client_credentials",
    "a name that means nothing, twice": b"grant_type=client_credentials&a=1&a=2",
    "200 names": urlencode({f"a{number}": "1" for number in range(200)}).encode(),
}
EMPTY_FORMS: Mapping[str, bytes] = {
    "nothing": b"",
    "JSON": b'{"grant_type": "client_credentials"}',
    "names without values": b"grant_type=&client_id=&client_secret=&token=",
    "a separator that once was one": b"x=1;grant_type=client_credentials;token=a",
    "control characters": b"client_id=%00%0d%0a&client_secret=%00&x=%00",
}
"""Forms that can be read and say nothing, with the error of each operation that reads forms."""
MESSAGES_OF_EMPTY_FORMS = {"oauth.token": "invalid_request", "oauth.revoke_token": "invalid_client"}


@pytest.fixture(params=BODIES)
def route(request: pytest.FixtureRequest) -> Route:
    return ROUTES[request.param]


@pytest.fixture(params=FORMS)
def form_route(request: pytest.FixtureRequest) -> Route:
    return ROUTES[request.param]


def ask(all_areas: AllAreas, route: Route, body: bytes, kind: str = JSON, **more: Any) -> Refusal:
    """How the operation refuses this body, sent with a good credential and good ids."""
    path = route.path(all_areas.ids)
    headers = dict(all_areas.headers(route)) | more.pop("headers", {})
    response = all_areas.client.open(
        path, method=route.method, data=body, content_type=kind, headers=headers, **more
    )
    return refusal(response, path)


def good(all_areas: AllAreas, route: Route) -> bytes:
    return json.dumps(all_areas.good_body(route)).encode()


def limit_of(all_areas: AllAreas, route: Route) -> int:
    settings: Settings = all_areas.app.extensions["settings"]
    limit: int = getattr(settings, route.declared.body_limit)
    return limit


def test_every_operation_with_a_body_has_a_good_one() -> None:
    ids = dict.fromkeys(("organization_id", "assistant_id"), "")
    assert [name for name in BODIES if name not in good_bodies(ids)] == []
    assert set(FORMS) == {"oauth.token", "oauth.revoke_token"}


def test_a_good_body_is_accepted_and_saved(all_areas: AllAreas, route: Route) -> None:
    before = all_areas.saved()
    path = route.path(all_areas.ids)
    body, headers = good(all_areas, route), all_areas.headers(route)
    response = all_areas.client.open(
        path, method=route.method, data=body, content_type=JSON, headers=headers
    )
    assert (response.status_code, response.content_type) == (200, JSON)
    assert all_areas.saved() != before


def test_a_body_that_is_no_strict_json_is_refused(all_areas: AllAreas, route: Route) -> None:
    before = all_areas.saved()
    found = {name: ask(all_areas, route, body) for name, (body, _) in HOSTILE_JSON.items()}
    assert found == {name: (400, code) for name, (_, code) in HOSTILE_JSON.items()}
    assert all_areas.saved() == before


def test_hostile_values_inside_a_good_body_are_refused(all_areas: AllAreas, route: Route) -> None:
    inside = {
        "a NUL": (b'"a": "\\u0000"', "nul_character"),
        "half a surrogate pair": (b'"a": "\\udfff"', "lone_surrogate"),
        "NaN": (b'"a": NaN', "invalid_json"),
        "400 digits": (b'"a": -' + b"1" * 400, "number_out_of_range"),
        "10,000 levels": (b'"a": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "too_deep"),
        "a second time all of it": (good(all_areas, route)[1:-1], "duplicate_name"),
    }
    before = all_areas.saved()
    found = {
        name: ask(all_areas, route, good(all_areas, route)[:-1] + b", " + more + b"}")
        for name, (more, _) in inside.items()
    }
    assert found == {name: (400, code) for name, (_, code) in inside.items()}
    assert all_areas.saved() == before


def test_other_content_types_and_encodings_are_refused(all_areas: AllAreas, route: Route) -> None:
    before = all_areas.saved()
    body, found = good(all_areas, route), {}
    for name, (kind, encoding, _) in WRONG_MEDIA.items():
        headers = {"Content-Encoding": encoding} if encoding else {}
        sent = gzip.compress(body) if encoding == "gzip" else body
        found[name] = ask(all_areas, route, sent, kind, headers=headers)
    assert found == {name: (415, code) for name, (_, _, code) in WRONG_MEDIA.items()}
    assert all_areas.saved() == before


def test_a_body_that_ends_too_early_is_refused(all_areas: AllAreas, route: Route) -> None:
    before = all_areas.saved()
    body = good(all_areas, route)
    length = {"CONTENT_LENGTH": str(len(body) + 1)}
    assert ask(all_areas, route, body, environ_overrides=length) == (400, "body_incomplete")
    assert all_areas.saved() == before


def test_a_body_over_the_limit_is_refused(all_areas: AllAreas, route: Route) -> None:
    before = all_areas.saved()
    body = good(all_areas, route)
    filled = body + b" " * (limit_of(all_areas, route) - len(body))
    assert ask(all_areas, route, filled + b" ") == (413, "body_too_large")
    path = route.path(all_areas.ids)
    announced = all_areas.client.open(
        path,
        method=route.method,
        headers=dict(all_areas.headers(route)),
        content_type=JSON,
        environ_overrides={"CONTENT_LENGTH": str(10**30)},
    )
    assert refusal(announced, path) == (413, "body_too_large")
    assert all_areas.saved() == before
    fitting = all_areas.client.open(
        path, method=route.method, data=filled, content_type=JSON, headers=all_areas.headers(route)
    )
    assert fitting.status_code == 200


def test_forms_that_cannot_be_read_are_refused(all_areas: AllAreas, form_route: Route) -> None:
    before = all_areas.saved()
    found = {
        name: ask(all_areas, form_route, body, FORM) for name, body in UNREADABLE_FORMS.items()
    }
    for name, (json_kind, encoding, _) in WRONG_MEDIA.items():
        kind = json_kind.replace(JSON, FORM)
        if kind != FORM or encoding:
            headers = {"Content-Encoding": encoding} if encoding else {}
            found[name] = ask(all_areas, form_route, b"grant_type=a", kind, headers=headers)
    cut_off = {"CONTENT_LENGTH": "50"}
    found["cut off"] = ask(all_areas, form_route, b"a=1", FORM, environ_overrides=cut_off)
    assert found == dict.fromkeys(found, (400, "invalid_request"))
    too_large = b"a=" + b"x" * limit_of(all_areas, form_route)
    assert ask(all_areas, form_route, too_large, FORM) == (413, "invalid_request")
    assert all_areas.saved() == before


def test_empty_forms_are_refused(all_areas: AllAreas, form_route: Route) -> None:
    found = {name: ask(all_areas, form_route, body, FORM) for name, body in EMPTY_FORMS.items()}
    expected = (400, MESSAGES_OF_EMPTY_FORMS[form_route.endpoint])
    assert found == dict.fromkeys(EMPTY_FORMS, expected)
