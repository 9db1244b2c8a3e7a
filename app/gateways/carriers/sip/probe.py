"""Is the trunk there? Asked before an INVITE, whose silence could not be told from a lost call."""

import secrets
import socket
import time

from app.gateways.carriers.sip.account import SipAccount

GAPS = (0.5, 1.0, 2.0)
"""Seconds after which the question is repeated over UDP, then given up."""
CONNECT_SECONDS = 4.0
_PORTS = {"udp": 5060, "tcp": 5060, "tls": 5061}


def trunk_answers(account: SipAccount) -> bool:
    """Whether it takes a connection, or over UDP answers OPTIONS with anything at all."""
    host, port = _address(account.proxy or account.trunk, account.transport)
    try:
        if account.transport != "udp":
            with socket.create_connection((host, port), CONNECT_SECONDS):
                return True
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.connect((host, port))
            return _answers_options(line, account)
    except OSError:
        return False


def _answers_options(line: socket.socket, account: SipAccount) -> bool:
    own = "{}:{}".format(*line.getsockname())
    question = "\r\n".join(
        [
            f"OPTIONS sip:{account.trunk} SIP/2.0",
            f"Via: SIP/2.0/UDP {own};branch=z9hG4bK{secrets.token_hex(8)};rport",
            "Max-Forwards: 70",
            f"From: <sip:portal@{own}>;tag={secrets.token_hex(8)}",
            f"To: <sip:{account.trunk}>",
            f"Call-ID: {secrets.token_hex(12)}",
            "CSeq: 1 OPTIONS",
            "Content-Length: 0",
            "\r\n",
        ]
    ).encode()
    for gap in GAPS:
        line.send(question)
        deadline = time.monotonic() + gap
        while (left := deadline - time.monotonic()) > 0:
            line.settimeout(left)
            try:
                if line.recv(65536).startswith(b"SIP/2.0 "):
                    return True
            except TimeoutError:
                break
    return False


def _address(written: str, transport: str) -> tuple[str, int]:
    host, _, port = written.partition(":")
    return host, int(port) if port else _PORTS[transport]
