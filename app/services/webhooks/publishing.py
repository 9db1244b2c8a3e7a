"""Write an event for every webhook that is subscribed to it, in the transaction of its change."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import and_, bindparam, or_, select
from sqlalchemy.orm import Session

from app.database.scope import whole_partner
from app.enums import DeliveryStatus, WebhookEvent
from app.gateways.job_queue import enqueue_webhook
from app.models import Webhook, WebhookDelivery, new_id, utcnow
from app.schemas.fields import write_moment

TEST = "webhook.test"
"""The type of a test event."""

_WEBHOOKS = (
    select(Webhook.id, Webhook.events, Webhook.paused_at)
    .where(
        or_(
            Webhook.organization_id == bindparam("organization"),
            and_(
                Webhook.organization_id.is_(None),
                Webhook.partner_id == bindparam("partner"),
            ),
        )
    )
    .order_by(Webhook.id)
)
"""Webhooks of the organization, and those for the whole portal."""


def publish(
    session: Session,
    partner_id: UUID,
    organization_id: UUID | None,
    event: WebhookEvent,
    data: Callable[[], Mapping[str, Any]],
) -> None:
    """Queue the event of an organization, or of the portal itself (None); costs one read if no
    webhook receives it.

    ``data`` is called at most once. While a webhook is paused, its events are held.
    """
    params = {"partner": partner_id, "organization": organization_id}
    with whole_partner(session):
        webhooks = session.execute(_WEBHOOKS, params).all()
    subscribed = [webhook for webhook in webhooks if event.value in webhook.events]
    if not subscribed:
        return
    event_id, now = new_id(), utcnow()
    payload = serialize_message(event.value, now, data())
    with whole_partner(session):
        for webhook in subscribed:
            is_paused = webhook.paused_at is not None
            add(session, webhook.id, event_id, event.value, payload, now, is_held=is_paused)


def add(
    session: Session,
    webhook_id: UUID,
    event_id: UUID,
    kind: str,
    payload: str,
    at: datetime,
    *,
    is_held: bool = False,
) -> WebhookDelivery:
    """Add one event for one webhook, with its place in the queue unless it is held."""
    delivery = WebhookDelivery(
        id=new_id(),
        webhook_id=webhook_id,
        event_id=event_id,
        type=kind,
        payload=payload,
        status=DeliveryStatus.HELD if is_held else DeliveryStatus.WAITING,
        attempt_number=1,
        created_at=at,
        next_attempt_at=None if is_held else at,
    )
    session.add(delivery)
    session.flush()
    if not is_held:
        enqueue_webhook(session, webhook_id, delivery.id, 1, 0)
    return delivery


def serialize_message(kind: str, at: datetime, data: Mapping[str, Any]) -> str:
    """Return the body of a message, according to Standard Webhooks."""
    body = {"type": kind, "timestamp": at, "data": data}
    return orjson.dumps(
        body, default=_serialize_value, option=orjson.OPT_PASSTHROUGH_DATETIME
    ).decode()


def _serialize_value(value: object) -> str:
    if isinstance(value, datetime):
        return write_moment(value)
    raise TypeError
