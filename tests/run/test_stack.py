"""The product as `make run` starts it: nothing is lost when a part dies, nothing is left behind."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPConnection
from threading import Event

import pytest

from supervisor.announce import commands, summary
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.stack import Stack, Stacks
from tests.fixtures.waiting import is_gone, wait_for
from tests.matrix import rotating

pytestmark = pytest.mark.alternating


@pytest.fixture(scope="module")
def damaged_stacks() -> Iterator[dict[str, Stack]]:
    """The stack of each database that these tests hurt, one after the other."""
    running: dict[str, Stack] = {}
    yield running
    for one in running.values():
        one.stop()


backend = runs_on(rotating("database of the whole start", BACKENDS))


@pytest.fixture
def stack(stacks: Stacks, damaged_stacks: dict[str, Stack], backend: str) -> Stack:
    """A running stack of these tests alone, started again where the last test has ended it."""
    if backend not in damaged_stacks:
        damaged_stacks[backend] = stacks.start(backend, empty=True)
    elif damaged_stacks[backend].supervisor.poll() is not None:
        damaged_stacks[backend] = start_again(damaged_stacks[backend])
    return damaged_stacks[backend]


def start_again(ended: Stack) -> Stack:
    again = Stack(ended.database_url, ended.instance)
    again.wait_until_ready()
    return again


def all_processes(stack: Stack) -> list[int]:
    return [pid for pids in stack.processes().values() for pid in pids]


def ask_until(stop: Event, port: int) -> list[int]:
    """The statuses of one request after another, each on a connection of its own."""
    statuses = []
    while not stop.is_set():
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("GET", "/healthz")
        statuses.append(connection.getresponse().status)
        connection.close()
    return statuses


def test_the_first_start_fills_the_database_and_ends_with_the_summary(stack: Stack) -> None:
    expected = summary(stack.base_url, stack.instance / "demo.json")
    wait_for(lambda: expected in stack.output.read_text())


def test_a_killed_web_server_loses_no_request_and_comes_back(
    stack: Stack,
) -> None:
    stop = Event()
    with ThreadPoolExecutor(4) as clients:
        asking: list[Future[list[int]]] = [
            clients.submit(ask_until, stop, stack.port) for _client in range(4)
        ]
        try:
            for _kill in range(3):
                wait_for(lambda: stack.processes()["web"] != [])
                os.kill(stack.processes()["web"][0], signal.SIGKILL)
                time.sleep(0.1)
                stack.wait_until_ready()
        finally:
            stop.set()
        statuses = {status for one in asking for status in one.result()}
    assert statuses == {200}


def test_a_killed_worker_is_replaced(stack: Stack) -> None:
    (worker,) = stack.processes()["worker"]
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: stack.processes()["worker"] not in ([], [worker]))


def test_kill_9_of_the_supervisor_leaves_no_orphan(stack: Stack) -> None:
    processes = all_processes(stack)
    stack.supervisor.kill()
    stack.supervisor.wait()
    wait_for(lambda: all(map(is_gone, processes)))


def test_sigterm_stops_everything_and_the_next_start_keeps_the_data(
    stack: Stack, damaged_stacks: dict[str, Stack], backend: str
) -> None:
    demo, processes = stack.demo, all_processes(stack)
    assert stack.stop() == 0
    assert [pid for pid in processes if not is_gone(pid)] == []
    last_words = stack.output.read_text().splitlines()
    assert "Stopping." in last_words
    assert last_words[-1] == "Stopped."
    damaged_stacks[backend] = start_again(stack)
    assert damaged_stacks[backend].demo["partners"] == demo["partners"]
    assert "demo data" not in damaged_stacks[backend].output.read_text()


@pytest.mark.alternating
@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_printed_command_works_when_pasted(shared_stack: Stack, number: int) -> None:
    title, command = commands(shared_stack.base_url, shared_stack.demo)[number]
    done = subprocess.run(
        ["sh", "-c", f"{command} -w '\n%{{http_code}}'"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    body, _, status = done.stdout.rpartition("\n")
    assert status == "200", f"{title}: {body}"
    words = ['"access_token"', '"created"', '"success": true']
    assert words[number].replace(" ", "") in body.replace(" ", "")
