"""Webhooks from the command line."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import WebhookEvent
from app.models import Webhook, WebhookDelivery
from tests.fixtures.databases import runs_on
from tests.fixtures.tenants import Tenant

URL = "http://127.0.0.1:9/hooks"


backend = runs_on(["sqlite"])


@pytest.fixture
def app(make_app: Callable[..., Flask]) -> Flask:
    return make_app(webhook_allow_private=True)


def run(app: Flask, *words: object) -> Result:
    return app.test_cli_runner().invoke(args=["webhook", *(str(word) for word in words)])


def printed(app: Flask, *words: object) -> Any:
    result = run(app, *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_a_webhook_is_added_listed_renewed_and_removed(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    made = printed(app, "add", tenant.organization.id, URL, "--event", "call.completed")
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made == {
        "id": made["id"],
        "organizationId": str(tenant.organization.id),
        "url": URL,
        "events": ["call.completed"],
        "state": "active",
        "pauseReason": None,
        "previousSecretUntil": None,
    }
    assert printed(app, "list", tenant.organization.id) == [made]
    assert printed(app, "list", tenant.plus.id) == []
    assert run(app, "list").output == f"{made['id']}  active   {URL}  call.completed\n"
    renewed = printed(app, "rotate", made["id"], "--overlap-hours", 24)
    assert renewed["secret"] != secret
    assert renewed["previousSecretUntil"] is not None
    assert run(app, "remove", made["id"]).output == f"The webhook to {URL} is removed.\n"
    assert printed(app, "list") == []
    assert run(app, "list").output == "No webhook yet.\n"


def test_without_events_a_webhook_receives_all(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    shown = run(app, "add", tenant.organization.id, URL).output
    assert shown.endswith("Keep the secret now: it can't be shown again.\n")
    webhook = session.scalars(select(Webhook)).one()
    assert webhook.events == [event.value for event in WebhookEvent]


def test_a_test_event_is_queued_and_a_pause_holds_later_events(
    app: Flask, session: Session, tenant: Tenant
) -> None:
    whose = printed(app, "add", tenant.organization.id, URL)["id"]
    output_of = printed(app, "test", whose)
    delivery = session.scalars(select(WebhookDelivery)).one()
    assert output_of == {"deliveryId": str(delivery.id), "messageId": delivery.message_id}
    words = f"The webhook to {URL} is paused; its events are kept.\n"
    assert run(app, "pause", whose).output == words
    refused = run(app, "test", whose)
    assert (refused.exit_code, refused.output) == (
        1,
        "Error: The webhook is paused. Resume it first.\n",
    )
    assert run(app, "resume", whose).output == f"The webhook to {URL} is resumed.\n"
    assert run(app, "replay", whose).output == "0 deliveries are sent again.\n"
    again = run(app, "replay", whose, "--delivery", delivery.id)
    assert (again.exit_code, again.output) == (1, "Error: This delivery is already in progress.\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", uuid4(), URL], "There is no such organization."),
        (["remove", uuid4()], "There is no such webhook."),
        (["add", uuid4(), URL, "--event", "call.lost"], "'call.lost' is not one of"),
    ],
)
def test_a_missing_webhook_is_reported_in_one_sentence(
    app: Flask, tenant: Tenant, words: list[object], message: str
) -> None:
    result = run(app, *words)
    assert result.exit_code != 0
    assert message in result.output
