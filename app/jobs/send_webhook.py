"""One attempt to deliver a webhook, as a durable workflow.

The receiver's answer is stored as the result of its own step, so a worker that dies after it does
not send again; one that dies before it sends again with the same id.
"""

from typing import TypedDict
from uuid import UUID

from dbos import DBOS

from app.gateways.webhook_client import WebhookAnswer, post
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage, webhooks_gate
from app.languages import gettext_noop
from app.services.credentials.encryption import SealBroken
from app.services.webhooks import delivering
from app.services.webhooks.delivering import WebhookRequest
from app.telemetry import metrics, tracing
from app.telemetry.context import set_context

SECRET_UNREADABLE = gettext_noop("The secret can't be read any more. Rotate the secret.")


class StoredAnswer(TypedDict):
    """A `WebhookAnswer` as the engine stores it."""

    status: int | None
    excerpt: str
    retry_after: float | None
    seconds: float | None


@DBOS.workflow(name="send_webhook")
@observe_job
def send_webhook(delivery_id: str, attempt_number: int) -> None:
    """Deliver the webhook, or queue the next attempt."""
    with webhooks_gate:
        answer = send_request(delivery_id, attempt_number)
        if answer is not None:
            store_receivers_answer(delivery_id, attempt_number, answer)


@DBOS.step(name="ask_receiver")
def send_request(delivery_id: str, attempt_number: int) -> StoredAnswer | None:
    """Send the message, once; None if there is nothing to send."""
    try:
        message = _begin(delivery_id, attempt_number)
    except SealBroken:
        return StoredAnswer(status=None, excerpt=SECRET_UNREADABLE, retry_after=None, seconds=None)
    if message is None:
        return None
    set_context(message_id=message.headers.get("webhook-id"))
    allow_private = context().settings.webhook_allow_private
    with metrics.timed(metrics.WEBHOOK_SECONDS), tracing.span("webhook", "client"):
        parent = tracing.trace_parent()
        headers = message.headers | ({tracing.HEADER: parent} if parent else {})
        answer = post(message.url, headers, message.body, allow_private=allow_private)
    metrics.WEBHOOKS.labels(_outcome(answer)).inc()
    return StoredAnswer(
        status=answer.status,
        excerpt=answer.excerpt,
        retry_after=answer.retry_after,
        seconds=answer.seconds,
    )


def _outcome(answer: WebhookAnswer) -> str:
    if answer.status is None:
        return "silent"
    return "accepted" if answer.is_accepted else "refused"


@retry_on_database_outage
def _begin(delivery_id: str, attempt_number: int) -> WebhookRequest | None:
    with context().database.transaction() as session:
        return delivering.begin(session, UUID(delivery_id), attempt_number, context().settings)


@DBOS.step(name="keep_receivers_answer")
@retry_on_database_outage
def store_receivers_answer(delivery_id: str, attempt_number: int, answer: StoredAnswer) -> None:
    with context().database.transaction() as session:
        delivering.record_answer(
            session, UUID(delivery_id), attempt_number, WebhookAnswer(**answer), context().settings
        )


@DBOS.workflow(name="send_held_webhooks")
@observe_job
def send_held_webhooks(webhook_id: str) -> None:
    """Queue the deliveries that were held for a webhook."""
    queue_held(webhook_id)


@DBOS.step(name="take_up_held_webhooks")
def queue_held(webhook_id: str) -> None:
    has_more = True
    while has_more:
        has_more = _queue_next_batch(webhook_id)


@retry_on_database_outage
def _queue_next_batch(webhook_id: str) -> bool:
    with context().database.transaction() as session:
        return delivering.queue_next_held(session, UUID(webhook_id))


def queue_overlooked() -> None:
    """Queue the deliveries that are still held for webhooks that have resumed."""
    with context().database.transaction(read_only=True) as session:
        webhook_ids = delivering.resumed_with_held(session)
    for webhook_id in webhook_ids:
        queue_held(str(webhook_id))
