"""The commands that the portal shows for a key and a client run unchanged."""

import os
import re
import subprocess
import sys
from html import unescape
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import pytest

from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.stack import Stack
from tests.matrix import rotating

CODE = re.compile(r'<code id="([\w-]+)-(curl|python)">(.*?)</code>', re.DOTALL)
SECRET = re.compile(r'<code id="secret">(\w+)</code>')
TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
ONCE = re.compile(r'name="once" value="([^"]+)"')
TRIED = re.compile(
    r"1 contact was sent: (1 created, 0|0 created, 1) updated, 0 deleted, 0 ignored, 0 failed\."
)
"""Whether or not another test of the same stack has added the number before."""
EVERY_SCOPE = ("contacts:read", "contacts:write", "calls:read", "calls:create")


backend = runs_on(rotating("database of the journeys", BACKENDS))
"""That of the journeys, so that they share a stack."""


class Admin:
    """The first partner's administrator, signed in."""

    def __init__(self, stack: Stack):
        self._base = stack.base_url
        self._opener: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))
        self.partner: dict[str, Any] = stack.demo["partners"][0]
        user = self.partner["users"][0]
        self.send("/p/larkfield/sign-in", {"email": user["email"], "password": user["password"]})

    def page(self, path: str) -> str:
        with self._opener.open(f"{self._base}{path}") as answer:
            return str(answer.read().decode())

    def send(self, path: str, fields: dict[str, Any]) -> str:
        """Fills in the form of a page; the answer."""
        shown = self.page(path)
        hidden = {"csrf_token": TOKEN.findall(shown)[0], "once": (ONCE.findall(shown) or [""])[-1]}
        body = urlencode({**hidden, **fields}, doseq=True).encode()
        with self._opener.open(f"{self._base}{path}", body) as answer:
            return str(answer.read().decode())

    def create(self, path: str, fields: dict[str, Any]) -> tuple[str, str]:
        """The secret that the answer shows once, and the page of what was created."""
        answer = self.send(path, fields)
        [secret] = SECRET.findall(answer)
        own = re.search(r'href="(/api-access/(?:keys|clients)/[0-9a-f-]{36})"', answer)
        assert own is not None
        return secret, self.page(own[1])


@pytest.fixture
def admin(shared_stack: Stack) -> Admin:
    return Admin(shared_stack)


def run(language: str, text: str, **environment: str) -> str:
    """The output of the lines; raises if they fail."""
    command = {
        "curl": ["bash", "-c", f'set -euo pipefail\ncurl() {{ command curl -f "$@"; }}\n{text}'],
        "python": [sys.executable, "-c", text],
    }[language]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    assert (done.returncode, done.stderr) == (0, ""), text
    return done.stdout


def lines_of(page: str) -> dict[str, str]:
    return {f"{name} {kind}": unescape(text) for name, kind, text in CODE.findall(page)}


def test_the_example_of_a_key_runs_unchanged(admin: Admin) -> None:
    organization = admin.partner["organizations"][0]
    fields = {"name": "Sync", "kind": "test", "scopes": EVERY_SCOPE, "last_day": ""}
    path = f"/api-access/keys/new?organization={organization['id']}"
    secret, page = admin.create(path, fields)
    printed = {
        name: run(name.split()[-1], text, API_KEY=secret) for name, text in lines_of(page).items()
    }
    assert sorted(printed) == [
        f"{name} {kind}"
        for name in (
            "create-call",
            "list-assistants",
            "read-calls",
            "read-contacts",
            "write-contacts",
        )
        for kind in ("curl", "python")
    ]
    for kind in ("curl", "python"):
        assert organization["agents"][0]["id"] in printed[f"list-assistants {kind}"]
        assert TRIED.search(printed[f"write-contacts {kind}"])
        assert "callId" in printed[f"create-call {kind}"]


def test_the_example_of_a_client_runs_unchanged(admin: Admin) -> None:
    fields = {"name": "Export", "role": "admin", "last_day": ""}
    secret, page = admin.create("/api-access/clients/new", fields)
    printed = {
        name: run(name.split()[-1], text, CLIENT_SECRET=secret)
        for name, text in lines_of(page).items()
    }
    assert sorted(printed) == ["first-request curl", "first-request python"]
    assert {admin.partner["id"] in text for text in printed.values()} == {True}


def test_requests_are_listed_some_seconds_later(admin: Admin, shared_stack: Stack) -> None:
    organization = admin.partner["organizations"][0]
    path = f"/api-access/keys/new?organization={organization['id']}"
    fields = {"name": "Watched", "kind": "live", "scopes": ["calls:read"], "last_day": ""}
    secret, page = admin.create(path, fields)
    own = re.search(r'href="(/api-access/keys/[0-9a-f-]{36})/rotate"', page)
    assert own is not None
    run("curl", f"curl -sS {shared_stack.base_url}/api/v1/agents -H 'x-api-key: {secret}'")
    for _patience in range(50):
        shown = admin.page(own[1])
        if "/api/v1/agents</code></span>" in shown:
            break
        run("curl", "sleep 0.2")
    assert "200 OK" in shown
