"""Hostile paths, methods and query strings: JSON in the area's shape, never a page, never a crash.

Generated from the routes.
"""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

import pytest
from werkzeug.test import TestResponse

from tests.contract.all_areas import AllAreas, Route, known_routes
from tests.contract.refusals import refusal

pytestmark = pytest.mark.alternating

ROUTES = known_routes()
WITH_IDS = sorted(name for name, route in ROUTES.items() if route.parameters)
WITH_QUERY = sorted(name for name, route in ROUTES.items() if route.declared.query)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY", "PROPFIND")

HOSTILE_IDS: Mapping[str, str] = {
    "a word": "not-an-id",
    "a number": "1",
    "without hyphens": "0193a5c27d407c119a3e1f0b6a2d4c01",
    "in braces": "{0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01}",
    "as a URN": "urn:uuid:0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01",
    "with a line break": "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01%0A",
    "in wide digits": quote("０193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01"),
    "one digit short": "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c0",
    "NUL": "%00",
    "NUL after an id": "0193a5c2-7d40-7c11-9a3e-1f0b6a2d4c01%00",
    "no UTF-8": "%FF",
    "half of a character": "%C3",
    "a surrogate": "%ED%A0%80",
    "the folder above": "..",
    "the folder above, escaped": "%2E%2E",
    "escaped twice": "%252E%252E%252F",
    "5,000 characters": "a" * 5_000,
    "SQL": quote("' OR 1=1 --"),
    "a template": quote("{{7*7}}"),
    "line breaks": "a%0D%0AX-Injected:%201",
    "blank": "%20",
}
PIECES_OF_PATHS = ("..%2F..%2Fetc%2Fpasswd", "%2F", "a%2Fb", "%2F%2Fevil.example")
"""Texts that become several steps of a path."""

NOWHERE = (
    "/api", "/api/", "/api/nope", "/api/partners/", "/api//partners", "/api/users/a/b/c",
    "/api/v1", "/api/v1/", "/api/v1/nope", "/api/v1/campaigns/x/nope", "/api/v2/agents",
    "/api/v1/outbound", "/api/v1/outbound/", "/api/v1/outbound/nope", "/api/v1/outbound/call/",
    "/phone", "/phone/", "/phone/nope", "/phone/outbound/", "/phone//outbound",
    "/oauth2", "/oauth2/", "/oauth2/nope", "/oauth2/token/", "/oauth2/authorize",
    "/.well-known", "/.well-known/nope", "/.well-known/jwks.json/",
    "/api/%00", "/api/%FF", "/api/%2e%2e/%2e%2e/etc/passwd", "/api/" + "a" * 5_000,
    "/phone/%00", "/oauth2/%FF", "/api/v1/outbound/%00", "/api/v1/%0d%0a",
)  # fmt: skip

QUERY_VALUES: Mapping[str, str] = {
    "nothing": "",
    "NUL": "%00",
    "no UTF-8": "%FF",
    "a surrogate": "%ED%A0%80",
    "5,000 characters": "a" * 5_000,
    "a huge number": "9" * 400,
    "a negative number": "-1",
    "NaN": "NaN",
    "wide digits": quote("１２"),
    "an impossible day": "2026-02-30",
    "the last day of all": "9999-12-31",
    "the first day of all": "0001-01-01",
    "SQL": quote("' OR 1=1 --"),
    "a wildcard": "%25",
    "JSON": quote('{"$ne": null}'),
    "line breaks": "%0D%0A",
}


def everywhere(route: Route, all_areas: AllAreas, name: str, text: str) -> str:
    """The address of the operation with one parameter replaced."""
    return route.path({**all_areas.ids, name: text})


def ask(all_areas: AllAreas, route: Route, path: str) -> TestResponse:
    """The operation's method, credential and a good body at this address."""
    body = all_areas.good_body(route) if route.declared.body else None
    return all_areas.client.open(
        path, method=route.method, headers=all_areas.headers(route), json=body
    )


def shown_in_its_place(route: Route, code: str) -> set[tuple[int, str]]:
    """The answer of an operation to a text that isn't an id."""
    if "external_user_id" in route.parameters:
        absent = (400, "user_not_found") if route.method == "PUT" else (404, "user_not_found")
        return {absent} if code == "invalid_uuid" else {(400, code)}
    return {(400, "invalid_uuid")}


@pytest.mark.parametrize("endpoint", WITH_IDS)
def test_a_hostile_id_is_refused_and_nothing_saved(all_areas: AllAreas, endpoint: str) -> None:
    route, before = ROUTES[endpoint], all_areas.saved()
    for parameter in route.parameters:
        for name, text in HOSTILE_IDS.items():
            path = everywhere(route, all_areas, parameter, text)
            response = ask(all_areas, route, path)
            code = "nul_character" if "%00" in text else "invalid_uuid"
            assert refusal(response, path) in shown_in_its_place(route, code), (parameter, name)
            assert "X-Injected" not in response.headers
        for text in PIECES_OF_PATHS:
            path = everywhere(route, all_areas, parameter, text)
            response = ask(all_areas, route, path)
            assert refusal(response, path)[0] in {400, 404, 405}, (parameter, text)
    assert all_areas.saved() == before


@pytest.mark.parametrize("path", NOWHERE, ids=lambda path: path[:40])
def test_an_address_without_an_operation_is_404_in_the_areas_shape(
    all_areas: AllAreas, path: str
) -> None:
    expected = (404, "invalid_request" if path.startswith("/oauth2") else "not_found")
    found = {}
    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
        response = all_areas.client.open(path, method=method, data=b"[", headers=all_areas.operator)
        found[method] = refusal(response, path)
    assert found == dict.fromkeys(found, expected)


@pytest.mark.parametrize("endpoint", sorted(ROUTES))
def test_another_method_is_405_and_names_the_right_ones(all_areas: AllAreas, endpoint: str) -> None:
    path = ROUTES[endpoint].path(all_areas.ids)
    answering = {
        route.method
        for route in ROUTES.values()
        if route.path(all_areas.ids) == path or route.rule.rule == ROUTES[endpoint].rule.rule
    }
    allowed = answering | {"OPTIONS"} | ({"HEAD"} if "GET" in answering else set())
    code = "invalid_request" if path.startswith("/oauth2") else "method_not_allowed"
    before = all_areas.saved()
    for method in set(METHODS) - allowed:
        response = all_areas.client.open(
            path, method=method, headers=all_areas.headers(ROUTES[endpoint])
        )
        assert response.headers.get("Allow") == ", ".join(sorted(allowed)), method
        if method == "HEAD":
            assert (response.status_code, response.data) == (405, b"")
        else:
            assert refusal(response, path) == (405, code), method
    assert all_areas.saved() == before


@pytest.mark.parametrize("endpoint", WITH_QUERY)
def test_a_parameter_sent_twice_is_refused(all_areas: AllAreas, endpoint: str) -> None:
    route = ROUTES[endpoint]
    query = route.declared.query
    assert query is not None
    for name in query.wire_fields():
        path = f"{route.path(all_areas.ids)}?{urlencode([(name, '1'), (name, '1')])}"
        response = ask(all_areas, route, path)
        assert refusal(response, path) == (400, "repeated"), name
        [problem] = response.get_json()["details"]["errors"]
        assert problem["field"] == name


@pytest.mark.parametrize("endpoint", WITH_QUERY)
def test_a_hostile_value_of_a_parameter_is_refused_or_finds_nothing(
    all_areas: AllAreas, endpoint: str
) -> None:
    route, before = ROUTES[endpoint], all_areas.saved()
    query = route.declared.query
    assert query is not None
    for parameter in query.wire_fields():
        for name, text in QUERY_VALUES.items():
            path = f"{route.path(all_areas.ids)}?{parameter}={text}"
            response = ask(all_areas, route, path)
            if response.status_code == 200:
                assert response.content_type == "application/json", (parameter, name)
                assert name != "NUL", parameter
            else:
                assert refusal(response, path)[0] in {400, 404}, (parameter, name)
    if route.method == "GET":
        assert all_areas.saved() == before
