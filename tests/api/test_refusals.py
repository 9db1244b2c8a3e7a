"""Every refusal under the JSON areas is JSON, in the area's shape and in the right order."""

import logging
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.http.rate_limit import TokenBuckets
from tests.api.conftest import PARTNER

ADDRESS = f"/api/things/{PARTNER}"
ADMIN = {"Authorization": "Bearer partnerAdmin"}


def body_of(answer: Any) -> dict[str, Any]:
    """The body, its request id checked against the header and taken out."""
    body: dict[str, Any] = answer.get_json()
    assert answer.content_type == "application/json"
    if "details" in body:
        assert body["details"].pop("requestId") == answer.headers["X-Request-Id"]
    return body


def error(status: int, code: str, message: str, **more: Any) -> dict[str, Any]:
    details = {"code": code, "errors": []}
    return {"statusCode": status, "message": message, "details": details, **more}


NOWHERE = error(404, "not_found", "Nothing was found at this address.")


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api/nowhere",
        "/api//things",
        "/api/things/",
        "/api/v1/nowhere",
        "/phone",
        "/phone/nowhere",
        "/.well-known/nowhere",
        "/api/things/%00/x",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_an_unmatched_path_answers_json(things_client: FlaskClient, method: str, path: str) -> None:
    answer = things_client.open(path, method=method)
    assert (answer.status_code, body_of(answer)) == (404, NOWHERE)


def test_answers_about_calls_add_success(things_client: FlaskClient) -> None:
    answer = things_client.get("/api/v1/outbound/nowhere")
    assert (answer.status_code, body_of(answer)) == (404, NOWHERE | {"success": False})


def test_the_token_endpoint_has_its_own_shape(things_client: FlaskClient) -> None:
    answer = things_client.get("/oauth2/nowhere")
    expected = {
        "error": "invalid_request",
        "error_description": "Nothing was found at this address.",
    }
    assert (answer.status_code, body_of(answer)) == (404, expected)


@pytest.mark.parametrize("path", ["/", "/apiary", "/phones", "/oauth2x/token"])
def test_other_paths_are_not_answered_as_an_area(things_client: FlaskClient, path: str) -> None:
    assert things_client.get(path).content_type == "text/html; charset=utf-8"


def test_a_wrong_method_names_the_right_ones(things_client: FlaskClient) -> None:
    answer = things_client.delete(ADDRESS, headers=ADMIN)
    expected = error(405, "method_not_allowed", "This address does not accept this method.")
    assert (answer.status_code, body_of(answer)) == (405, expected)
    assert answer.headers["Allow"] == "OPTIONS, PUT"


def test_options_needs_no_credential_and_says_what_is_allowed(things_client: FlaskClient) -> None:
    answer = things_client.options("/api/things")
    assert (answer.status_code, answer.data) == (200, b"")
    assert "Content-Type" not in answer.headers
    assert answer.allow.as_set() == {"get", "head", "options"}


def test_head_answers_as_get_without_a_body(things_client: FlaskClient) -> None:
    head = things_client.head("/api/things?name=x", headers=ADMIN)
    get = things_client.get("/api/things?name=x", headers=ADMIN)
    assert (head.status_code, head.data, head.content_length) == (200, b"", len(get.data))


def test_a_request_without_a_credential_gets_401_with_a_challenge(
    things_client: FlaskClient,
) -> None:
    answer = things_client.put(ADDRESS)
    expected = error(401, "token_missing", "Send a token.")
    assert (answer.status_code, body_of(answer)) == (401, expected)
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_the_credential_is_checked_before_path_query_and_body(things_client: FlaskClient) -> None:
    answers = (
        things_client.put("/api/things/no-id", data=b"["),
        things_client.get("/api/things?name=a&name=b"),
    )
    for answer in answers:
        assert (answer.status_code, answer.get_json()["details"]["code"]) == (401, "token_missing")


def test_a_role_without_the_permission_gets_403_before_the_body_is_read(
    things_client: FlaskClient,
) -> None:
    headers = {"Authorization": "Bearer admin"}
    answer = things_client.put("/api/things/no-id", data=b"[", headers=headers)
    message = "This needs the permission partner:write, which the credential does not have."
    expected = error(403, "insufficient_scope", message)
    expected["details"]["permission"] = "partner:write"
    assert (answer.status_code, body_of(answer)) == (403, expected)


def test_a_malformed_id_in_the_path_gets_400_that_names_it(things_client: FlaskClient) -> None:
    answer = things_client.put(f"/api/things/{PARTNER.hex}", json={}, headers=ADMIN)
    body = body_of(answer)
    assert answer.status_code == 400
    [problem] = body["details"]["errors"]
    assert (problem["field"], problem["code"]) == ("thingId", "invalid_uuid")


def test_all_problems_of_a_body_come_in_one_answer(things_client: FlaskClient) -> None:
    sent = {
        "partnerName": None,
        "defaultAgentLimit": "1",
        "socialLinks": [{"type": "myspace", "url": "javascript:alert(1)"}],
        "suportEmail": "x",
    }
    answer = things_client.put(ADDRESS, json=sent, headers=ADMIN)
    body = body_of(answer)
    assert (body["statusCode"], body["message"]) == (400, "5 fields need changing.")
    assert body["details"]["code"] == "validation_failed"
    assert {(p["field"], p["code"]) for p in body["details"]["errors"]} == {
        ("partnerName", "not_nullable"),
        ("defaultAgentLimit", "wrong_type"),
        ("socialLinks.0.type", "not_allowed"),
        ("socialLinks.0.url", "invalid_url"),
        ("suportEmail", "unknown_field"),
    }


def test_a_parameter_sent_twice_is_refused_and_an_unknown_one_ignored(
    things_client: FlaskClient,
) -> None:
    twice = things_client.get("/api/things?name=a&name=b", headers=ADMIN)
    unknown = things_client.get("/api/things?colour=red&colour=blue", headers=ADMIN)
    [problem] = body_of(twice)["details"]["errors"]
    assert (twice.status_code, problem["field"], problem["code"]) == (400, "name", "repeated")
    assert (unknown.status_code, unknown.get_json()) == (200, [])


def test_a_nul_in_the_query_is_refused(things_client: FlaskClient) -> None:
    answer = things_client.get("/api/things?name=%00", headers=ADMIN)
    assert (answer.status_code, body_of(answer)["details"]["code"]) == (400, "nul_character")


def test_a_crash_gets_500_in_json_without_internal_details(
    things_client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = things_client.get("/api/broken", headers=ADMIN)
    message = "Something went wrong on our side. It is logged under requestId."
    assert (answer.status_code, body_of(answer)) == (500, error(500, "internal_error", message))
    assert "a secret of the inside" in caplog.text


def test_the_rate_is_counted_for_each_credential(
    things_app: Flask, things_client: FlaskClient
) -> None:
    now = [0.0]
    things_app.extensions["rate_limit"] = TokenBuckets(2, 3, clock=lambda: now[0])
    editor = {"Authorization": "Bearer partnerEditor"}
    statuses = [things_client.get("/api/things", headers=ADMIN).status_code for _ in range(4)]
    refused = things_client.get("/api/things", headers=ADMIN)
    assert statuses == [200, 200, 200, 429]
    assert (body_of(refused)["details"]["code"], refused.headers["Retry-After"]) == (
        "rate_limited",
        "1",
    )
    assert things_client.get("/api/things", headers=editor).status_code == 200
    now[0] = 0.5
    assert things_client.get("/api/things", headers=ADMIN).status_code == 200


def test_a_request_id_of_the_client_is_not_used(things_client: FlaskClient) -> None:
    answer = things_client.get("/api/things", headers=ADMIN | {"X-Request-Id": "mine"})
    assert answer.headers["X-Request-Id"].startswith("req_")


def test_answers_are_never_cached(things_client: FlaskClient) -> None:
    answers = [things_client.get("/api/things", headers=ADMIN), things_client.get("/api/nowhere")]
    assert [answer.headers["Cache-Control"] for answer in answers] == ["no-store", "no-store"]
