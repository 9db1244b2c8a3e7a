"""A web process is replaced without a gap: it listens when it can answer, and leaves in steps."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from tests.fixtures.ports import free_port
from tests.fixtures.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
DELAY = 2
WEB = ("database", "migrations")
STOPPING = {"stopping": "this process is stopping"}


@contextmanager
def web_server(
    folder: Path, application: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A web server with our configuration on a port that it binds itself."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py"]
    own = {"PORTAL_INSTANCE_DIR": str(folder), **environment}
    running = subprocess.Popen(
        [*command, "--bind", f"127.0.0.1:{port}", application],
        cwd=ROOT,
        env={**os.environ, **own},
        start_new_session=True,
    )
    try:
        yield running, port
    finally:
        running.terminate()
        running.wait(timeout=60)


def ask(port: int, path: str) -> tuple[int, dict[str, str]]:
    """Status, and what the answer's ``checks`` say. Raises `ConnectionRefusedError`."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()).get("checks", {})
    finally:
        connection.close()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_nothing_listens_before_the_application_is_loaded(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    with web_server(tmp_path, "tests.run.slow_start:app", LOADED=str(loaded)) as (_running, port):
        while not loaded.exists():
            assert not listens(port)
            time.sleep(0.02)
        wait_for(lambda: listens(port))
        assert ask(port, "/")[0] == 200


def test_readiness_ends_first_while_requests_are_still_answered(tmp_path: Path) -> None:
    delay = {"PORTAL_STOP_DELAY_SECONDS": str(DELAY)}
    with web_server(tmp_path, "wsgi:app", **delay) as (running, port):
        wait_for(lambda: listens(port))
        assert ask(port, "/readyz/web")[1]["database"] == "ok"
        running.send_signal(signal.SIGTERM)
        reported = time.monotonic()
        wait_for(lambda: "stopping" in ask(port, "/readyz/web")[1])
        assert ask(port, "/readyz/web") == (503, dict.fromkeys(WEB, "not checked") | STOPPING)
        checks = {"disk": "ok"} | dict.fromkeys((*WEB, "worker"), "not checked") | STOPPING
        assert ask(port, "/readyz") == (503, checks)
        assert ask(port, "/healthz")[0] == 200
        running.wait(timeout=60)
        assert time.monotonic() - reported >= DELAY
        assert not listens(port)


def test_without_a_delay_the_server_stops_at_once(tmp_path: Path) -> None:
    with web_server(tmp_path, "tests.run.echo:app") as (running, port):
        wait_for(lambda: listens(port))
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=60)
        assert (running.returncode, listens(port)) == (0, False)
