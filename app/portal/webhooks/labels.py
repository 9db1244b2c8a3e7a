"""Labels of webhooks and their deliveries."""

import json
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from flask import url_for

from app.enums import DeliveryState, PauseReason, WebhookEvent
from app.models import WebhookDelivery, WebhookEndpoint
from app.portal.api_access.labels import State
from app.portal.web.confirmation import Confirmation
from app.portal.web.formats import plural
from app.portal.webhooks.forms import EVENT_WORDS

STATE_WORDS: dict[str, str] = {
    DeliveryState.WAITING: "On its way",
    DeliveryState.HELD: "Held",
    DeliveryState.DELIVERED: "Delivered",
    DeliveryState.FAILED: "Failed",
}
_TONES = {
    DeliveryState.WAITING: "info",
    DeliveryState.HELD: "neutral",
    DeliveryState.DELIVERED: "success",
    DeliveryState.FAILED: "danger",
}
_PAUSE_WORDS = {
    PauseReason.USER: "Paused by a user.",
    PauseReason.FAILING: "The receiver accepted nothing for 24 hours.",
    PauseReason.GONE: "The receiver answered that it is gone (410).",
}


def host_of(endpoint: WebhookEndpoint) -> str:
    return urlsplit(endpoint.url).hostname or endpoint.url


def endpoint_state(endpoint: WebhookEndpoint) -> State:
    if endpoint.paused_at is not None:
        by_itself = endpoint.pause_reason is not PauseReason.USER
        return State("Paused", "danger" if by_itself else "warning")
    return State("Retrying", "warning") if endpoint.failing_since else State("Active", "success")


def delivery_state(delivery: WebhookDelivery) -> State:
    if delivery.state is DeliveryState.WAITING and delivery.retries:
        return State("Retrying", "warning")
    return State(STATE_WORDS[delivery.state], _TONES[delivery.state])


def every_event(endpoint: WebhookEndpoint) -> str:
    """All events, or each by its name."""
    if len(endpoint.events) == len(WebhookEvent):
        return "All events"
    return ", ".join(EVENT_WORDS[event] for event in endpoint.events)


def events_in_words(endpoint: WebhookEndpoint) -> str:
    """As `every_event`, but their number if there are more than two."""
    some = 2 < len(endpoint.events) < len(WebhookEvent)
    return plural(len(endpoint.events), "event") if some else every_event(endpoint)


def laid_out(delivery: WebhookDelivery) -> str:
    """Return the message formatted for reading; it is sent without line breaks."""
    return json.dumps(json.loads(delivery.payload), indent=2, ensure_ascii=False)


def pause_words(endpoint: WebhookEndpoint, held: int) -> str:
    """Return why it is paused and how much waits for it; empty if it is not paused."""
    if endpoint.pause_reason is None:
        return ""
    kept = f"{plural(held, 'event')} kept" if held else "No events kept yet"
    return f"{_PAUSE_WORDS[endpoint.pause_reason]} {kept}; resuming delivers kept events."


def retry_words(endpoint: WebhookEndpoint, shown: Iterable[WebhookDelivery]) -> str:
    """Return the newest answer of a shown delivery that is retried, and what follows; empty if
    nothing fails."""
    if endpoint.failing_since is None or endpoint.paused_at is not None:
        return ""
    answers = [each.last_status for each in shown if each.retries and not each.ended_at]
    status = next(iter(answers), None)
    problem = f"The receiver answered {status}." if status else "The receiver didn’t answer."
    return f"{problem} Retries continue for 24 hours; then the webhook is paused."


def removing(endpoint: WebhookEndpoint, counts: Mapping[DeliveryState, int]) -> Confirmation:
    left = counts[DeliveryState.WAITING] + counts[DeliveryState.HELD]
    return Confirmation(
        action=url_for("portal.api_webhook_remove", webhook_id=endpoint.id),
        title=f"Remove the webhook to {host_of(endpoint)}?",
        consequences=[
            f"{plural(left, 'event')} not delivered yet will be lost."
            if left
            else "No events are waiting.",
            f"Its log of {plural(sum(counts.values()), 'delivery', 'deliveries')} is deleted.",
            "This can’t be undone. A new webhook gets a new secret.",
        ],
        act="Remove webhook",
        safe="Keep webhook",
        safe_url=url_for("portal.api_webhook", webhook_id=endpoint.id),
    )
