"""Sends one request to a host that a customer has chosen, without trusting it.

The name is resolved once, every IP address must be public, and the connection uses the one that was
checked. Redirects are not followed, only the beginning of the response is read, and the connection
is closed after ten seconds, or the caller's limit.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPMessage
from urllib.parse import SplitResult, quote, urlsplit

from app.errors import Sentence
from app.gateways.public_addresses import HostRefused, resolve_addresses

CONNECT_SECONDS = 5.0
WHOLE_SECONDS = 10.0
_LATE = Sentence.gettext("no answer within %(seconds)s seconds")
_CERTIFICATE_REFUSED = Sentence.gettext("the certificate was refused: %(detail)s")
_NOT_SECURE = Sentence.gettext("no secure connection: %(detail)s")
_BROKEN = Sentence.gettext("the connection broke: %(detail)s")
_NO_CONNECTION = Sentence.gettext("no connection to %(host)s")
_IN_URLS = "!#$%&'()*+,/:;=?@[]~"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """``body`` is cut off at the requested length; None if the connection broke while it was
    read."""

    status: int
    headers: HTTPMessage
    body: bytes | None


class NoAnswer(Exception):
    """Why there is no answer, as the end of a sentence."""


def send_request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    *,
    max_bytes: int,
    allow_private: bool,
    seconds: float | None = None,
) -> HttpAnswer:
    """Send the request once, within ``seconds`` (by default `WHOLE_SECONDS`).

    Raises only `NoAnswer` for errors of the host or the network.
    """
    parts = urlsplit(url)
    limit_seconds = WHOLE_SECONDS if seconds is None else seconds
    timeout_message = _LATE(seconds=f"{limit_seconds:g}")
    deadline = time.monotonic() + limit_seconds
    connection = _TimedConnection()
    try:
        connection.hold(_connect(parts, allow_private, min(CONNECT_SECONDS, limit_seconds)))
        connection.connected.settimeout(limit_seconds)
        with connection.cut_at(deadline):
            return _exchange(connection, parts, method, headers, body, max_bytes)
    except ssl.SSLCertVerificationError as error:
        raise NoAnswer(_CERTIFICATE_REFUSED(detail=error.verify_message)) from None
    except ssl.SSLError as error:
        reason = _NOT_SECURE(detail=error.reason or error)
        raise NoAnswer(timeout_message if connection.is_cut else reason) from None
    except TimeoutError:
        raise NoAnswer(timeout_message) from None
    except (OSError, http.client.HTTPException) as error:
        reason = _BROKEN(detail=type(error).__name__)
        raise NoAnswer(timeout_message if connection.is_cut else reason) from None


class _TimedConnection:
    """The connection, and the timer that closes it."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self.is_cut = False

    @property
    def connected(self) -> socket.socket:
        assert self._socket is not None  # noqa: S101 - held before anything is exchanged
        return self._socket

    def hold(self, connection: socket.socket) -> None:
        self._socket = connection

    @contextmanager
    def cut_at(self, deadline: float) -> Iterator[None]:
        timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.connected.close()

    def _cut(self) -> None:
        self.is_cut = True
        try:
            self.connected.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.connected.close()


def _connect(parts: SplitResult, allow_private: bool, seconds: float) -> socket.socket:
    deadline = time.monotonic() + seconds
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    try:
        addresses = resolve_addresses(host, port, seconds=seconds, allow_private=allow_private)
    except HostRefused as reason:
        raise NoAnswer(str(reason)) from None
    for family, kind, protocol, _name, address in addresses:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            break
        connecting = socket.socket(family, kind, protocol)
        connecting.settimeout(remaining)
        try:
            connecting.connect(address)
        except OSError:
            connecting.close()
            continue
        return connecting
    raise NoAnswer(_NO_CONNECTION(host=host))


@cache
def _tls() -> ssl.SSLContext:
    """Created on first use: most web processes never connect."""
    return ssl.create_default_context()


def _exchange(
    connection: _TimedConnection,
    parts: SplitResult,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    max_bytes: int,
) -> HttpAnswer:
    host = parts.hostname or ""
    http_connection: http.client.HTTPConnection
    if parts.scheme.lower() == "https":
        connection.hold(
            _tls().wrap_socket(
                connection.connected, server_hostname=host, do_handshake_on_connect=False
            )
        )
        connection.connected.do_handshake()  # type: ignore[attr-defined]  # it was just wrapped
        http_connection = http.client.HTTPSConnection(host, parts.port, context=_tls())
    else:
        http_connection = http.client.HTTPConnection(host, parts.port)
    http_connection.sock = connection.connected
    target = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), _IN_URLS)
    http_connection.request(method, target, body, {**headers, "connection": "close"})
    answer = http_connection.getresponse()
    try:
        content: bytes | None = answer.read(max_bytes)
    except (OSError, http.client.HTTPException):
        content = None
    return HttpAnswer(answer.status, answer.headers, content)
