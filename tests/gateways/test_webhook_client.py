"""Sending to a receiver that a user has named."""

import ipaddress
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from app.gateways import outside_http
from app.gateways.public_addresses import is_public
from app.gateways.webhook_client import WebhookAnswer, post
from tests.fixtures.receiver import Receiver

HEADERS = {"webhook-id": "msg_1"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver().open() as opened:
        yield opened


def test_a_message_arrives_as_it_was_signed(receiver: Receiver) -> None:
    body = '{"name":"Zoë"}'
    assert post(receiver.url, HEADERS, body, allow_private=True) == WebhookAnswer(204, "")
    [message] = receiver.received
    assert (message.path, message.body, message.id) == ("/hooks?from=portal", body, "msg_1")
    assert message.headers["content-type"] == "application/json"
    assert message.headers["host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: Receiver, status: int) -> None:
    receiver.answers.append((status, {"Location": receiver.url}))
    answer = post(receiver.url, HEADERS, "{}", allow_private=True)
    assert (answer, answer.is_accepted) == (WebhookAnswer(status, f"I say {status}"), False)
    assert len(receiver.received) == 1


def test_retry_after_is_read_as_seconds_or_as_a_date(receiver: Receiver) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    for wish in ("7", later, "soon"):
        receiver.answers.append((503, {"Retry-After": wish}))
    found = [post(receiver.url, HEADERS, "{}", allow_private=True) for _ in range(3)]
    assert found[0] == WebhookAnswer(503, "I say 503", 7.0)
    assert found[1].retry_after == pytest.approx(89, abs=2)
    assert found[2] == WebhookAnswer(503, "I say 503", None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433"])
def test_nothing_is_sent_to_an_address_that_is_not_public(receiver: Receiver, host: str) -> None:
    answer = post(f"http://{host}:{receiver.port}/", HEADERS, "{}", allow_private=False)
    words = f"the address of {host} is not public"
    assert (answer, receiver.received) == (WebhookAnswer(None, words), [])


def test_a_name_with_one_private_address_among_public_ones_is_refused(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolved(_host: str, port: int, **_: Any) -> list[Any]:
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in ("93.184.215.14", "127.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    answer = post(f"http://both.example:{receiver.port}/", HEADERS, "{}", allow_private=False)
    words = "the address of both.example is not public"
    assert (answer, receiver.received) == (WebhookAnswer(None, words), [])


def test_the_name_is_looked_up_once_and_the_checked_address_is_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def resolved(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    answer = post(f"http://crm.example:{receiver.port}/", HEADERS, "{}", allow_private=True)
    assert (answer.status, asked) == (204, ["crm.example"])
    assert receiver.received[0].headers["host"] == f"crm.example:{receiver.port}"


def test_the_kept_answer_of_a_receiver_holds_no_secret(receiver: Receiver) -> None:
    receiver.usual, receiver.says = 401, "bad secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    answer = post(receiver.url, HEADERS, "{}", allow_private=True)
    assert (answer.status, answer.excerpt) == (401, "bad secret [secret]")


def test_a_receiver_that_takes_too_long_is_cut_off(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside_http, "WHOLE_SECONDS", 0.3)
    receiver.holds_seconds = 1.0
    answer = post(receiver.url, HEADERS, "{}", allow_private=True)
    assert answer == WebhookAnswer(None, "no answer within 0.3 seconds")


def test_a_refused_connection_is_recorded_as_an_answer() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    answer = post(f"http://127.0.0.1:{port}/", HEADERS, "{}", allow_private=True)
    assert answer == WebhookAnswer(None, "no connection to 127.0.0.1")


def test_an_answer_that_is_no_http_is_recorded(receiver: Receiver) -> None:
    secured = receiver.url.replace("http://", "https://")
    answer = post(secured, HEADERS, "{}", allow_private=True)
    assert answer.status is None
    assert answer.excerpt.startswith("no secure connection: ")


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 - not bound to
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "168.63.129.16",
        "169.254.169.254",
        "172.31.0.1",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2001:db8::1",
        "2002:7f00:1::1",
        "fd00:ec2::254",
        "fe80::1",
        "ff02::1",
    ],
)
def test_a_private_address_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8"]
)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
