"""An identity provider that doesn't answer is asked once by all who need it, not by each."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPMessage
from typing import Any

import pytest

from app.gateways import openid
from app.gateways.openid import ProviderDown
from app.gateways.outside_http import HttpAnswer, NoAnswer

ISSUER = "https://id.example"
DOCUMENT = (
    b'{"issuer": "https://id.example", "authorization_endpoint": "https://id.example/a",'
    b' "token_endpoint": "https://id.example/t", "jwks_uri": "https://id.example/k"}'
)


class Provider:
    """Answers each request after a moment; with `is_down`, by no answer."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.is_down = True

    def send_request(self, _method: str, url: str, *_given: Any, **_options: Any) -> HttpAnswer:
        self.requests.append(url)
        time.sleep(0.2)
        if self.is_down:
            message = "no answer within 5 seconds"
            raise NoAnswer(message)
        return HttpAnswer(200, HTTPMessage(), DOCUMENT)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    started = Provider()
    monkeypatch.setattr(openid, "send_request", started.send_request)
    monkeypatch.setattr(openid, "_kept", openid._AnswerCache())
    return started


def is_found(*, fresh: bool = False) -> bool:
    try:
        openid.discover(ISSUER, allow_private=False, fresh=fresh)
    except ProviderDown:
        return False
    return True


def at_once(act: Callable[[], bool]) -> set[bool]:
    with ThreadPoolExecutor(8) as pool:
        return set(pool.map(lambda _place: act(), range(8)))


@pytest.mark.parametrize("is_down", [True, False])
def test_requests_at_the_same_moment_ask_once(provider: Provider, is_down: bool) -> None:
    provider.is_down = is_down
    assert at_once(is_found) == {not is_down}
    assert len(provider.requests) == 1


def test_a_failure_is_forgotten_after_some_seconds(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_found()
    provider.is_down = False
    assert not is_found()
    monkeypatch.setattr(openid, "FAILED_SECONDS", 0.0)
    assert is_found()


def test_saving_a_provider_asks_it_again_at_once(provider: Provider) -> None:
    assert not is_found()
    provider.is_down = False
    assert is_found(fresh=True)
