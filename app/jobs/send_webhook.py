"""One attempt to deliver a webhook, as a durable workflow.

The receiver's answer is kept as the result of its own step, so a worker that dies after it does
not ask again; one that dies before it asks again with the same id.
"""

import logging
from typing import TypedDict
from uuid import UUID

from dbos import DBOS

from app.gateways.webhook_line import Answer, post
from app.jobs.context import context
from app.jobs.resilience import delivering as gate
from app.jobs.resilience import retry_on_database_outage
from app.services.credentials.encryption import SealBroken
from app.services.webhooks import delivering
from app.services.webhooks.delivering import Message

log = logging.getLogger(__name__)


class Kept(TypedDict):
    """An `Answer` as the engine stores it."""

    status: int | None
    excerpt: str
    retry_after: float | None


@DBOS.workflow(name="send_webhook")
def send_webhook(delivery_id: str, turn: int) -> None:
    """Deliver the webhook, or queue the next attempt."""
    with gate:
        answer = ask_receiver(delivery_id, turn)
        if answer is not None:
            keep_receivers_answer(delivery_id, turn, answer)


@DBOS.step(name="ask_receiver")
def ask_receiver(delivery_id: str, turn: int) -> Kept | None:
    """Send the message, once; None if there is nothing to send."""
    try:
        message = _begin(delivery_id, turn)
    except SealBroken:
        words = "the secret can't be read any more; renew it"
        return Kept(status=None, excerpt=words, retry_after=None)
    if message is None:
        return None
    allow_private = context().settings.webhook_allow_private
    answer = post(message.url, message.headers, message.body, allow_private=allow_private)
    return Kept(status=answer.status, excerpt=answer.excerpt, retry_after=answer.retry_after)


@retry_on_database_outage
def _begin(delivery_id: str, turn: int) -> Message | None:
    with context().database.transaction() as session:
        return delivering.begin(session, UUID(delivery_id), turn, context().settings)


@DBOS.step(name="keep_receivers_answer")
@retry_on_database_outage
def keep_receivers_answer(delivery_id: str, turn: int, answer: Kept) -> None:
    with context().database.transaction() as session:
        delivering.settle(session, UUID(delivery_id), turn, Answer(**answer), context().settings)


@DBOS.workflow(name="send_held_webhooks")
def send_held_webhooks(endpoint_id: str) -> None:
    """Queue the deliveries that were held for an endpoint."""
    take_up_held(endpoint_id)


@DBOS.step(name="take_up_held_webhooks")
def take_up_held(endpoint_id: str) -> None:
    while _some(endpoint_id):
        pass


@retry_on_database_outage
def _some(endpoint_id: str) -> bool:
    with context().database.transaction() as session:
        return delivering.take_up_held(session, UUID(endpoint_id))
