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
from app.models import AuditEntry, Mail, WebhookDelivery, WebhookEndpoint
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations
from app.services.webhooks import deliveries, delivering, endpoints
from app.services.webhooks.publishing import publish
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant
from tests.services.webhooks.conftest import URL
from tests.services.webhooks.test_endpoints import refusal

COMPLETED = WebhookEvent.CALL_COMPLETED


def add(session: Session, settings: Settings, caller: Caller, url: str = URL) -> WebhookEndpoint:
    every = [event.value for event in WebhookEvent]
    added = endpoints.add(session, caller, settings, organization_id=None, url=url, events=every)
    return added.endpoint


@pytest.fixture
def portal_webhook(session: Session, settings: Settings, admin: Caller) -> WebhookEndpoint:
    return add(session, settings, admin)


def received(session: Session, endpoint: WebhookEndpoint) -> list[dict[str, Any]]:
    query = select(WebhookDelivery.payload).where(WebhookDelivery.endpoint_id == endpoint.id)
    payloads = session.scalars(query.order_by(WebhookDelivery.id))
    return [json.loads(payload)["data"] for payload in payloads]


def test_a_webhook_for_the_whole_portal_has_no_organization_also_in_the_history(
    session: Session, tenant: Tenant, portal_webhook: WebhookEndpoint
) -> None:
    assert (portal_webhook.partner_id, portal_webhook.organization_id) == (tenant.partner.id, None)
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "webhook.created")).one()
    assert (entry.partner_id, entry.organization_id) == (tenant.partner.id, None)


def test_a_webhook_for_the_whole_portal_receives_all_events_of_its_partner_only(
    session: Session, tenant: Tenant, portal_webhook: WebhookEndpoint
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
    session: Session, tenant: Tenant, new_webhook: endpoints.EndpointWithSecret
) -> None:
    publish(session, tenant.partner.id, None, WebhookEvent.ALERT_OPENED, dict)
    assert received(session, new_webhook.endpoint) == []


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
    session: Session, tenant: Tenant, portal_webhook: WebhookEndpoint
) -> None:
    stranger = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    member = tenant.caller(Role.OWNER, frozenset(Permission))
    for caller in (stranger, member):
        for act in (endpoints.get, endpoints.pause, endpoints.remove, deliveries.send_test):
            found = refusal(partial(act, session, caller, portal_webhook.id))
            assert found == (NotFound, "webhook_not_found")
        assert endpoints.listing(session, caller) == []
        assert endpoints.count(session, caller, endpoints.EndpointFilter(of_portal=True)) == 0


def test_the_list_can_show_those_for_the_whole_portal_alone(
    session: Session,
    tenant: Tenant,
    admin: Caller,
    new_webhook: endpoints.EndpointWithSecret,
    portal_webhook: WebhookEndpoint,
) -> None:
    both = endpoints.search(session, admin).items
    assert {each.id for each in both} == {new_webhook.endpoint.id, portal_webhook.id}
    alone = endpoints.search(session, admin, endpoints.EndpointFilter(of_portal=True)).items
    assert [each.id for each in alone] == [portal_webhook.id]
    assert endpoints.organizations_with(session, admin, 10) == {tenant.organization.id}


def test_a_portal_has_a_limited_number_beside_those_of_its_organizations(
    session: Session,
    settings: Settings,
    admin: Caller,
    new_webhook: endpoints.EndpointWithSecret,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endpoints, "MAX_ENDPOINTS", 1)
    add(session, settings, admin)
    assert refusal(lambda: add(session, settings, admin)) == (ValidationFailed, "too_many_webhooks")
    assert new_webhook.endpoint.organization_id is not None
    other_tenant = make_tenant(session, "Southgate").caller(Role.PARTNER_ADMIN)
    add(session, settings, other_tenant)


def test_a_test_event_names_no_organization(
    session: Session, admin: Caller, portal_webhook: WebhookEndpoint
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
    portal_webhook: WebhookEndpoint,
) -> None:
    tenant.partner.notification_email = "ops@northwind.example"
    delivery = deliveries.send_test(session, admin, portal_webhook.id)
    gone = WebhookAnswer(410, "")
    delivering.record_answer(session, delivery.id, delivery.turn, gone, settings)
    mail = session.scalars(select(Mail)).one()
    assert (mail.kind, mail.details["organization"]) == ("webhook_paused", None)


def test_a_webhook_for_the_whole_portal_stays_when_an_organization_is_archived(
    session: Session, tenant: Tenant, admin: Caller, portal_webhook: WebhookEndpoint
) -> None:
    organizations.archive(session, admin, tenant.plus.id)
    assert endpoints.get(session, admin, portal_webhook.id) is portal_webhook
