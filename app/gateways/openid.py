"""Requests to an OpenID Connect provider: its discovery document, its keys, and the exchange of a
code.

The partner has chosen the host, so each request goes through `outside_http`: to public addresses
only, without redirects, and for at most five seconds. Discovery and keys are cached for five
minutes, failures for some seconds.
"""

import json
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from app.gateways.outside_http import NoAnswer, send_request
from app.validation.urls import is_web_url

SECONDS = 5.0
MAX_BYTES = 256 * 1024
RETENTION_SECONDS = 300.0
RENEWED_SECONDS = 15.0
"""Seconds after which an unknown key makes the keys be read again."""
FAILED_SECONDS = 15.0
"""Seconds after a failure in which it is the answer to all who need the same URL."""
MAX_STORED = 500
PATH = "/.well-known/openid-configuration"


class ProviderFailed(Exception):
    """The provider can't be used now. The message is the end of a sentence, in English."""


class ProviderDown(ProviderFailed):
    """No answer, or a server error of the provider: trying again later can help."""


class CodeRefused(ProviderFailed):
    """The provider didn't accept the code; ``reason`` is a word for the log."""

    reason = "code"


@dataclass(frozen=True, slots=True)
class ProviderEndpoints:
    """The provider's discovery document. ``names_issuer``: responses to the browser name the issuer
    (RFC 9207)."""

    issuer: str
    authorization: str
    token: str
    keys: str
    names_issuer: bool
    takes_basic: bool


class _KnownUrl:
    """The latest answer of a URL, and its latest failure. Who requests it holds ``lock``."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._answer: tuple[float, dict[str, Any]] | None = None
        self._failure: tuple[float, ProviderFailed] | None = None

    def recent(self, not_older: float) -> dict[str, Any] | None:
        """Return the answer unless it is too old. Raises `ProviderFailed` if the URL has failed
        moments ago."""
        now = time.monotonic()
        if self._answer is not None and now - self._answer[0] < not_older:
            return self._answer[1]
        if self._failure is not None and now - self._failure[0] < min(not_older, FAILED_SECONDS):
            failure = self._failure[1]
            raise type(failure)(*failure.args)
        return None

    def ask(self, url: str, *, allow_private: bool) -> dict[str, Any]:
        try:
            answer = _parse_answer(ask_provider("GET", url, allow_private=allow_private)[1])
        except ProviderFailed as failure:
            self._failure = time.monotonic(), failure
            raise
        self._answer = time.monotonic(), answer
        return answer


class _AnswerCache:
    """Answers and failures by URL. Of several threads that need the same URL, one requests it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._urls: dict[str, _KnownUrl] = {}

    def get(self, url: str, *, allow_private: bool, not_older: float) -> dict[str, Any]:
        known = self._known(url)
        answer = known.recent(not_older)
        if answer is not None:
            return answer
        with known.lock:
            answer = known.recent(not_older)
            return known.ask(url, allow_private=allow_private) if answer is None else answer

    def _known(self, url: str) -> _KnownUrl:
        with self._lock:
            if url not in self._urls and len(self._urls) >= MAX_STORED:
                self._urls.clear()
            return self._urls.setdefault(url, _KnownUrl())


_kept = _AnswerCache()


def discover(issuer: str, *, allow_private: bool, fresh: bool = False) -> ProviderEndpoints:
    """Return the endpoints of the issuer. Raises `ProviderFailed` if they can't be used."""
    check_url(issuer, allow_private=allow_private)
    seconds = 0.0 if fresh else RETENTION_SECONDS
    url = issuer.rstrip("/") + PATH
    configuration = _kept.get(url, allow_private=allow_private, not_older=seconds)
    if configuration.get("issuer") != issuer:
        message = f"it names another issuer: {str(configuration.get('issuer'))[:200]}"
        raise ProviderFailed(message)
    urls = [configuration.get(f"{name}_endpoint") for name in ("authorization", "token")]
    authorization, token, keys = (
        check_url(url, allow_private=allow_private)
        for url in (*urls, configuration.get("jwks_uri"))
    )
    methods = configuration.get("token_endpoint_auth_methods_supported")
    return ProviderEndpoints(
        issuer,
        authorization,
        token,
        keys,
        names_issuer=configuration.get("authorization_response_iss_parameter_supported") is True,
        takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
    )


def keys_of(
    endpoints: ProviderEndpoints, *, allow_private: bool, renew: bool = False
) -> dict[str, Any]:
    """Return the provider's JSON Web Key Set; with ``renew`` not older than some seconds. Raises
    `ProviderFailed`."""
    seconds = RENEWED_SECONDS if renew else RETENTION_SECONDS
    key_set = _kept.get(endpoints.keys, allow_private=allow_private, not_older=seconds)
    if not isinstance(key_set.get("keys"), list):
        message = "its keys can't be read"
        raise ProviderFailed(message)
    return key_set


def exchange(
    endpoints: ProviderEndpoints,
    *,
    client_id: str,
    secret: str,
    code: str,
    verifier: str,
    redirect_uri: str,
    allow_private: bool,
) -> str:
    """Return the ID token for the code. Raises `CodeRefused` and `ProviderFailed`."""
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    headers = {"content-type": "application/x-www-form-urlencoded"}
    if endpoints.takes_basic:
        pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
        headers["authorization"] = "Basic " + b64encode(pair.encode()).decode()
    else:
        fields |= {"client_id": client_id, "client_secret": secret}
    status, body = ask_provider(
        "POST", endpoints.token, headers, urlencode(fields).encode(), allow_private=allow_private
    )
    if status != 200:
        message = f"it answered {status}"
        raise CodeRefused(message)
    token = _parse_answer(body).get("id_token")
    if not isinstance(token, str) or not token:
        message = "it sent no ID token"
        raise ProviderFailed(message)
    return token


def check_url(url: object, *, allow_private: bool) -> str:
    """Return a URL that may be requested or redirected to. Raises `ProviderFailed`."""
    allowed = ("https", "http") if allow_private else ("https",)
    text = url if isinstance(url, str) and is_web_url(url) else ""
    if urlsplit(text).scheme.lower() not in allowed or "#" in text:
        message = "an address in it is missing or doesn't begin with https://"
        raise ProviderFailed(message)
    return text


def ask_provider(
    method: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    *,
    allow_private: bool,
) -> tuple[int, bytes]:
    """Return the status and body of a response. Raises `ProviderDown`; `ProviderFailed` for a GET
    that isn't answered with 200."""
    accepted = {"accept": "application/json", **(headers or {})}
    try:
        answer = send_request(
            method,
            url,
            accepted,
            body,
            max_bytes=MAX_BYTES,
            allow_private=allow_private,
            seconds=SECONDS,
        )
    except NoAnswer as reason:
        raise ProviderDown(str(reason)) from None
    if answer.body is None or answer.status >= 500:
        message = f"it answered {answer.status}"
        raise ProviderDown(message)
    if method == "GET" and answer.status != 200:
        message = f"it answered {answer.status}"
        raise ProviderFailed(message)
    return answer.status, answer.body


def _parse_answer(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        message = "its answer isn't JSON"
        raise ProviderFailed(message)
    return answer
