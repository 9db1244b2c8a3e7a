"""The real web server refuses a large form of a stranger before it has arrived."""

import socket
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.stack import Stack
from tests.matrix import rotating

MB = 1024 * 1024
PIECE = b"a" * 65_536
START = b'--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n'
BUFFERED = 16 * MB
"""More than the sockets of both sides hold."""


backend = runs_on(rotating("database of the journeys", BACKENDS))
"""That of the journeys, so that they share a stack."""


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def answer_to(shared_stack: Stack, path: str, *, chunked: bool) -> tuple[bytes, int]:
    """The status of the answer, and how much could be sent of 250 MB until it came."""
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {250 * MB}"
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n"
        "Content-Type: multipart/form-data; boundary=x\r\n\r\n"
    )
    port = urlsplit(shared_stack.base_url).port
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        connection.sendall(head.encode() + (chunk(START) if chunked else START))
        sent = 0
        try:
            while sent < 250 * MB:
                connection.sendall(chunk(PIECE) if chunked else PIECE)
                sent += len(PIECE)
        except OSError:
            pass  # the server has answered and closed
        return connection.recv(65_536).split(b" ")[1], sent


@pytest.mark.alternating
@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
@pytest.mark.parametrize("path", ["/sign-in", "/forgot-password", "/p/larkfield/sign-in"])
def test_a_large_form_without_a_session_is_refused(
    shared_stack: Stack, path: str, chunked: bool
) -> None:
    status, sent = answer_to(shared_stack, path, chunked=chunked)
    assert status == b"413"
    assert sent < BUFFERED
