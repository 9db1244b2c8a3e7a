"""The forms that the token and the revocation endpoint read (RFC 6749, sections 2.3 and 3.2)."""

import base64
import binascii
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from authlib.oauth2.rfc6749 import OAuth2Payload, OAuth2Request
from flask import Request

from app.errors import ValidationFailed

MEDIA_TYPE = "application/x-www-form-urlencoded"
MAX_FIELDS = 50


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """How a client authenticates; ``basic`` if it used the Authorization header."""

    client_id: str
    secret: str
    basic: bool


class FormRequest(OAuth2Request):
    """A form as Authlib reads it. The query string and cookies are ignored: credentials don't
    belong in URLs, and the cookie XSRF-TOKEN has no meaning here."""

    payload: Any
    client: Any

    def __init__(self, form: Mapping[str, str], credentials: ClientCredentials):
        # Authlib uses the URL only to refuse plain HTTP. Behind a proxy every request is
        # plain HTTP, so the configuration refuses it instead (`Settings`).
        super().__init__("POST", "https://issuer.invalid/oauth2/token")
        self._form = form
        self.payload = _FormPayload(form)
        self.credentials = credentials

    @property
    def form(self) -> Mapping[str, str]:
        return self._form


class _FormPayload(OAuth2Payload):
    def __init__(self, form: Mapping[str, str]):
        self._form = form

    @property
    def data(self) -> Mapping[str, str]:
        return self._form

    @property
    def datalist(self) -> defaultdict[str, list[str]]:
        return defaultdict(list, {name: [value] for name, value in self._form.items()})


def read_form(request: Request, limit: int) -> FormRequest:
    """Return the form of a request. Raises `ValidationFailed` for another content type, invalid
    UTF-8, a repeated parameter, and more than one way of authenticating."""
    form = _parse_form(_read_body(request, limit))
    return FormRequest(form, _read_credentials(request, form))


def _read_body(request: Request, limit: int) -> str:
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    encoding = request.content_encoding or "identity"
    if request.mimetype != MEDIA_TYPE or charset not in {"utf-8", "utf8"} or encoding != "identity":
        raise _invalid_request(f"Send a form with the header Content-Type: {MEDIA_TYPE}.")
    request.max_content_length = limit
    body = request.get_data(cache=False)
    if request.content_length is not None and len(body) < request.content_length:
        raise _invalid_request("The body ended before its Content-Length.")
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise _invalid_request("The form is not UTF-8.") from None


def _parse_form(body: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise _invalid_request("The form can't be read, or has too many parameters.") from None
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise _invalid_request("A parameter was sent more than once.")
    # A parameter without a value counts as left out (RFC 6749, section 3.2).
    return {name: value for name, value in pairs if value}


def _read_credentials(request: Request, form: Mapping[str, str]) -> ClientCredentials:
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return ClientCredentials(
            form.get("client_id", ""), form.get("client_secret", ""), basic=False
        )
    try:
        pair = base64.b64decode(encoded.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        pair = ""
    client_id, _, secret = (unquote_plus(value) for value in pair.partition(":"))
    if "client_secret" in form or form.get("client_id", client_id) != client_id:
        raise _invalid_request("Send the client's secret in one way only.")
    return ClientCredentials(client_id, secret, basic=True)


def _invalid_request(message: str) -> ValidationFailed:
    return ValidationFailed(message, "invalid_request")
