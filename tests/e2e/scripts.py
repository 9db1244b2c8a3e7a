"""Requests of a partner's script to the running product, to arrange what a user then sees."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from uuid import uuid4

from tests.fixtures.stack import Stack


def ask(
    stack: Stack,
    method: str,
    path: str,
    *,
    body: Any = None,
    form: Mapping[str, str] | None = None,
    token: str | None = None,
    key: str | None = None,
) -> Any:
    """Return the JSON of the response. Raises `RuntimeError` with the response for any status but
    2xx."""
    headers, data = {}, None
    if body is not None:
        headers["Content-Type"], data = "application/json", json.dumps(body).encode()
    elif form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        data = urlencode(form).encode()
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if key:
        headers["x-api-key"] = key
    url = stack.base_url + path
    request = Request(url, data=data, headers=headers, method=method)
    try:
        with urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())
    except HTTPError as error:
        message = f"{method} {path}: {error.read().decode()}"
        raise RuntimeError(message) from error


def token_of(stack: Stack, client: Mapping[str, str], **more: str) -> str:
    """Return a bearer token for a client of the demo: for Area A, or with ``scope=…``."""
    form = {
        "grant_type": "client_credentials",
        "client_id": client["clientId"],
        "client_secret": client["clientSecret"],
        **more,
    }
    token: str = ask(stack, "POST", "/oauth2/token", form=form)["access_token"]
    return token


def new_organization(
    stack: Stack, partner: Mapping[str, Any], name: str = "Hillside", **limits: int
) -> str:
    """Create an organization that no other journey uses, with ``limits`` such as ``userLimit``;
    return its id."""
    token = token_of(stack, partner["client"])
    owner = {
        "email": f"owner@{uuid4().hex[:12]}.example",
        "userType": "standard",
        "businessName": name,
    }
    made: str = ask(stack, "POST", "/api/users", body=owner, token=token)["orgId"]
    place = f"/api/partners/{partner['id']}/organizations/{made}"
    ask(stack, "PUT", place, body=limits, token=token)
    return made
