"""The web server refuses bad HTTP in our own error shape, and finishes what it has begun."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from supervisor.incomplete_requests import ArrivingRequest

ROOT = Path(__file__).resolve().parents[2]
HEAD = b"POST /echo HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """The port of a web server with our configuration and a small application."""
    running, port = serve()
    yield port
    running.terminate()
    running.wait(timeout=120)


def serve() -> tuple[subprocess.Popen[bytes], int]:
    listener = socket.create_server(("127.0.0.1", 0))
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "--log-level", "error"]
    running = subprocess.Popen(
        [*command, "--bind", f"fd://{listener.fileno()}", "tests.run.echo:app"],
        cwd=ROOT,
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )
    port: int = listener.getsockname()[1]
    listener.close()
    return running, port


def answer_to(port: int, sent: bytes) -> tuple[int, str, Any]:
    """Status, content type and body of the answer to these very bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    status_line, *headers = head.decode().split("\r\n")
    kind = next(line for line in headers if line.lower().startswith("content-type:"))
    is_json = "application/json" in kind
    return (
        int(status_line.split()[1]),
        kind.partition(": ")[2],
        json.loads(body) if is_json else body,
    )


@pytest.mark.parametrize(
    ("sent", "status", "code", "message"),
    [
        (
            b"GET /api/" + b"a" * 9000 + b" HTTP/1.1\r\nHost: here\r\n\r\n",
            *(414, "uri_too_long", "The address of the request is too long."),
        ),
        (
            HEAD + b"X-Long: " + b"a" * 9000 + b"\r\n\r\n",
            *(431, "headers_too_large", "The headers of the request are too large."),
        ),
        (
            HEAD + b"X-Many: 1\r\n" * 200 + b"\r\n",
            *(431, "headers_too_large", "The headers of the request are too large."),
        ),
        (
            HEAD + b"Expect: 200-maybe\r\nContent-Length: 2\r\n\r\n{}",
            *(417, "expectation_failed", "This Expect header can't be met."),
        ),
        *(
            (sent, 400, "malformed_request", "The request is not valid HTTP.")
            for sent in (
                b"NONSENSE\r\n\r\n",
                b"GET /api/partners HTTP/7.3\r\nHost: here\r\n\r\n",
                HEAD + b"Content-Length: two\r\n\r\n{}",
                HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
                HEAD + b"Transfer-Encoding: zstd\r\n\r\n",
                HEAD + b"Bad Name: 1\r\n\r\n",
                HEAD + b"X-Null: a\0b\r\n\r\n",
            )
        ),
    ],
)
def test_bad_http_is_refused_in_json(
    server: int, sent: bytes, status: int, code: str, message: str
) -> None:
    found, kind, body = answer_to(server, sent)
    assert (found, kind) == (status, "application/json")
    assert body["details"].pop("requestId").startswith("req_")
    assert body == {
        "statusCode": status,
        "message": message,
        "details": {"code": code, "errors": []},
    }


@pytest.mark.parametrize(
    "body",
    [b"zz\r\n{}\r\n0\r\n\r\n", b"5\r\n{}", b"2\r\n{}XX0\r\n\r\n", b"2;=\r\n{}\r\n0\r\n\r\n"],
    ids=["no size", "cut off", "no line end", "bad extension"],
)
def test_an_invalid_chunked_body_gets_400(server: int, body: bytes) -> None:
    assert answer_to(server, CHUNKED + body)[0] == 400


def test_a_valid_chunked_body_is_read(server: int) -> None:
    sound = CHUNKED + b"2\r\n{}\r\n0\r\n\r\n"
    assert answer_to(server, sound) == (200, "application/json", "{}")


SLOW = {
    "says nothing": b"",
    "sends a head without an end": HEAD + b"X-Slow: ",
    "sends a body without an end": HEAD + b"Content-Length: 500\r\n\r\n{",
    "sends a large body": HEAD + b"Content-Length: 2000000\r\n\r\n{",
    "sends chunks without an end": CHUNKED + b"5\r\n{",
    "sends a second request": HEAD.replace(b"close", b"keep-alive")
    + b"Content-Length: 2\r\n\r\n{}POST /echo",
}


def test_300_slow_clients_of_each_kind_delay_no_other(server: int) -> None:
    """Each kind alone, then all at once. The server ends a slow request after 15 s: an answer
    that waited for one would take at least that long, also on a busy machine."""
    longest = {}
    with ExitStack() as all_of_them:
        for kind, sent in SLOW.items():
            with ExitStack() as of_this_kind:
                for number in range(300):
                    slow = socket.create_connection(("127.0.0.1", server), timeout=10)
                    (all_of_them if number < 50 else of_this_kind).enter_context(slow)
                    slow.sendall(sent)
                longest[kind] = longest_of_ten(server)
        longest["all of them"] = longest_of_ten(server)
    assert {kind: seconds for kind, seconds in longest.items() if seconds > 5} == {}


def test_clients_that_keep_their_connection_open_delay_no_other(server: int) -> None:
    sent = HEAD + b"Content-Length: 2\r\n\r\n{}"
    with ExitStack() as open_still:
        for _ in range(20):
            finished = socket.create_connection(("127.0.0.1", server), timeout=10)
            open_still.enter_context(finished).sendall(sent)
        assert longest_of_ten(server) < 5


def longest_of_ten(port: int) -> float:
    """Seconds of the slowest of ten healthy requests."""
    seconds = []
    for _ in range(10):
        began = time.monotonic()
        assert answer_to(port, HEAD + b"Content-Length: 2\r\n\r\n{}")[0] == 200
        seconds.append(time.monotonic() - began)
    return max(seconds)


def test_a_request_that_comes_in_pieces_is_answered(server: int) -> None:
    with socket.create_connection(("127.0.0.1", server), timeout=60) as connection:
        for piece in (HEAD, b"Content-Length: 4\r", b"\n\r", b"\nab", b"cd"):
            connection.sendall(piece)
            time.sleep(0.02)
        received = b""
        while more := connection.recv(65536):
            received += more
    assert (received[:15], received[-6:]) == (b"HTTP/1.1 200 OK", b'"abcd"')


def test_requests_sent_at_once_on_one_connection_are_answered_in_turn(server: int) -> None:
    first = HEAD.replace(b"close", b"keep-alive") + b"Content-Length: 3\r\n\r\none"
    with socket.create_connection(("127.0.0.1", server), timeout=60) as connection:
        connection.sendall(first + HEAD + b"Content-Length: 3\r\n\r\ntwo")
        received = b""
        while more := connection.recv(65536):
            received += more
    assert [line for line in received.split(b"\r\n") if b'"' in line] == [
        b'"one"HTTP/1.1 200 OK',
        b'"two"',
    ]


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b"Content-Length: 60000\r\n\r\n" + b"x" * 60_000, True),
        (b"Content-Length: 70000\r\n\r\n" + b"x" * 70_000, False),
        (b"Content-Length: 1500000\r\n\r\n" + b"x" * 1_500_000, False),
        (b"Transfer-Encoding: chunked\r\n\r\n11170\r\n" + b"x" * 70_000 + b"\r\n0\r\n\r\n", False),
    ],
    ids=["short", "longer than is skipped", "read by a thread", "in chunks"],
)
def test_an_answer_to_an_unread_body_says_whether_the_connection_stays_open(
    server: int, sent: bytes, kept: bool
) -> None:
    with socket.create_connection(("127.0.0.1", server), timeout=60) as connection:
        connection.sendall(b"POST /slow HTTP/1.1\r\nHost: here\r\n" + sent)
        answer = HTTPResponse(connection)
        answer.begin()
        answer.read()
        assert (answer.status, answer.getheader("Connection")) == (
            405,
            "keep-alive" if kept else "close",
        )
        if kept:
            connection.sendall(b"GET /nowhere HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        following = b"".join(iter(lambda: connection.recv(65536), b""))
    assert following[:12] == (b"HTTP/1.1 404" if kept else b"")


@pytest.mark.parametrize("encoding", ["by length", "in chunks"])
def test_a_connection_stays_open_after_a_long_body_that_was_read(
    server: int, encoding: str
) -> None:
    body = b"x" * 500_000
    link = HTTPConnection("127.0.0.1", server, timeout=60)
    for _ in range(2):
        link.request("POST", "/echo", body if encoding == "by length" else iter([body]))
        answer = link.getresponse()
        assert (answer.getheader("Connection"), len(answer.read())) == ("keep-alive", 500_002)
        assert link.sock is not None
    link.close()


def test_a_slow_head_or_body_times_out() -> None:
    now = time.monotonic()
    head, body = ArrivingRequest(), ArrivingRequest(SLOW["sends a body without an end"])
    assert (head.is_complete(100), body.is_complete(1000)) == (False, False)
    assert (head.is_late(now + 10), head.is_late(now + 20)) == (False, True)
    assert (body.is_late(now + 20), body.is_late(now + 70)) == (False, True)


def get_slow(port: int) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/slow")
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_requests_in_flight_are_finished_when_the_parent_ends(how: signal.Signals) -> None:
    running, port = serve()
    answer_to(port, CHUNKED + b"0\r\n\r\n")  # it is up
    with ThreadPoolExecutor(4) as clients:
        answers = [clients.submit(get_slow, port) for _client in range(4)]
        time.sleep(0.5)
        os.kill(running.pid, how)
        assert [answer.result() for answer in answers] == [(200, b"done")] * 4
    running.wait(timeout=60)
    wait_for_end_of_group(running.pid)


def test_a_stopping_worker_answers_waiting_requests_and_accepts_no_others() -> None:
    running, port = serve()
    answer_to(port, CHUNKED + b"0\r\n\r\n")  # it is up
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text()
    with ThreadPoolExecutor(5) as clients, socket.socket() as late:
        os.kill(int(children), signal.SIGSTOP)
        answers = [clients.submit(get_slow, port) for _client in range(5)]
        time.sleep(0.5)
        running.terminate()
        time.sleep(0.5)
        os.kill(int(children), signal.SIGCONT)
        time.sleep(0.5)
        assert late.connect_ex(("127.0.0.1", port)) == errno.ECONNREFUSED
        assert [answer.result() for answer in answers] == [(200, b"done")] * 5
    running.wait(timeout=60)


def wait_for_end_of_group(group: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    message = "the web server's worker outlives its parent"
    raise AssertionError(message)
