"""The supervisor: what dies comes back, what can't start is given up, nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fixtures.waiting import is_gone, wait_for

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = ["sleep", "600"]
DEAF = ["sh", "-c", "trap '' TERM; echo deaf; exec sleep 600"]
CRASHING = ["sh", "-c", "echo 'no such table'; exit 3"]
QUICK = {"start_limit": 5.0, "pauses": [0.05, 0.1, 0.2], "stop_limit": 5.0}

Start = Callable[..., "Supervised"]


class Supervised:
    """A running supervisor and what it has printed."""

    def __init__(self, output: Path, programs: dict[str, list[str]], rules: dict[str, object]):
        self._output = output
        given = json.dumps({"programs": programs, "rules": QUICK | rules})
        with output.open("wb") as printed:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.run.supervised", given],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )

    @property
    def printed(self) -> str:
        return self._output.read_text()

    def children(self, number: int = 1) -> list[int]:
        """The ids of its children, once there are ``number``, in the order of their start."""
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        wait_for(lambda: len(task.read_text().split()) == number)
        return sorted(map(int, task.read_text().split()))

    def wait_for_words(self, words: str) -> None:
        wait_for(lambda: words in self.printed)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Supervised] = []
    # A supervisor leaves SIGHUP ignored where it was at its start, as under nohup.
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def begin(programs: dict[str, list[str]], **rules: object) -> Supervised:
        started.append(Supervised(tmp_path / f"{len(started)}.log", programs, rules))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()
    signal.signal(signal.SIGHUP, hangup)


def test_a_killed_program_is_started_again_every_time(start: Start) -> None:
    running = start({"worker": SLEEPER})
    killed = "worker was killed by SIGKILL; starting it again.\n"
    seen: set[int] = set()
    for _kill in range(6):
        (pid,) = running.children()
        seen.add(pid)
        os.kill(pid, signal.SIGKILL)
        running.wait_for_words(killed * len(seen))
    assert len(seen | set(running.children())) == 7
    assert running.printed == killed * 6


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_signal_ends_everything(start: Start, stop: signal.Signals) -> None:
    running = start({"web": SLEEPER, "worker": SLEEPER})
    children = running.children(2)
    began = time.monotonic()
    running.process.send_signal(stop)
    assert running.process.wait(timeout=60) == 0
    assert time.monotonic() - began < 3
    assert [pid for pid in children if not is_gone(pid)] == []
    assert running.printed == "Stopping.\nStopped.\n"


def test_a_program_that_ignores_the_stop_is_killed_after_the_limit(start: Start) -> None:
    running = start({"web": SLEEPER, "worker": DEAF}, stop_limit=0.5)
    children = running.children(2)
    running.wait_for_words("deaf")
    running.process.terminate()
    assert running.process.wait(timeout=60) == 0
    assert [pid for pid in children if not is_gone(pid)] == []
    words = "deaf\nStopping.\nKilling what has not stopped yet: worker.\nStopped.\n"
    assert running.printed == words


def test_a_second_ctrl_c_stops_at_once(start: Start) -> None:
    running = start({"worker": DEAF}, stop_limit=60.0)
    running.wait_for_words("deaf")
    running.process.send_signal(signal.SIGINT)
    time.sleep(1.2)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(timeout=30) == 0


def test_remaining_grandchildren_are_stopped_too(start: Start) -> None:
    running = start({"worker": ["sh", "-c", "sleep 600 & echo grandchild=$!; exec sleep 600"]})
    running.wait_for_words("grandchild=")
    grandchild = int(running.printed.split("=")[1])
    running.process.terminate()
    running.process.wait(timeout=60)
    wait_for(lambda: is_gone(grandchild))


def test_no_orphan_is_left_when_the_supervisor_itself_is_killed(start: Start) -> None:
    running = start({"web": SLEEPER, "worker": DEAF})
    children = running.children(2)
    running.wait_for_words("deaf")
    running.process.kill()
    running.process.wait()
    wait_for(lambda: all(is_gone(pid) for pid in children))


def test_a_program_that_can_not_start_is_given_up_after_growing_pauses(
    start: Start, tmp_path: Path
) -> None:
    written = tmp_path / "worker.pid"
    sleeper = ["sh", "-c", f"echo $$ > {written}; exec sleep 600"]
    running = start({"web": CRASHING, "worker": sleeper})
    assert running.process.wait(timeout=60) == 1
    assert is_gone(int(written.read_text()))
    again = "no such table\nweb ended with status 3 right after its start; next try in {} s.\n"
    assert running.printed == "".join(again.format(pause) for pause in ("0.05", "0.1", "0.2")) + (
        "no such table\n"
        "GIVING UP: web ended 4 times right after its start, the last time with status 3. "
        "What it printed above says why. Everything is being stopped.\n"
    )


def test_a_program_that_ends_after_a_while_is_always_started_again(start: Start) -> None:
    running = start({"worker": ["sh", "-c", "sleep 0.2; exit 4"]}, start_limit=0.1, pauses=[])
    line = "worker ended with status 4; starting it again.\n"
    running.wait_for_words(line * 3)
    assert running.process.poll() is None
