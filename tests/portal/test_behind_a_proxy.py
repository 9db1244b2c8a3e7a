"""The address and scheme that a proxy reports: trusted in production, where there is one."""

from collections.abc import Callable

import pytest
from flask import Flask

FORWARDED = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}


@pytest.mark.parametrize(("env", "believed"), [("production", True), ("development", False)])
def test_forwarded_headers_count_in_production_alone(
    make_app: Callable[..., Flask], env: str, *, believed: bool
) -> None:
    app = make_app(env=env, public_url="https://portal.example")
    answer = app.test_client().get("/sign-in", headers=FORWARDED)
    assert answer.status_code == 200
    assert ("Strict-Transport-Security" in answer.headers) is believed
