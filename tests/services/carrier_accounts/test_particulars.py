"""What may stand in a trunk: nothing that a SIP telephone could read as something else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.errors import ValidationFailed
from app.gateways.carriers.opening import brought_trunk
from app.gateways.carriers.sip.account import Trunk
from app.services.carrier_accounts import Particulars, refuse_private
from app.services.carrier_accounts.particulars import check
from tests.fixtures.settings import settings_for

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


def problems(trunk: Trunk, password: str = PASSWORD) -> list[tuple[str, str]]:
    """The fields at which they are refused, each with its code."""
    try:
        check(Particulars(password, trunk=trunk), may_be_empty=False)
    except ValidationFailed as error:
        return [(problem.field, problem.code) for problem in error.problems]
    return []


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("field", ["address", "domain", "proxy", "user"])
def test_nothing_is_taken_that_could_mean_something_else(field: str, value: str) -> None:
    assert problems(changed({field: value})) == [(field, f"invalid_{field}")]


@pytest.mark.parametrize(
    "value", ["a:", "a:0", "a:65536", "a:123456", "a:5060:1", "a:x", "a.", "."]
)
@pytest.mark.parametrize("field", ["address", "domain", "proxy"])
def test_a_host_has_a_port_that_there_is(field: str, value: str) -> None:
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
def test_a_password_that_can_not_be_written_is_refused(password: str) -> None:
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
def test_what_is_missing_or_unknown_is_said_at_its_field(
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
def test_what_providers_hand_out_is_taken(changes: dict[str, Any], password: str) -> None:
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
        ("0.0.0.0", "", "address"),  # noqa: S104 - nobody listens there
        ("9.9.9.9", "172.16.0.1", "proxy"),
        ("127.0.0.1", "9.9.9.9", None),
        ("9.9.9.9:5061", "", None),
        ("a b", "", None),
        ("a:x", "", None),
    ],
)
def test_only_the_internet_is_called_into(
    tmp_path: Path, address: str, proxy: str, refused: str | None
) -> None:
    """What matters is where the messages go first; what can't be a host is told elsewhere."""
    account = brought_trunk(settings_for("sqlite://", tmp_path), Trunk(address, proxy=proxy))
    if refused is None:
        refuse_private(account)
        return
    with pytest.raises(ValidationFailed) as told:
        refuse_private(account)
    assert [(each.field, each.code) for each in told.value.problems] == [
        (refused, "private_address")
    ]
    refuse_private(replace(account, may_be_private=True))
