"""Webhooks for a whole portal: who may add one, what it receives, and who never sees it."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import Role, WebhookEvent
from app.errors import Forbidden, NotFound, ValidationFailed
from app.gateways.webhook_client import WebhookAnswer
from app.models import AuditEntry, Mail, Webhook, WebhookDelivery
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations, webhooks
from app.services.webhooks import deliveries, delivering, managing
from app.services.webhooks.publishing import publish
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.services.conftest import refusal
from tests.services.webhooks.conftest import URL

COMPLETED = WebhookEvent.CALL_COMPLETED


def add(session: Session, settings: Settings, caller: Caller, url: str = URL) -> Webhook:
    every = [event.value for event in WebhookEvent]
    added = webhooks.add(session, caller, settings, organization_id=None, url=url, events=every)
    return added.webhook


@pytest.fixture
def portal_webhook(session: Session, settings: Settings, admin: Caller) -> Webhook:
    return add(session, settings, admin)


def received(session: Session, webhook: Webhook) -> list[dict[str, Any]]:
    query = select(WebhookDelivery.payload).where(WebhookDelivery.webhook_id == webhook.id)
    payloads = session.scalars(query.order_by(WebhookDelivery.id))
    return [json.loads(payload)["data"] for payload in payloads]


def test_a_webhook_for_the_whole_portal_has_no_organization_also_in_the_history(
    session: Session, tenant: Tenant, portal_webhook: Webhook
) -> None:
    assert (portal_webhook.partner_id, portal_webhook.organization_id) == (tenant.partner.id, None)
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "webhook.created")).one()
    assert (entry.partner_id, entry.organization_id) == (tenant.partner.id, None)


def test_a_webhook_for_the_whole_portal_receives_all_events_of_its_partner_only(
    session: Session, tenant: Tenant, portal_webhook: Webhook
) -> None:
    other_tenant = make_tenant(session, "Southgate")
    for each, whose in (
        (tenant, tenant.organization.id),
        (tenant, tenant.plus.id),
        (tenant, None),
        (other_tenant, other_tenant.organization.id),
        (other_tenant, None),
    ):
        publish(session, each.partner.id, whose, COMPLETED, partial(dict, organizationId=whose))
    assert received(session, portal_webhook) == [
        {"organizationId": str(tenant.organization.id)},
        {"organizationId": str(tenant.plus.id)},
        {"organizationId": None},
    ]


def test_webhooks_of_an_organization_receive_no_events_of_the_portal(
    session: Session, tenant: Tenant, new_webhook: webhooks.WebhookWithSecret
) -> None:
    publish(session, tenant.partner.id, None, WebhookEvent.ALERT_OPENED, dict)
    assert received(session, new_webhook.webhook) == []


def test_only_a_caller_of_the_whole_portal_can_add_one(
    session: Session, settings: Settings, tenant: Tenant
) -> None:
    every = frozenset(Permission)
    member = tenant.caller(Role.OWNER, every)
    limited = replace(tenant.caller(Role.ADMIN, every), is_limited=True)
    for caller in (member, limited):
        found = refusal(partial(add, session, settings, caller))
        assert found == (Forbidden, "not_whole_portal")
    nowhere = refusal(lambda: add(session, settings, OPERATOR))
    assert nowhere == (ValidationFailed, "operator_without_partner")


def test_members_and_other_partners_find_none(
    session: Session, tenant: Tenant, portal_webhook: Webhook
) -> None:
    stranger = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    member = tenant.caller(Role.OWNER, frozenset(Permission))
    for caller in (stranger, member):
        for act in (webhooks.get, webhooks.pause, webhooks.remove, deliveries.send_test):
            found = refusal(partial(act, session, caller, portal_webhook.id))
            assert found == (NotFound, "webhook_not_found")
        assert webhooks.listing(session, caller) == []
        assert webhooks.count(session, caller, webhooks.WebhookFilter(of_portal=True)) == 0


def test_the_list_can_show_those_for_the_whole_portal_alone(
    session: Session,
    tenant: Tenant,
    admin: Caller,
    new_webhook: webhooks.WebhookWithSecret,
    portal_webhook: Webhook,
) -> None:
    both = webhooks.search(session, admin).items
    assert {each.id for each in both} == {new_webhook.webhook.id, portal_webhook.id}
    alone = webhooks.search(session, admin, webhooks.WebhookFilter(of_portal=True)).items
    assert [each.id for each in alone] == [portal_webhook.id]
    assert webhooks.organizations_with(session, admin, 10) == {tenant.organization.id}


def test_a_portal_has_a_limited_number_beside_those_of_its_organizations(
    session: Session,
    settings: Settings,
    admin: Caller,
    new_webhook: webhooks.WebhookWithSecret,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(managing, "MAX_WEBHOOKS", 1)
    add(session, settings, admin)
    assert refusal(lambda: add(session, settings, admin)) == (ValidationFailed, "too_many_webhooks")
    assert new_webhook.webhook.organization_id is not None
    other_tenant = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    add(session, settings, other_tenant)


def test_a_test_event_names_no_organization(
    session: Session, admin: Caller, portal_webhook: Webhook
) -> None:
    deliveries.send_test(session, admin, portal_webhook.id)
    assert received(session, portal_webhook) == [
        {"organizationId": None, "webhookId": str(portal_webhook.id)}
    ]


def test_the_mail_about_its_pause_names_the_whole_portal(
    session: Session,
    settings: Settings,
    tenant: Tenant,
    admin: Caller,
    portal_webhook: Webhook,
) -> None:
    tenant.partner.notification_email = "ops@northwind.example"
    delivery = deliveries.send_test(session, admin, portal_webhook.id)
    gone = WebhookAnswer(410, "")
    delivering.record_answer(session, delivery.id, delivery.attempt_number, gone, settings)
    mail = session.scalars(select(Mail)).one()
    assert (mail.kind, mail.details["organization"]) == ("webhook_paused", None)


def test_a_webhook_for_the_whole_portal_stays_when_an_organization_is_archived(
    session: Session, tenant: Tenant, admin: Caller, portal_webhook: Webhook
) -> None:
    organizations.archive(session, admin, tenant.plus.id)
    assert webhooks.get(session, admin, portal_webhook.id) is portal_webhook
