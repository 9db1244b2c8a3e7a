"""Data whose time is over is deleted: after the installation's days, or fewer of its partner."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from app.enums import DeliveryStatus, RetentionKind, Role
from app.errors import ValidationFailed
from app.jobs import purging
from app.models import Mail, Partner, Webhook, WebhookDelivery, new_id, utcnow
from app.services import retention
from app.services.partners import retention_policy
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.worker_context import worker_context


@pytest.fixture
def tenants(session: Session) -> tuple[Tenant, Tenant]:
    """Two partners with a mail and a delivery of today and of ten and forty days ago."""
    made = make_tenant(session), make_tenant(session, "Southgate")
    for tenant in made:
        webhook = Webhook(
            partner_id=tenant.partner.id,
            organization_id=tenant.organization.id,
            url="https://crm.example",
            events=[],
            secret="sealed",
            created_by="tests",
        )
        session.add(webhook)
        session.flush()
        for days in (0, 10, 40):
            at = utcnow() - timedelta(days=days)
            session.add(Mail(partner_id=tenant.partner.id, kind="chat_message", created_at=at))
            session.add(
                WebhookDelivery(
                    webhook_id=webhook.id,
                    event_id=new_id(),
                    type="call.completed",
                    payload="{}",
                    status=DeliveryStatus.DELIVERED,
                    created_at=at,
                )
            )
    session.commit()
    return made


@pytest.fixture
def database(fresh_database: Database) -> Database:
    """The worker's tasks have connections of their own."""
    return fresh_database


@pytest.fixture
def context(settings: Settings) -> Iterator[None]:
    with worker_context(settings):
        yield


def ages(session: Session, partner: Partner) -> tuple[list[int], list[int]]:
    mails = select(Mail.created_at).where(Mail.partner_id == partner.id)
    deliveries = (
        select(WebhookDelivery.created_at)
        .join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        .where(Webhook.partner_id == partner.id)
    )
    now = utcnow()
    found = [
        sorted((now - at).days for at in session.scalars(query)) for query in (mails, deliveries)
    ]
    return found[0], found[1]


@pytest.mark.usefixtures("context")
def test_a_partner_keeps_data_for_a_shorter_time(
    session: Session, settings: Settings, tenants: tuple[Tenant, Tenant]
) -> None:
    first, second = tenants
    fewer = {RetentionKind.MAILS: 5, RetentionKind.WEBHOOKS: 5}
    caller = first.caller(Role.PARTNER_ADMIN)
    retention_policy.save(session, caller, first.partner.id, fewer, settings)
    session.commit()
    purging.purge_outbox()
    purging.purge_deliveries()
    session.expire_all()
    assert ages(session, first.partner) == ([0], [0])
    assert ages(session, second.partner) == ([0, 10], [0, 10])
    removed = {kind: run.removed for kind, run in retention.runs(session).items()}
    assert removed == {"mails": 3, "webhooks": 3}


@pytest.mark.parametrize(
    ("kind", "days"),
    [(RetentionKind.MAILS, 31), (RetentionKind.MAILS, 0), (RetentionKind.UPLOADS, 6)],
)
def test_a_time_can_be_no_longer_and_an_undo_needs_its_days(
    session: Session,
    settings: Settings,
    tenants: tuple[Tenant, Tenant],
    kind: RetentionKind,
    days: int,
) -> None:
    first, _second = tenants
    caller = first.caller(Role.PARTNER_ADMIN)
    with pytest.raises(ValidationFailed) as refused:
        retention_policy.save(session, caller, first.partner.id, {kind: days}, settings)
    assert [(each.field, each.code) for each in refused.value.problems] == [
        (kind.value, "out_of_range")
    ]
