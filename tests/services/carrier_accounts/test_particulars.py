"""Values allowed in a trunk: none that a SIP telephone could misinterpret."""

from dataclasses import replace
from typing import Any

import pytest

from app.errors import ValidationFailed
from app.gateways.carriers.sip.account import Trunk
from app.services.carrier_accounts import AccountFields
from app.services.carrier_accounts.account_fields import check

TRUNK = Trunk("sip.example.com:5080", user="portal", domain="example.com", proxy="10.example:5060")
PASSWORD = "right"
HOSTILE = (
    "a b",
    "a;regint=1",
    "a>;auth_pass=x",
    "<a",
    'a"b',
    "a'b",
    "a\nmodule evil.so",
    "a\r\nb",
    "a\x00",
    "a\\b",
    "a\u2028b",
    "ａ",
    "é",
    "a/b",
    "a?b",
    "a#b",
    "a%41",
    "a,b",
    "a@b",
    "[::1]",
    "sip:a",
    "-a",
    "x" * 300,
)
"""None of them is a host, nor a user."""


def changed(changes: dict[str, Any]) -> Trunk:
    return replace(TRUNK, **changes)


def problems(
    trunk: Trunk, password: str = PASSWORD, *, may_be_private: bool = True
) -> list[tuple[str, str]]:
    """The fields at which they are refused, each with its code."""
    try:
        check(
            AccountFields(password, trunk=trunk), may_be_empty=False, may_be_private=may_be_private
        )
    except ValidationFailed as error:
        return [(problem.field, problem.code) for problem in error.problems]
    return []


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["address", "domain", "proxy", "user"])
def test_an_invalid_value_is_refused_at_its_field(field: str, value: str) -> None:
    assert problems(changed({field: value})) == [(field, f"invalid_{field}")]


@pytest.mark.parametrize(
    "value", ["a:", "a:0", "a:65536", "a:123456", "a:5060:1", "a:x", "a.", "."]
)
@pytest.mark.parametrize("field", ["address", "domain", "proxy"])
def test_the_port_of_a_host_must_exist(field: str, value: str) -> None:
    assert problems(changed({field: value})) == [(field, f"invalid_{field}")]


@pytest.mark.parametrize(
    "password",
    [
        "a b",
        "a;b",
        "<a",
        "a>",
        'a"b',
        "a'b",
        "a\nb",
        "a\rb",
        "a\x00",
        "a\tb",
        "a\\b",
        "é",
        "x" * 201,
    ],
)
def test_a_password_with_characters_that_sip_can_not_carry_is_refused(password: str) -> None:
    assert problems(TRUNK, password) == [("password", "invalid_password")]


@pytest.mark.parametrize(
    ("changes", "password", "found"),
    [
        ({"address": ""}, PASSWORD, [("address", "invalid_address")]),
        ({"transport": "ws"}, PASSWORD, [("transport", "invalid_transport")]),
        ({"transport": "udp;lr"}, PASSWORD, [("transport", "invalid_transport")]),
        ({"user": "", "registers": True}, "", [("user", "user_required")]),
        ({"user": "", "shows_number": False}, "", [("user", "user_required")]),
        ({"user": ""}, PASSWORD, [("user", "user_required")]),
        ({}, "", [("password", "password_required")]),
        (
            {"address": "a b", "user": "a;b"},
            "a b",
            [
                ("address", "invalid_address"),
                ("user", "invalid_user"),
                ("password", "invalid_password"),
            ],
        ),
    ],
)
def test_missing_and_unknown_values_are_problems_of_their_field(
    changes: dict[str, Any], password: str, found: list[tuple[str, str]]
) -> None:
    assert problems(changed(changes), password) == found


@pytest.mark.parametrize(
    ("changes", "password"),
    [
        ({}, "x" * 200),
        ({"address": "203.0.113.7"}, "s3cr3t!"),
        ({"user": "+4930123456", "registers": True, "shows_number": False}, "a=b,c:d#e%f&g|h`i^j"),
        ({"user": "a.b-c_d+e", "transport": "tls"}, "~"),
        ({"user": "", "domain": "", "proxy": ""}, ""),
    ],
)
def test_values_as_providers_write_them_are_accepted(
    changes: dict[str, Any], password: str
) -> None:
    assert problems(changed(changes), password) == []


@pytest.mark.parametrize(
    ("address", "proxy", "refused"),
    [
        ("127.0.0.1", "", "address"),
        ("localhost:5060", "", "address"),
        ("2130706433", "", "address"),
        ("10.0.0.5:5080", "", "address"),
        ("192.168.1.1", "", "address"),
        ("169.254.169.254", "", "address"),
        ("100.100.100.200", "", "address"),
        ("0.0.0.0", "", "address"),  # noqa: S104 - no program listens there
        ("9.9.9.9", "172.16.0.1", "proxy"),
        ("127.0.0.1", "9.9.9.9", None),
        ("9.9.9.9:5061", "", None),
        ("trunk.example", "", None),
    ],
)
def test_trunks_must_be_on_the_internet(address: str, proxy: str, refused: str | None) -> None:
    """Only the first hop of the messages is checked. The worker looks up names later."""
    trunk = Trunk(address, proxy=proxy)
    found = problems(trunk, "", may_be_private=False)
    assert found == ([(refused, "private_address")] if refused else [])
    assert problems(trunk, "") == []
