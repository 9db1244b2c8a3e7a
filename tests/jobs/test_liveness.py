"""A worker reports that its main loop turns: on a port, and to systemd."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest

from app.database import Database
from app.jobs import liveness
from app.jobs.liveness import LoopLiveness
from tests.fixtures.ports import free_port
from tests.fixtures.worker import Worker


def ask(port: int, path: str = "/livez") -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the module, in its one element."""
    clock = [1000.0]
    monkeypatch.setattr(liveness, "monotonic", lambda: clock[0])
    return clock


def test_a_worker_with_a_hanging_main_loop_is_not_live(now: list[float]) -> None:
    life = LoopLiveness()
    port = liveness.serve(life, "127.0.0.1", 0)
    assert ask(port) == (200, b"live\n")
    now[0] += liveness.HANGS_AFTER_SECONDS
    assert ask(port) == (503, b"the main loop hangs\n")
    life.record_turn()
    assert ask(port) == (200, b"live\n")
    assert ask(port, "/anything")[0] == 404


def test_systemd_hears_from_a_live_worker_only(tmp_path: Path, now: list[float]) -> None:
    life, stop = LoopLiveness(), threading.Event()
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "30000"}
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(environment["NOTIFY_SOCKET"])
        systemd.settimeout(5)
        liveness.notify_systemd("READY=1", environment)
        assert systemd.recv(100) == b"READY=1"
        reporting = (life, stop, environment)
        thread = threading.Thread(target=liveness.keep_reporting, args=reporting)
        thread.start()
        assert [systemd.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
        now[0] += liveness.HANGS_AFTER_SECONDS
        time.sleep(0.1)
        systemd.setblocking(False)
        with suppress(BlockingIOError):
            while systemd.recv(100):  # what was sent before
                pass
        time.sleep(0.1)
        with pytest.raises(BlockingIOError):
            systemd.recv(100)
        stop.set()
        thread.join(5)
        assert not thread.is_alive()


def test_without_systemd_nothing_is_reported() -> None:
    liveness.notify_systemd("READY=1", {})
    assert liveness.watchdog_seconds({}) is None
    assert liveness.watchdog_seconds({"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"}) is None
    assert liveness.watchdog_seconds({"WATCHDOG_USEC": "1000000"}) == 1.0


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_worker_answers_on_the_port_of_the_setting(
    fresh_database: Database, make_worker: Callable[..., Worker], backend: str
) -> None:
    port = free_port()
    make_worker(PORTAL_WORKER_LIVEZ_PORT=str(port)).start()
    assert ask(port) == (200, b"live\n")
