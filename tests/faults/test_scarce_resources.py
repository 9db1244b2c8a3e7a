"""Without memory or file handles a web process answers 503, lives on and recovers by itself."""

import json
import resource
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import requests

from tests.fixtures.stack import Stack, Stacks

pytestmark = pytest.mark.alternating


@pytest.fixture(scope="module")
def stack(stacks: Stacks) -> Iterator[Stack]:
    running = stacks.start("sqlite", {"PORTAL_WEB_THREADS": "4"})
    with ThreadPoolExecutor(12) as clients:  # so that all its threads have begun
        list(clients.map(lambda _: healthz(running), range(48)))
    yield running
    running.stop()


def healthz(stack: Stack) -> int:
    return requests.get(f"{stack.base_url}/healthz", timeout=10).status_code


def page(stack: Stack) -> requests.Response:
    return requests.get(f"{stack.base_url}/p/larkfield/sign-in", timeout=10)


def web_process(stack: Stack) -> int:
    return stack.processes()["web"][1]


def one_more_file(pid: int) -> int:
    """The limit with which the process can open one more, once the connections before have
    ended."""
    time.sleep(1)
    used = {int(each.name) for each in Path(f"/proc/{pid}/fd").iterdir()}
    return min(set(range(len(used) + 1)) - used) + 1


@contextmanager
def limited(pid: int, kind: int, most: int) -> Iterator[None]:
    """As the kernel limits a process that runs."""
    before = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, kind, before)


def add_contacts(stack: Stack) -> requests.Response:
    """A request of some megabytes."""
    organization = stack.demo["partners"][0]["organizations"][0]
    contacts = [
        {"email": f"person{n}@example.com", "metadata": {"note": "a" * 850}} for n in range(8000)
    ]
    return requests.post(
        f"{stack.base_url}/api/v1/campaigns/{organization['campaigns'][0]['id']}/contacts",
        data=json.dumps({"contacts": contacts}),
        headers={"x-api-key": organization["apiKey"], "Content-Type": "application/json"},
        timeout=60,
    )


def test_a_request_without_memory_is_refused_and_the_next_one_served(stack: Stack) -> None:
    pid = web_process(stack)
    status = Path(f"/proc/{pid}/status").read_text()
    size = int(status.partition("VmSize:")[2].split()[0]) * 1024
    with limited(pid, resource.RLIMIT_AS, size + 1_000_000):
        answers = (add_contacts(stack) for _ in range(5))  # freed memory may be enough for one
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert refused.json()["details"]["code"] == "unavailable"
        assert healthz(stack) == 200
    assert add_contacts(stack).status_code == 200
    assert web_process(stack) == pid


def test_a_page_without_file_handles_is_refused_and_the_next_one_served(stack: Stack) -> None:
    pid = web_process(stack)
    with limited(pid, resource.RLIMIT_NOFILE, one_more_file(pid)):
        refused = page(stack)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert page(stack).status_code == 200
    assert web_process(stack) == pid


def test_connections_without_file_handles_wait_for_one(stack: Stack) -> None:
    pid = web_process(stack)
    with ExitStack() as idle, limited(pid, resource.RLIMIT_NOFILE, one_more_file(pid)):
        for _ in range(12):
            idle.enter_context(socket.create_connection(("127.0.0.1", stack.port), timeout=10))
        time.sleep(1)
    assert healthz(stack) == 200
    assert web_process(stack) == pid
