"""The deliveries of a webhook, sending again, and the test event."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session

from app.database import changed_rows
from app.enums import DeliveryStatus
from app.errors import Conflict, NotFound
from app.gateways.job_queue import enqueue_held_webhooks
from app.languages import gettext
from app.models import Organization, Webhook, WebhookDelivery, new_id, utcnow
from app.policy.caller import Caller
from app.services import audit
from app.services.paging import Page, SortOrder, keyset_page
from app.services.tenancy import visible_organizations
from app.services.webhooks import managing
from app.services.webhooks.publishing import TEST, add, serialize_message

_NEWEST = SortOrder(WebhookDelivery.created_at, descending=True)
_ENDED = (DeliveryStatus.DELIVERED, DeliveryStatus.FAILED)


def listing(
    session: Session,
    webhook: Webhook,
    *,
    status: DeliveryStatus | None = None,
    is_retried: bool | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Page[WebhookDelivery]:
    """Return a page of the deliveries of a loaded webhook, newest first. ``is_retried`` keeps
    only those that were retried, or only those that were not.

    Raises `ValidationFailed` (``invalid_cursor``).
    """
    rows = select(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook.id)
    if status is not None:
        rows = rows.where(WebhookDelivery.status == status)
    if is_retried is not None:
        retried = WebhookDelivery.retries > 0
        rows = rows.where(retried if is_retried else ~retried)
    return keyset_page(session, rows, _NEWEST, cursor=cursor, limit=limit)


def counts(session: Session, webhook: Webhook) -> dict[DeliveryStatus, int]:
    """Count the stored deliveries by status; zeros included."""
    query = (
        select(WebhookDelivery.status, func.count())
        .where(WebhookDelivery.webhook_id == webhook.id)
        .group_by(WebhookDelivery.status)
    )
    by_status = dict(session.execute(query).all())
    return {status: by_status.get(status, 0) for status in DeliveryStatus}


def get(session: Session, caller: Caller, webhook_id: UUID, delivery_id: UUID) -> WebhookDelivery:
    """Return a delivery. Raises `Forbidden` and `NotFound` (``webhook_not_found``,
    ``delivery_not_found``)."""
    webhook = managing.get(session, caller, webhook_id)
    # nosemgrep: row-by-id-for-a-caller - the webhook is compared below
    delivery = session.get(WebhookDelivery, delivery_id)
    if delivery is None or delivery.webhook_id != webhook.id:
        message = gettext("There is no such delivery.")
        raise NotFound(message, "delivery_not_found")
    return delivery


def organizations_of(
    session: Session,
    caller: Caller,
    webhook: Webhook,
    deliveries: Iterable[WebhookDelivery],
) -> dict[UUID, str]:
    """Return, by delivery, the name of the organization of its event, for a loaded webhook of the
    whole portal; empty for other webhooks, and for events of the portal itself."""
    if webhook.organization_id is not None:
        return {}
    organization_ids = {delivery.id: _organization_in(delivery.payload) for delivery in deliveries}
    query = visible_organizations(caller).where(
        Organization.id.in_(set(organization_ids.values()) - {None})
    )
    rows = session.execute(query.with_only_columns(Organization.id, Organization.name))
    names = {row.id: row.name for row in rows}
    return {
        key: names[organization_id]
        for key, organization_id in organization_ids.items()
        if organization_id in names
    }


def _organization_in(payload: str) -> UUID | None:
    organization_id = orjson.loads(payload)["data"].get("organizationId")
    return UUID(organization_id) if organization_id else None


def send_test(session: Session, caller: Caller, webhook_id: UUID) -> WebhookDelivery:
    """Send an event without content. Raises `NotFound` and `Conflict` (``webhook_paused``)."""
    webhook = managing.get(session, caller, webhook_id, for_change=True)
    if webhook.paused_at is not None:
        message = gettext("The webhook is paused. Resume it first.")
        raise Conflict(message, "webhook_paused")
    now = utcnow()
    data = {"organizationId": webhook.organization_id, "webhookId": webhook.id}
    delivery = add(session, webhook.id, new_id(), TEST, serialize_message(TEST, now, data), now)
    audit.record_change(session, caller, "webhook.tested", webhook)
    return delivery


def can_be_sent_again(delivery: WebhookDelivery) -> bool:
    """Return whether `send_again` accepts it: it has ended or waits for a retry."""
    return delivery.status in _ENDED or is_retrying(delivery)


def is_retrying(delivery: WebhookDelivery) -> bool:
    """Return whether it failed and waits for another attempt."""
    return delivery.status is DeliveryStatus.WAITING and delivery.retries > 0


def send_again(session: Session, caller: Caller, webhook_id: UUID, delivery_id: UUID) -> None:
    """Send a delivery again, with the same id; if the webhook is paused, once it resumes. One that
    waits for a retry is sent now.

    Raises `NotFound` and `Conflict` (``still_waiting``) if it is still being delivered.
    """
    webhook = managing.get(session, caller, webhook_id, for_change=True)
    delivery = get(session, caller, webhook_id, delivery_id)
    if not can_be_sent_again(delivery):
        message = gettext("This delivery is already in progress.")
        raise Conflict(message, "still_waiting")
    delivery.status, delivery.ended_at = DeliveryStatus.HELD, None
    delivery.next_attempt_at = None
    _enqueue_sent_again(session, caller, webhook, 1)


def send_failed_again(
    session: Session, caller: Caller, webhook_id: UUID, since: datetime | None = None
) -> int:
    """Send all failed deliveries again (of events since then); return how many.

    Raises `NotFound`.
    """
    failed = [WebhookDelivery.status == DeliveryStatus.FAILED]
    if since is not None:
        failed.append(WebhookDelivery.created_at >= since)
    return _send_all_again(session, caller, webhook_id, failed)


def send_retrying_now(session: Session, caller: Caller, webhook_id: UUID) -> int:
    """Send all deliveries that wait for another attempt now; return how many.

    Raises `NotFound`.
    """
    retrying = [WebhookDelivery.status == DeliveryStatus.WAITING, WebhookDelivery.retries > 0]
    return _send_all_again(session, caller, webhook_id, retrying)


def _send_all_again(
    session: Session, caller: Caller, webhook_id: UUID, conditions: Sequence[ColumnElement[bool]]
) -> int:
    webhook = managing.get(session, caller, webhook_id, for_change=True)
    count = changed_rows(
        session,
        update(WebhookDelivery)
        .where(WebhookDelivery.webhook_id == webhook.id, *conditions)
        .values(status=DeliveryStatus.HELD, ended_at=None, next_attempt_at=None),
    )
    if count:
        _enqueue_sent_again(session, caller, webhook, count)
    return count


def _enqueue_sent_again(session: Session, caller: Caller, webhook: Webhook, count: int) -> None:
    if webhook.paused_at is None:
        enqueue_held_webhooks(session, webhook.id, new_id())
    audit.record_change(session, caller, "webhook.replayed", webhook, after={"deliveries": count})
