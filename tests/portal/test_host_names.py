"""A host that is none is 400 on every path, in the shape of the area that was asked."""

import pytest
from flask import Flask
from werkzeug.test import EnvironBuilder, run_wsgi_app

from app.http.host_names import is_host

HOSTS = (
    "a..b",
    f"{'a' * 64}.example",
    ".",
    "..",
    "a b",
    "a/b",
    "\xe9.example",
    "xn--a..b",
    "xn--a",
    "[::1",
    "a:port",
    "-a.example",
    "a." * 200,
)


def answer_of(app: Flask, path: str, host: str, method: str = "GET") -> tuple[int, str]:
    environ = EnvironBuilder(path=path, method=method).get_environ() | {"HTTP_HOST": host}
    _body, status, headers = run_wsgi_app(app, environ)  # the client itself fails with such hosts
    return int(status[:3]), headers["Content-Type"].partition(";")[0]


@pytest.mark.parametrize("path", ["/", "/sign-in", "/p/northwind/sign-in", "/absent", "/static/no"])
def test_an_invalid_host_gets_an_error_page(app: Flask, path: str) -> None:
    found = {host: answer_of(app, path, host) for host in HOSTS}
    assert found == dict.fromkeys(HOSTS, (400, "text/html"))


@pytest.mark.parametrize("path", ["/api/v1/outbound/call", "/phone/x", "/oauth2/token", "/api/x"])
def test_an_invalid_host_gets_json_at_the_api(app: Flask, path: str) -> None:
    found = {host: answer_of(app, path, host, "POST") for host in HOSTS}
    assert found == dict.fromkeys(HOSTS, (400, "application/json"))


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost",
        "a.example:443",
        "127.0.0.1:8000",
        "[::1]:8000",
        "a_b.c-d.e.",
        f"{'a' * 63}.b",
    ],
)
def test_a_valid_host_is_served(app: Flask, host: str) -> None:
    assert is_host(host)
    assert answer_of(app, "/sign-in", host) == (200, "text/html")
