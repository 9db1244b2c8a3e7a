"""The saved URL of a webhook: whether its host was found and anything was delivered.

The worker looks up the host after each saving; the history stores the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.gateways.job_queue import enqueue_check
from app.models import AuditEntry, Webhook, WebhookDelivery, new_id
from app.policy.caller import system_caller
from app.services import audit

_CREATED, _UPDATED = "webhook.created", "webhook.updated"
_NOT_FOUND = "webhook.host_not_found"


@dataclass(frozen=True, slots=True)
class SavedAddress:
    """A URL as it was last saved. ``is_first``: it was never changed."""

    saved_at: datetime
    is_first: bool
    is_host_missing: bool = False


def request_check(session: Session, webhook: Webhook) -> None:
    """Queue looking up the host of a saved URL."""
    partner_id = webhook.partner_id
    enqueue_check(session, "check_webhook_host", new_id(), partner_id, str(webhook.id), webhook.url)


def record_missing_host(session: Session, webhook_id: UUID, url: str) -> None:
    """Record that the host of this address wasn't found, unless the address is another one now."""
    webhook = session.get(Webhook, webhook_id)
    if webhook is None or webhook.url != url:
        return
    worker = system_caller("webhooks", partner_id=webhook.partner_id)
    host = urlsplit(url).hostname
    audit.record_change(session, worker, _NOT_FOUND, webhook, after={"host": host})


def untried_address(session: Session, webhook: Webhook) -> SavedAddress | None:
    """Return the address of a loaded webhook if nothing was sent to it yet."""
    address = _saved_addresses(session, [webhook.id]).get(webhook.id)
    return None if address is None or _has_attempts(session, webhook.id, address) else address


def hosts_not_found(session: Session, webhooks: Sequence[Webhook]) -> set[UUID]:
    """Return those of the loaded webhooks whose host wasn't found, without an attempt since."""
    saved = _saved_addresses(session, [webhook.id for webhook in webhooks])
    return {
        webhook_id
        for webhook_id, address in saved.items()
        if address.is_host_missing and not _has_attempts(session, webhook_id, address)
    }


def _saved_addresses(session: Session, ids: Sequence[UUID]) -> dict[UUID, SavedAddress]:
    entries = session.scalars(
        select(AuditEntry)
        .where(AuditEntry.target_type == "webhook", AuditEntry.target_id.in_(map(str, ids)))
        .where(AuditEntry.action.in_((_CREATED, _UPDATED, _NOT_FOUND)))
        .order_by(AuditEntry.id)
    )
    saved: dict[UUID, SavedAddress] = {}
    for entry in entries:
        webhook_id = UUID(entry.target_id)
        if entry.action == _NOT_FOUND:
            if webhook_id in saved:  # old entries of the history are deleted
                saved[webhook_id] = replace(saved[webhook_id], is_host_missing=True)
        elif "url" in entry.after:
            saved[webhook_id] = SavedAddress(entry.at, is_first=entry.action == _CREATED)
    return saved


def _has_attempts(session: Session, webhook_id: UUID, address: SavedAddress) -> bool:
    attempts = select(WebhookDelivery.id).where(
        WebhookDelivery.webhook_id == webhook_id,
        WebhookDelivery.last_attempt_at >= address.saved_at,
    )
    return session.scalar(attempts.limit(1)) is not None
