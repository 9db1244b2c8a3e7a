"""The guide to webhooks: its check works, its lists are complete, its examples are true."""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from app.config import ROOT
from app.enums import WebhookEvent
from app.services.webhooks.delivering import GAPS_SECONDS
from app.services.webhooks.publishing import TEST
from app.services.webhooks.signing import headers, new_secret

GUIDE = (ROOT / "docs" / "webhooks.md").read_text()
BODY = '{"type":"webhook.test","data":{"name":"Zoë"}}'


@pytest.fixture(scope="module")
def verify() -> Callable[..., None]:
    """Return the function from the guide."""
    [source] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    known: dict[str, Any] = {}
    exec(source, known)  # noqa: S102 - the guide's own lines
    return known["verify"]  # type: ignore[no-any-return]  # it is the guide's function


def refusal(verify: Callable[..., None], secret: str, sent: dict[str, str], body: str) -> str:
    """The words of the check, empty where it accepts."""
    try:
        verify(secret, sent, body.encode())
    except ValueError as refused:
        return str(refused)
    return ""


def test_the_check_of_the_guide_accepts_a_signed_message_of_the_portal(
    verify: Callable[..., None],
) -> None:
    old, new = new_secret(), new_secret()
    sent = headers([new, old], "msg_1", int(time.time()), BODY)
    assert [refusal(verify, secret, sent, BODY) for secret in (old, new)] == ["", ""]


@pytest.mark.parametrize(
    ("changes", "body", "words"),
    [
        ({}, BODY + " ", "wrong signature"),
        ({"webhook-id": "msg_2"}, BODY, "wrong signature"),
        ({"webhook-signature": "v1,"}, BODY, "wrong signature"),
        ({"webhook-timestamp": "1614265330"}, BODY, "too old"),
    ],
)
def test_the_check_of_the_guide_refuses_a_changed_message(
    verify: Callable[..., None], changes: dict[str, str], body: str, words: str
) -> None:
    secret = new_secret()
    sent = headers([secret], "msg_1", int(time.time()), BODY) | changes
    assert refusal(verify, secret, sent, body) == words


def test_the_table_of_events_is_the_list_that_is_sent() -> None:
    rows = [line.split("|")[1] for line in GUIDE.splitlines() if line.startswith("| `")]
    listed = re.findall(r"`([a-z.-]+)`", " ".join(rows))
    assert sorted(listed) == sorted([*(event.value for event in WebhookEvent), TEST])


def test_every_example_is_json_of_a_listed_type() -> None:
    examples = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)]
    assert [example["type"] for example in examples] == [
        "call.completed",
        "contact.created",
        "import.finished",
    ]


def test_the_gaps_are_those_of_the_guide() -> None:
    assert GAPS_SECONDS == (5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 30600)
    assert 24 * 3600 < sum(GAPS_SECONDS) < 24.5 * 3600
    assert f"{['ten', 'eleven'][len(GAPS_SECONDS) - 9]} attempts" in GUIDE
