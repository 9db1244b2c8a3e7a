"""Webhooks: made, given a new secret, paused, removed, and who may do it."""

from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import PauseReason, Role
from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.models import AuditEntry, Webhook, WebhookDelivery
from app.policy.caller import Caller
from app.services import webhooks
from app.services.webhooks import MAX_WEBHOOKS, WebhookWithSecret, deliveries
from tests.fixtures.tenants import Tenant, make_tenant
from tests.services.conftest import refusal
from tests.services.webhooks.conftest import URL


def test_a_webhook_keeps_its_secret_encrypted_and_leaves_its_trace(
    session: Session, tenant: Tenant, new_webhook: WebhookWithSecret
) -> None:
    assert new_webhook.secret.startswith("whsec_")
    stored = session.scalars(select(Webhook)).one()
    assert (stored.organization_id, stored.partner_id, stored.url) == (
        tenant.organization.id,
        tenant.partner.id,
        URL,
    )
    assert new_webhook.secret not in stored.secret
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "webhook.created")).one()
    assert (entry.target, entry.after["url"]) == ("crm.example", URL)
    assert new_webhook.secret not in str(entry.after)


@pytest.mark.parametrize(
    ("url", "events", "code"),
    [
        ("crm.example/hooks", ["call.failed"], "invalid_url"),
        ("ftp://crm.example/", ["call.failed"], "invalid_url"),
        ("https://user:word@crm.example/", ["call.failed"], "invalid_url"),
        ("https://crm.example/#there", ["call.failed"], "invalid_url"),
        ("https://127.0.0.1/", ["call.failed"], "invalid_url"),
        ("https://localhost/", ["call.failed"], "invalid_url"),
        ("https://hooks.localhost:8443/", ["call.failed"], "invalid_url"),
        ("http://169.254.169.254/latest", ["call.failed"], "invalid_url"),
        (URL, [], "event_required"),
        (URL, ["call.failed", "call.lost"], "unknown_event"),
    ],
)
def test_an_invalid_webhook_is_refused(
    session: Session,
    settings: Settings,
    tenant: Tenant,
    admin: Caller,
    url: str,
    events: list[str],
    code: str,
) -> None:
    asked: dict[str, Any] = {
        "organization_id": tenant.organization.id,
        "url": url,
        "events": events,
    }
    found = refusal(lambda: webhooks.add(session, admin, settings, **asked))
    assert found == (ValidationFailed, code)
    assert session.scalars(select(Webhook)).all() == []


def test_in_production_messages_are_encrypted_on_their_way(
    session: Session, settings: Settings, tenant: Tenant, admin: Caller
) -> None:
    real = settings.model_copy(update={"env": "production"})
    asked: dict[str, Any] = {"organization_id": tenant.organization.id, "events": ["call.failed"]}
    plain = "http://crm.example/"
    assert refusal(lambda: webhooks.add(session, admin, real, url=plain, **asked)) == (
        ValidationFailed,
        "invalid_url",
    )


def test_an_organization_has_a_limited_number_of_webhooks(
    session: Session, settings: Settings, tenant: Tenant, admin: Caller
) -> None:
    def add() -> WebhookWithSecret:
        return webhooks.add(
            session,
            admin,
            settings,
            organization_id=tenant.organization.id,
            url=URL,
            events=["call.failed"],
        )

    for _ in range(MAX_WEBHOOKS):
        add()
    assert refusal(add) == (ValidationFailed, "too_many_webhooks")


def test_other_tenants_do_not_find_a_webhook(
    session: Session, settings: Settings, tenant: Tenant, new_webhook: WebhookWithSecret
) -> None:
    stranger = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    absent, theirs = uuid4(), new_webhook.webhook.id
    for webhook_id in (absent, theirs):
        for act in (webhooks.get, webhooks.pause, webhooks.resume, webhooks.remove):
            found = refusal(partial(act, session, stranger, webhook_id))
            assert found == (NotFound, "webhook_not_found")
    assert webhooks.listing(session, stranger) == []
    asked: dict[str, Any] = {
        "organization_id": tenant.organization.id,
        "url": URL,
        "events": ["call.failed"],
    }
    assert refusal(lambda: webhooks.add(session, stranger, settings, **asked)) == (
        NotFound,
        "organization_not_found",
    )


@pytest.mark.parametrize("role", [Role.PARTNER_EDITOR, Role.ADMIN, Role.STANDARD])
def test_other_roles_manage_no_webhooks(
    session: Session, tenant: Tenant, new_webhook: WebhookWithSecret, role: Role
) -> None:
    found = refusal(lambda: webhooks.listing(session, tenant.caller(role)))
    assert found == (Forbidden, "insufficient_scope")


def test_a_second_rotation_waits_for_the_end_of_the_overlap(
    session: Session, settings: Settings, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    whose, day = new_webhook.webhook.id, timedelta(days=1)
    again = webhooks.rotate(session, admin, settings, whose, overlap=day)
    assert again.secret != new_webhook.secret
    with_overlap = refusal(lambda: webhooks.rotate(session, admin, settings, whose, overlap=day))
    assert with_overlap == (Conflict, "still_rotating")
    webhooks.rotate(session, admin, settings, whose)
    assert (new_webhook.webhook.previous_secret, new_webhook.webhook.previous_until) == (
        None,
        None,
    )
    too_long = timedelta(days=8)
    assert refusal(lambda: webhooks.rotate(session, admin, settings, whose, overlap=too_long)) == (
        ValidationFailed,
        "overlap_out_of_range",
    )


def test_pausing_and_resuming_twice_is_no_error(
    session: Session, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    for _ in range(2):
        assert (
            webhooks.pause(session, admin, new_webhook.webhook.id).pause_reason is PauseReason.USER
        )
    assert refusal(lambda: deliveries.send_test(session, admin, new_webhook.webhook.id)) == (
        Conflict,
        "webhook_paused",
    )
    for _ in range(2):
        assert webhooks.resume(session, admin, new_webhook.webhook.id).paused_at is None
    query = select(AuditEntry.action).where(AuditEntry.target_type == "webhook")
    assert session.scalars(query.order_by(AuditEntry.id)).all() == [
        "webhook.created",
        "webhook.paused",
        "webhook.resumed",
    ]


def test_removing_a_webhook_deletes_its_log(
    session: Session, admin: Caller, new_webhook: WebhookWithSecret
) -> None:
    deliveries.send_test(session, admin, new_webhook.webhook.id)
    webhooks.remove(session, admin, new_webhook.webhook.id)
    session.expire_all()
    assert session.scalars(select(Webhook)).all() == []
    assert session.scalars(select(WebhookDelivery)).all() == []
