"""What a partner's script asks of the running product, to arrange what a person then sees."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

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
    """The JSON of the answer; any status but 2xx raises `RuntimeError` with what was said."""
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
    request = Request(url, data=data, headers=headers, method=method)  # noqa: S310 our own address
    try:
        with urlopen(request, timeout=30) as answer:  # noqa: S310 our own address
            return json.loads(answer.read())
    except HTTPError as error:
        message = f"{method} {path}: {error.read().decode()}"
        raise RuntimeError(message) from error


def token_of(stack: Stack, client: Mapping[str, str], **more: str) -> str:
    """A bearer token for a client of the demo: of Area A, or as ``scope=…`` says."""
    form = {
        "grant_type": "client_credentials",
        "client_id": client["clientId"],
        "client_secret": client["clientSecret"],
        **more,
    }
    token: str = ask(stack, "POST", "/oauth2/token", form=form)["access_token"]
    return token
