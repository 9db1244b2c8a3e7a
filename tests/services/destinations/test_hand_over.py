"""Which voice addresses calls may be handed over to."""

import pytest

from app.services.destinations import CallDestinations, hand_over_refusal, is_private_host
from app.services.destinations.hand_over import SHAPE
from tests.fixtures.open_regions import everywhere_in

ALLOWED = CallDestinations(
    everywhere_in("US"),
    operator_hosts=(None, ["*.example"]),
    partner_hosts=["voice.example", "*.voice.example", "other.test", "203.0.113.9"],
)
BY_OPERATOR = "Only the platform operator can allow it."
BY_PARTNER = "A partner admin can allow this host in the portal's settings."


@pytest.mark.parametrize(
    "address",
    [
        "sip:robin@voice.example",
        "sips:robin@voice.example:5061;transport=tls",
        "SIP:robin@eu.Voice.example;transport=TCP",
        "sip:+12025550123@voice.example",
        "wss://voice.example/stream?assistant=1",
        "https://eu.voice.example",
    ],
)
def test_an_allowed_address_is_accepted(address: str) -> None:
    assert hand_over_refusal(address, ALLOWED) is None


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("sip:911@voice.example", "911 is an emergency number."),
        ("sip:+19005550199@voice.example", "+19005550199 is a premium-rate number."),
        ("sip:19005550199@voice.example", "Enter + and the country code"),
        ("sip:1-900-555-0199@voice.example", "Enter + and the country code"),
        ("sip:+447012345678@voice.example", "is a personal (follow-me) number."),
        ("sip:+5352345678@voice.example", "is in Cuba, which isn't open for calls."),
        ("sip:1411@voice.example", "1411 is a short number."),
        ("sip:robin@voice.example;method=INVITE", SHAPE),
        ("sip:robin@voice.example;maddr=127.0.0.1", SHAPE),
        ("sip:robin@voice.example;transport=tls;maddr=10.0.0.1", SHAPE),
        ("sip:robin@voice.example;transport=ws", SHAPE),
        ("sip:robin@voice.example?Replaces=x", SHAPE),
        ("sip:robin@voice.example;user=phone", SHAPE),
        ("sip:%39%31%31@voice.example", SHAPE),
        ("tel:911", SHAPE),
        ("sip:robin@other.test", BY_OPERATOR),
        ("sip:robin@203.0.113.9", BY_OPERATOR),
        ("sip:robin@elsewhere.example", BY_PARTNER),
        ("wss://voice.example.evil.example", BY_PARTNER),
        ("sip:robin@example", BY_OPERATOR),
    ],
)
def test_any_other_address_is_refused_with_a_sentence(address: str, words: str) -> None:
    assert words in (hand_over_refusal(address, ALLOWED) or "")


def test_without_an_allowed_host_no_address_is_accepted() -> None:
    nothing_opened = CallDestinations(everywhere_in("US"))
    assert BY_PARTNER in (hand_over_refusal("sip:robin@voice.example", nothing_opened) or "")


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1"),
        *("2130706433", "127.1", "0x7f.0.0.1", "0177.0.0.1", "192.0.2.1", "255.255.255.255"),
        *("localhost", "a.localhost", "printer", "voice.local", "voice.internal", "a.home.arpa"),
    ],
)
def test_a_host_that_is_not_on_the_internet_is_recognised_by_its_name(host: str) -> None:
    assert is_private_host(host)


@pytest.mark.parametrize("host", ["voice.example", "9.9.9.9", "sip.example.com"])
def test_other_hosts_are_looked_up_when_a_call_is_placed(host: str) -> None:
    assert not is_private_host(host)
