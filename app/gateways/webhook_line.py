"""Send one message to a receiver that a customer has chosen, without trusting it.

The name is resolved once, every address must be public, and the connection uses the address that
was checked. Redirects are not followed, only the beginning of the answer is read, and the
connection is closed after ten seconds.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from urllib.parse import SplitResult, urlsplit

from app.gateways.public_addresses import NoPlace, places

CONNECT_SECONDS = 5.0
WHOLE_SECONDS = 10.0
EXCERPT_BYTES = 2000
_SCARCE = "no answer within 10 seconds"


@dataclass(frozen=True, slots=True)
class Answer:
    """``status`` is None if there was no answer; ``excerpt`` is the reason then. ``retry_after`` is
    in seconds."""

    status: int | None
    excerpt: str
    retry_after: float | None = None

    @property
    def is_taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class _NotSent(Exception):
    """Why nothing could be sent; the message becomes the excerpt."""


def post(url: str, headers: Mapping[str, str], body: str, *, allow_private: bool) -> Answer:
    """Post the body as JSON, once. Never raises for errors of the receiver or the network."""
    parts = urlsplit(url)
    deadline = time.monotonic() + WHOLE_SECONDS
    line = _Line()
    try:
        line.hold(_connect(parts, allow_private))
        with line.cut_at(deadline):
            return _exchange(line, parts, headers, body)
    except _NotSent as reason:
        return Answer(None, str(reason))
    except ssl.SSLError as error:
        words = f"no secure connection: {error.reason or error}"
        return Answer(None, _SCARCE if line.is_cut else words)
    except TimeoutError:
        return Answer(None, _SCARCE)
    except (OSError, http.client.HTTPException) as error:
        words = f"the connection broke: {type(error).__name__}"
        return Answer(None, _SCARCE if line.is_cut else words)


class _Line:
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


def _connect(parts: SplitResult, allow_private: bool) -> socket.socket:
    deadline = time.monotonic() + CONNECT_SECONDS
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
    try:
        found = places(host, port, seconds=CONNECT_SECONDS, allow_private=allow_private)
    except NoPlace as reason:
        raise _NotSent(str(reason)) from None
    for family, kind, protocol, _name, place in found:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        connecting = socket.socket(family, kind, protocol)
        connecting.settimeout(left)
        try:
            connecting.connect(place)
        except OSError:
            connecting.close()
            continue
        return connecting
    message = f"no connection to {host}"
    raise _NotSent(message)


@cache
def _tls() -> ssl.SSLContext:
    """Created at its first use: only the worker connects."""
    return ssl.create_default_context()


def _exchange(line: _Line, parts: SplitResult, headers: Mapping[str, str], body: str) -> Answer:
    host = parts.hostname or ""
    line.connected.settimeout(WHOLE_SECONDS)
    speaking: http.client.HTTPConnection
    if parts.scheme.lower() == "https":
        line.hold(
            _tls().wrap_socket(line.connected, server_hostname=host, do_handshake_on_connect=False)
        )
        line.connected.do_handshake()  # type: ignore[attr-defined]  # it was just wrapped
        speaking = http.client.HTTPSConnection(host, parts.port, context=_tls())
    else:
        speaking = http.client.HTTPConnection(host, parts.port)
    speaking.sock = line.connected
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    all_headers = {
        **headers,
        "content-type": "application/json",
        "user-agent": "partner-portal-webhooks/1",
        "connection": "close",
    }
    speaking.request("POST", target, body.encode(), all_headers)
    answer = speaking.getresponse()
    try:
        text = answer.read(EXCERPT_BYTES).decode(errors="replace")
    except (OSError, http.client.HTTPException):
        text = ""  # its status is the answer
    wish = _seconds(answer.getheader("Retry-After"))
    return Answer(answer.status, _printable(text), wish)


def _printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:500]


def _seconds(header: str | None) -> float | None:
    """Return the seconds of ``Retry-After``, which is a number or a date (RFC 9110)."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header[:9])
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
