"""Looking up host names that customers have chosen, some of which get no answer."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any

import pytest

from app.gateways import public_addresses
from app.gateways.public_addresses import LookupFailed, resolve_addresses

ANSWER = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]
MORE_THAN_CONCURRENT_WEBHOOKS = 60


class SlowDns:
    """Answers for every name, but for names below ``slow.example`` only at the end."""

    def __init__(self) -> None:
        self.end = Event()
        self.asked: list[str] = []
        self._lock = Lock()

    def getaddrinfo(self, host: str, *_arguments: Any, **_options: Any) -> list[Any]:
        with self._lock:
            self.asked.append(host)
        if host.endswith("slow.example"):
            self.end.wait(30)
        return ANSWER


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowDns]:
    slow = SlowDns()
    monkeypatch.setattr(socket, "getaddrinfo", slow.getaddrinfo)
    yield slow
    slow.end.set()


def is_found(host: str, seconds: float = 5.0, *, for_calls: bool = False) -> bool:
    try:
        resolve_addresses(host, 443, seconds=seconds, allow_private=False, for_calls=for_calls)
    except LookupFailed:
        return False
    return True


def give_up(*hosts: str) -> None:
    with ThreadPoolExecutor(len(hosts)) as callers:
        assert not any(callers.map(lambda host: is_found(host, 0.1), hosts))


def test_a_name_is_found_while_many_others_get_no_answer(dns: SlowDns) -> None:
    give_up(*(f"hooks{place}.slow.example" for place in range(MORE_THAN_CONCURRENT_WEBHOOKS)))
    assert is_found("hooks.other.example", 2.0)


def test_a_name_that_gets_no_answer_is_asked_for_once_at_a_time(dns: SlowDns) -> None:
    give_up(*["hooks.slow.example"] * 10)
    assert dns.asked == ["hooks.slow.example"]
    dns.end.set()
    assert is_found("hooks.slow.example")


def test_other_lookups_leave_room_for_those_of_calls(
    dns: SlowDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_addresses, "_other_lookups", public_addresses._Lookups(2))
    give_up("a.slow.example", "b.slow.example")
    assert not is_found("hooks.other.example", 0.1)
    assert is_found("trunk.other.example", for_calls=True)
    dns.end.set()
