"""Requests to a trunk that place no call: OPTIONS, and REGISTER without a contact.

The latter reads the registrations (RFC 3261, 10.2.3) and changes nothing.
"""

import re
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from app.gateways.carriers.sip.account import SipAccount
from app.gateways.carriers.sip.digest import proof
from app.gateways.carriers.sip.next_hop import Hop, first_hop

GAPS = (0.5, 1.0, 2.5)
"""Seconds before each repetition over UDP, and before giving up."""
ANSWER_SECONDS = sum(GAPS)
CONNECT_SECONDS = 4.0
WHOLE_SECONDS = 12.0
"""Seconds for all requests together, after which the connection is closed."""
MAX_PHRASE_LENGTH = 100
MAX_ANSWER_LENGTH = 64 * 1024
_STATUS = re.compile(r"SIP/2\.0 (\d{3}) ?(.*)")
_WANTED = {401: ("www-authenticate", "Authorization")} | {
    407: ("proxy-authenticate", "Proxy-Authorization")
}


class ProbeTimeout(TimeoutError):
    """No answer came in time."""


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """A final answer. ``proved``: the trunk required the password and accepted it."""

    code: int
    phrase: str
    headers: tuple[tuple[str, str], ...] = ()
    proved: bool = False

    @property
    def message(self) -> str:
        return f"{self.code} {self.phrase}".strip()

    def every(self, name: str) -> list[str]:
        return [value for header_name, value in self.headers if header_name == name]


class ProbeConnection:
    """An open connection to the hop, or its UDP socket."""

    def __init__(self, account: SipAccount, hop: Hop, connection: socket.socket):
        self._account = account
        self._hop = hop
        self._connection = connection
        self._is_udp = account.transport == "udp"
        self._own = "{}:{}".format(*connection.getsockname())
        self._received = b""
        self._number = 0

    def ask(self, method: str, own_user: str) -> ProbeReply:
        """Send the request and return the answer. The request is repeated with the password if the
        trunk requires it. Raises `ProbeTimeout` and any other `OSError`."""
        call_id = secrets.token_hex(12)
        reply = self._put(method, own_user, call_id)
        if reply.code not in _WANTED or not self._account.user:
            return reply
        asked_by, proved_by = _WANTED[reply.code]
        account, target = self._account, self._target(method)
        authorization = proof(reply.every(asked_by), method, target, account.user, account.password)
        if authorization is None:
            return reply
        second_reply = self._put(method, own_user, call_id, f"{proved_by}: {authorization}")
        return ProbeReply(second_reply.code, second_reply.phrase, second_reply.headers, proved=True)

    def _put(self, method: str, own_user: str, call_id: str, *more: str) -> ProbeReply:
        self._number += 1
        own_address, account = f"{own_user}@{self._host}", self._account
        protocol, (address, port) = account.transport, self._hop
        branch = secrets.token_hex(8)
        to = own_address if method == "REGISTER" else account.trunk
        lines = [
            f"{method} {self._target(method)} SIP/2.0",
            f"Via: SIP/2.0/{protocol.upper()} {self._own};branch=z9hG4bK{branch};rport",
            f"Route: <sip:{address}:{port};transport={protocol};lr>",
            "Max-Forwards: 70",
            f"From: <sip:{own_address}>;tag={secrets.token_hex(8)}",
            f"To: <sip:{to}>",
            f"Call-ID: {call_id}",
            f"CSeq: {self._number} {method}",
            *more,
            "Content-Length: 0",
            "\r\n",
        ]
        request = "\r\n".join(lines).encode()
        for gap in GAPS if self._is_udp else (ANSWER_SECONDS,):
            self._connection.sendall(request)
            if reply := self._reply(f"{self._number} {method}", call_id, time.monotonic() + gap):
                return reply
        raise ProbeTimeout

    def _reply(self, number: str, call_id: str, deadline: float) -> ProbeReply | None:
        """Return the final answer to one request, within the time that is left."""
        while (remaining := deadline - time.monotonic()) > 0:
            self._connection.settimeout(remaining)
            try:
                data = self._connection.recv(65536)
            except TimeoutError:
                return None
            if not data or len(self._received) > MAX_ANSWER_LENGTH:
                raise ProbeTimeout
            for reply in self._read(data):
                reply_ids = reply.every("cseq"), reply.every("call-id")
                if reply.code >= 200 and reply_ids == ([number], [call_id]):
                    return reply
        return None

    def _read(self, data: bytes) -> Iterator[ProbeReply]:
        self._received = data if self._is_udp else self._received + data
        while b"\r\n\r\n" in self._received:
            head, _, rest = self._received.lstrip().partition(b"\r\n\r\n")
            start, *lines = head.decode("utf-8", "replace").split("\r\n")
            pairs = [line.partition(":") for line in lines]
            headers = tuple((name.strip().lower(), value.strip()) for name, _, value in pairs)
            lengths = [value for name, value in headers if name in {"content-length", "l"}]
            length = int(lengths[0]) if lengths and re.fullmatch(r"\d{1,5}", lengths[0]) else 0
            if not self._is_udp and len(rest) < length:
                return
            self._received = b"" if self._is_udp else rest[length:]
            if status := _STATUS.fullmatch(start):
                phrase = "".join(c for c in status[2] if c.isprintable())[:MAX_PHRASE_LENGTH]
                yield ProbeReply(int(status[1]), phrase, headers)

    def _target(self, method: str) -> str:
        return f"sip:{self._host if method == 'REGISTER' else self._account.trunk}"

    @property
    def _host(self) -> str:
        return self._account.domain or self._account.trunk


@contextmanager
def open_connection(account: SipAccount, hop: Hop) -> Iterator[ProbeConnection]:
    """Open the connection. Raises `OSError`, also if both sides have no encryption in common."""
    if account.transport == "udp":
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection,
            _closing_in_time(connection),
        ):
            connection.connect(hop)
            yield ProbeConnection(account, hop, connection)
        return
    with socket.create_connection(hop, ANSWER_SECONDS) as connection:
        if account.transport == "tcp":
            with _closing_in_time(connection):
                yield ProbeConnection(account, hop, connection)
            return
        name, _port = first_hop(account)  # the hop is its address
        encrypted = ssl.create_default_context().wrap_socket(
            connection, do_handshake_on_connect=False, server_hostname=name
        )
        with encrypted, _closing_in_time(encrypted):
            encrypted.do_handshake()
            yield ProbeConnection(account, hop, encrypted)


@contextmanager
def _closing_in_time(connection: socket.socket) -> Iterator[None]:
    """Close the connection when its time is over."""
    timer = threading.Timer(WHOLE_SECONDS, _shut_down, (connection,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def trunk_answers(account: SipAccount, hop: Hop) -> bool:
    """Return whether the trunk accepts a connection, or answers OPTIONS over UDP.

    Checked before an INVITE, because no answer to an INVITE could mean a lost call.
    """
    try:
        if account.transport != "udp":
            with socket.create_connection(hop, CONNECT_SECONDS):
                return True
        with open_connection(account, hop) as connection:
            connection.ask("OPTIONS", "portal")
    except OSError:
        return False
    return True


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
