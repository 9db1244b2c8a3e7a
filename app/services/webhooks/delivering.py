"""One delivery attempt of the worker, recorded before and after the request.

A worker that dies in between sends again with the same id: at least once, never zero times.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import Settings
from app.enums import DeliveryStatus, PauseReason
from app.gateways.job_queue import enqueue_webhook
from app.gateways.webhook_client import WebhookAnswer
from app.models import MailKind, Organization, Partner, Webhook, WebhookDelivery, utcnow
from app.policy.caller import system_caller
from app.services import audit, mail_queue
from app.services.credentials.encryption import unseal
from app.services.webhooks.attempts import with_attempt
from app.services.webhooks.signing import PURPOSE, headers

GAPS_SECONDS = (5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 30600)
"""Seconds between attempts: 24 hours and 12 minutes in total, plus up to a tenth."""
MAX_ATTEMPTS = len(GAPS_SECONDS) + 1
"""Maximum attempts of one series: an event, or one that is sent again."""
JITTER = 0.1
MAX_WAIT_SECONDS = 86400.0
"""The longest ``Retry-After`` that is respected."""
PAUSED_AFTER = timedelta(hours=24)
BATCH_SIZE = 200
_GONE = 410


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    url: str
    headers: dict[str, str]
    body: str


def begin(
    session: Session, delivery_id: UUID, attempt_number: int, settings: Settings
) -> WebhookRequest | None:
    """Return what to send now; None if it is no longer to be sent, or not now.

    Raises `SealBroken` if the webhook's secret can't be read.
    """
    webhook, delivery = _lock_delivery(session, delivery_id)
    if webhook is None or delivery is None or not _is_latest_attempt(delivery, attempt_number):
        return None
    if webhook.paused_at is not None:
        _hold(delivery)
        session.flush()
        return None
    _delete_ended_secret(webhook)
    secrets = _signing_secrets(webhook, settings)
    return WebhookRequest(
        url=webhook.url,
        headers=headers(secrets, delivery.message_id, int(utcnow().timestamp()), delivery.payload),
        body=delivery.payload,
    )


def record_answer(
    session: Session,
    delivery_id: UUID,
    attempt_number: int,
    answer: WebhookAnswer,
    settings: Settings,
) -> None:
    """Store the receiver's answer, and queue the next attempt unless it accepted."""
    webhook, delivery = _lock_delivery(session, delivery_id)
    if webhook is None or delivery is None or not _is_latest_attempt(delivery, attempt_number):
        return
    now = utcnow()
    delivery.attempts += 1
    delivery.retries += 1
    delivery.last_attempt_at, delivery.next_attempt_at = now, None
    delivery.last_status, delivery.last_answer = answer.status, answer.excerpt[:500] or None
    delivery.attempt_log = with_attempt(delivery.attempt_log, now, answer)
    if answer.is_accepted:
        delivery.status, delivery.ended_at = DeliveryStatus.DELIVERED, now
        webhook.failing_since = None
        session.flush()
        return
    webhook.failing_since = webhook.failing_since or now
    is_last = delivery.retries >= MAX_ATTEMPTS
    if is_last:
        delivery.status, delivery.ended_at = DeliveryStatus.FAILED, now
    if webhook.paused_at is None:
        if answer.status == _GONE:
            _pause_webhook(session, webhook, PauseReason.GONE)
        elif now - webhook.failing_since >= PAUSED_AFTER * settings.webhook_pace:
            _pause_webhook(session, webhook, PauseReason.FAILING)
    if not is_last:
        if webhook.paused_at is not None:
            _hold(delivery)
        else:
            _enqueue_attempt(
                session, delivery, _seconds_to_next(delivery.retries, answer, settings.webhook_pace)
            )
    session.flush()


def resumed_with_held(session: Session) -> Sequence[UUID]:
    """Return the webhooks that aren't paused but hold deliveries: an event that was published while
    one was paused can be committed after it resumed."""
    held = (
        select(WebhookDelivery.id)
        .where(WebhookDelivery.webhook_id == Webhook.id)
        .where(WebhookDelivery.status == DeliveryStatus.HELD)
    )
    query = select(Webhook.id).where(Webhook.paused_at.is_(None), held.exists())
    return session.scalars(query.order_by(Webhook.id)).all()


def queue_next_held(session: Session, webhook_id: UUID) -> bool:
    """Queue the next held deliveries of a webhook, the oldest first; False after the last."""
    webhook = _lock_webhook(session, webhook_id)
    if webhook is None or webhook.paused_at is not None:
        return False
    held = session.scalars(
        select(WebhookDelivery)
        .where(WebhookDelivery.webhook_id == webhook_id)
        .where(WebhookDelivery.status == DeliveryStatus.HELD)
        .order_by(WebhookDelivery.id)
        .limit(BATCH_SIZE)
        .with_for_update()
    ).all()
    for delivery in held:
        delivery.retries = 0
        _enqueue_attempt(session, delivery, 0)
    session.flush()
    return len(held) == BATCH_SIZE


def _lock_delivery(
    session: Session, delivery_id: UUID
) -> tuple[Webhook | None, WebhookDelivery | None]:
    """Return the webhook and then the delivery as they are now, locked until the
    transaction ends."""
    webhook_query = select(WebhookDelivery.webhook_id).where(WebhookDelivery.id == delivery_id)
    webhook_id = session.scalar(webhook_query)
    webhook = _lock_webhook(session, webhook_id) if webhook_id else None
    delivery = session.get(
        WebhookDelivery, delivery_id, with_for_update=True, populate_existing=True
    )
    return webhook, delivery


def _lock_webhook(session: Session, webhook_id: UUID) -> Webhook | None:
    lock = {"key_share": True}  # new deliveries may refer to it meanwhile
    return session.get(Webhook, webhook_id, with_for_update=lock, populate_existing=True)


def _is_latest_attempt(delivery: WebhookDelivery, attempt_number: int) -> bool:
    return delivery.status is DeliveryStatus.WAITING and delivery.attempt_number == attempt_number


def _delete_ended_secret(webhook: Webhook) -> None:
    """Delete the previous secret when its overlap has ended."""
    if webhook.previous_until is not None and webhook.previous_until <= utcnow():
        webhook.previous_secret = webhook.previous_until = None


def _signing_secrets(webhook: Webhook, settings: Settings) -> list[str]:
    secrets, keys = (webhook.secret, webhook.previous_secret), settings.secret_keys
    return [unseal(secret, PURPOSE, keys).text for secret in secrets if secret is not None]


def _hold(delivery: WebhookDelivery) -> None:
    delivery.status, delivery.next_attempt_at = DeliveryStatus.HELD, None


def _enqueue_attempt(session: Session, delivery: WebhookDelivery, seconds: float) -> None:
    delivery.status, delivery.ended_at = DeliveryStatus.WAITING, None
    delivery.attempt_number += 1
    delivery.next_attempt_at = utcnow() + timedelta(seconds=seconds)
    enqueue_webhook(session, delivery.webhook_id, delivery.id, delivery.attempt_number, seconds)


def _seconds_to_next(retries: int, answer: WebhookAnswer, pace: float) -> float:
    planned = GAPS_SECONDS[retries - 1] * pace * (1 + JITTER * random.random())  # noqa: S311 - spreads load, protects nothing
    requested = answer.retry_after or 0.0
    return max(planned, min(requested, MAX_WAIT_SECONDS))


def _pause_webhook(session: Session, webhook: Webhook, reason: PauseReason) -> None:
    """Pause automatically, with a history entry and a mail to the partner."""
    webhook.paused_at, webhook.pause_reason = utcnow(), reason
    worker = system_caller("webhooks", partner_id=webhook.partner_id)
    audit.record_change(session, worker, "webhook.paused", webhook, after={"reason": reason})
    partner = session.get_one(Partner, webhook.partner_id)
    to = partner.notification_email or partner.support_email
    if to is None:
        return
    organization_id = webhook.organization_id
    organization = session.get_one(Organization, organization_id) if organization_id else None
    mail_queue.enqueue(
        session,
        MailKind.WEBHOOK_PAUSED,
        partner_id=partner.id,
        to=to,
        details={
            "webhookId": str(webhook.id),
            "host": urlsplit(webhook.url).hostname,
            "organization": organization.name if organization else None,
            "reason": reason.value,
        },
    )
