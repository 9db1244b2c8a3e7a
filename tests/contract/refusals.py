"""The one shape of a refusal in each area, asserted whole."""

import re
from typing import Any

from werkzeug.test import TestResponse

OAUTH_ERRORS = {
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "invalid_scope",
    "unsupported_grant_type",
}
MORE_DETAILS = {"maxBytes", "permission"}
"""What single refusals add to the details."""
_CODE = re.compile(r"[a-z][a-z0-9_]{2,40}")

Refusal = tuple[int, str]
"""Status and code."""


def refusal(response: TestResponse, path: str) -> Refusal:
    """Status and code of a refusal that has exactly the shape of its area."""
    assert 400 <= response.status_code < 500, response.text
    assert response.content_type == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    body = response.get_json()
    if path.startswith("/oauth2"):
        assert set(body) == {"error", "error_description"}
        assert body["error"] in OAUTH_ERRORS
        assert body["error_description"].isascii()
        return response.status_code, body["error"]
    details = body["details"]
    assert all(isinstance(each["field"], str) for each in details["errors"])
    expected: dict[str, Any] = {
        "statusCode": response.status_code,
        "message": sentence(body["message"]),
        "details": {
            "code": details["code"],
            "errors": [
                {
                    "field": each["field"],
                    "code": code(each["code"]),
                    "message": sentence(each["message"]),
                }
                for each in details["errors"]
            ],
            "requestId": response.headers["X-Request-Id"],
        },
    }
    if is_call(path):
        expected["success"] = False
    more = set(details) & MORE_DETAILS
    expected["details"] |= {name: details[name] for name in more}
    assert body == expected
    return response.status_code, code(details["code"])


def is_call(path: str) -> bool:
    """Whether refusals contain ``"success": false`` here (docs/decisions/calls.md#refusals)."""
    return path == "/api/v1/outbound" or path.startswith("/api/v1/outbound/")


def code(value: Any) -> str:
    assert isinstance(value, str)
    assert _CODE.fullmatch(value)
    return value


def sentence(value: Any) -> str:
    """A message for users: bounded, and without internals."""
    assert isinstance(value, str)
    assert 10 <= len(value) <= 600
    assert "Traceback" not in value
    assert "sqlalchemy" not in value.lower()
    return value
