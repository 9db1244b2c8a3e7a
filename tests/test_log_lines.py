"""No request can add a line to the log, or a command for the terminal that shows it."""

import io
import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.log_lines import LineFormatter, escape_controls

FORGED = "a\n2026-11-23 03:00:00,000 INFO app: all is well\r\x1b[2J\x9b31m\u2028\u202e\x00b"
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def log_output() -> Iterator[io.StringIO]:
    """The lines of the application's log."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(LineFormatter("%(levelname)s %(message)s"))
    log = logging.getLogger("app")
    log.addHandler(handler)
    yield out
    log.removeHandler(handler)


def test_control_characters_are_written_as_escapes() -> None:
    assert escape_controls(FORGED) == (
        "a\\n2026-11-23 03:00:00,000 INFO app: all is well\\r\\x1b[2J\\x9b31m\\u2028\\u202e\\x00b"
    )
    assert escape_controls("Zoë, Ünal, 日本 🙂") == "Zoë, Ünal, 日本 🙂"


@pytest.mark.parametrize("place", ["message", "argument", "error", "name of the log"])
def test_any_record_is_one_line_in_the_format_of_the_portal(
    log_output: io.StringIO, place: str
) -> None:
    log = logging.getLogger(f"app.{FORGED}" if place == "name of the log" else "app.anything")
    try:
        raise ValueError(FORGED if place == "error" else "x")
    except ValueError:
        log.exception(
            "read %s" if place != "message" else FORGED.replace("%", "%%"),
            *([FORGED] if place != "message" else []),
        )
    ours = [line for line in log_output.getvalue().split("\n") if line and not line.startswith(" ")]
    assert len(ours) == 1
    assert not set(log_output.getvalue()) & set("\r\x1b\x9b\u2028\u202e\x00")


def test_a_path_can_not_forge_a_line(log_output: io.StringIO) -> None:
    app = Flask("app")
    with app.test_request_context("/a%0AERROR%20forged%1B%5B2J"):
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            app.log_exception(sys.exc_info())
    first, *more = log_output.getvalue().rstrip().split("\n")
    ours = first.partition(" request_id=")[0]  # where another test has made the application
    assert ours == "ERROR Exception on /a\\nERROR forged\\x1b[2J [GET]"
    assert {line[:2] for line in more} == {"  "}


def test_a_header_can_not_forge_a_line_of_the_web_server() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "--access-logfile", "-"]
    server = subprocess.Popen(
        [*command, "--bind", f"fd://{listener.fileno()}", "tests.run.echo:app"],
        cwd=ROOT,
        pass_fds=[listener.fileno()],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    listener.close()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(
            b"GET /echo HTTP/1.1\r\nHost: here\r\nConnection: close\r\nUser-Agent: a\x9b2Jb\r\n\r\n"
        )
        while connection.recv(65536):
            pass
    server.terminate()
    message = server.communicate(timeout=60)[0]
    assert b"a\\x9b2Jb" in message
