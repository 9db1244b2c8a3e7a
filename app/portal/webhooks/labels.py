"""Labels of webhooks and their deliveries."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from flask import url_for

from app.enums import DeliveryStatus, PauseReason, WebhookEvent
from app.errors import translate_stored
from app.languages import gettext, lazy_gettext, ngettext, pgettext
from app.languages.dates import NO_BREAK
from app.languages.numbers import localize_number
from app.models import Webhook, WebhookDelivery, utcnow
from app.portal.api_access.labels import CredentialBadge
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.formats import long_datetime, short_datetime
from app.portal.web.user_timezone import zone
from app.portal.webhooks.forms import EVENT_LABELS
from app.services.webhooks.addresses import SavedAddress
from app.services.webhooks.attempts import DeliveryAttempt
from app.services.webhooks.delivering import MAX_ATTEMPTS

STATUS_LABELS: dict[str, str] = {
    DeliveryStatus.WAITING: lazy_gettext("On its way"),
    DeliveryStatus.HELD: lazy_gettext("Held"),
    DeliveryStatus.DELIVERED: lazy_gettext("Delivered"),
    DeliveryStatus.FAILED: lazy_gettext("Failed"),
}
RETRYING = "retrying"
"""The filter value of deliveries on their way that were tried before."""
STATUS_FILTER: dict[str, str] = {
    DeliveryStatus.WAITING: STATUS_LABELS[DeliveryStatus.WAITING],
    RETRYING: lazy_gettext("Retrying"),
    **STATUS_LABELS,
}
"""The values of the log's filter, as the badges of its rows."""
_TONES = {
    DeliveryStatus.WAITING: "info",
    DeliveryStatus.HELD: "neutral",
    DeliveryStatus.DELIVERED: "success",
    DeliveryStatus.FAILED: "danger",
}
_PAUSE_MESSAGES = {
    PauseReason.USER: lazy_gettext("Paused by a user."),
    PauseReason.FAILING: lazy_gettext("The receiver accepted nothing for 24 hours."),
    PauseReason.GONE: lazy_gettext("The receiver answered that it is gone (410)."),
}


_LOOKUP_TIME = timedelta(seconds=10)

SOON = timedelta(minutes=1)
SHOWN_ANSWER = 200
"""Maximum characters of a response in a sentence; its delivery's page shows all that is stored."""


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The arguments of the component of this name."""

    tone: str
    title: str
    text: str


def host_of(webhook: Webhook) -> str:
    return urlsplit(webhook.url).hostname or webhook.url


def owner_of(webhook: Webhook, names: Mapping[UUID, str]) -> str:
    """Return the name of its organization, if it is among the names, or the whole portal."""
    if webhook.organization_id is None:
        return gettext("The whole portal")
    return names.get(webhook.organization_id, "–")


def webhook_status(webhook: Webhook, *, is_host_missing: bool = False) -> CredentialBadge:
    if webhook.paused_at is not None:
        by_itself = webhook.pause_reason is not PauseReason.USER
        return CredentialBadge(gettext("Paused"), "danger" if by_itself else "warning")
    if webhook.failing_since is not None:
        return CredentialBadge(gettext("Retrying"), "warning")
    if is_host_missing:
        return CredentialBadge(gettext("Host not found"), "warning")
    return CredentialBadge(gettext("Active"), "success")


def delivery_status(webhook: Webhook, delivery: WebhookDelivery) -> CredentialBadge:
    status = delivery.status
    if status is DeliveryStatus.WAITING and delivery.retries:
        return CredentialBadge(gettext("Retrying"), "warning")
    if status is DeliveryStatus.HELD and webhook.paused_at is None:
        status = DeliveryStatus.WAITING  # the worker resumes it
    return CredentialBadge(str(STATUS_LABELS[status]), _TONES[status])


def address_news(webhook: Webhook, address: SavedAddress | None) -> DeliveryResult | None:
    """Return what to show about a URL to which nothing was sent yet."""
    if address is None or webhook.paused_at is not None or webhook.failing_since is not None:
        return None
    if address.is_host_missing:
        message = gettext(
            "%(host)s has no public address in the DNS. The webhook is saved; deliveries are "
            "retried for 24 hours. Check the host name.",
            host=host_of(webhook),
        )
        return DeliveryResult("warning", gettext("Host not found"), message)
    if address.is_first:
        return None
    changed_at = long_datetime(address.saved_at, zone())
    message = gettext("Send a test event to check the new address.")
    title = gettext("Address changed on %(moment)s; no delivery yet", moment=changed_at)
    return DeliveryResult("info", title, message)


def is_being_checked(address: SavedAddress | None) -> bool:
    """Return whether the worker may still be looking up the host of a changed URL."""
    if address is None or address.is_first or address.is_host_missing:
        return False
    return utcnow() - address.saved_at < _LOOKUP_TIME


def next_attempt_label(delivery: WebhookDelivery) -> str:
    """Return which attempt is next, and of how many unless the delivery was sent again by hand;
    empty if there is none."""
    if delivery.next_attempt_at is None:
        return ""
    number = delivery.attempts + 1
    if delivery.attempts > delivery.retries:
        return gettext("Attempt %(number)s", number=number)
    return gettext("Attempt %(number)s of %(most)s", number=number, most=MAX_ATTEMPTS)


def delivery_facts(webhook: Webhook, delivery: WebhookDelivery) -> dict[str, Any]:
    """Return the facts about a delivery for its log and its page."""
    return {
        "delivery": delivery,
        "event": EVENT_LABELS.get(delivery.type, gettext("Test event")),
        "status": delivery_status(webhook, delivery),
        "next_attempt": next_attempt_label(delivery),
        "next_at": next_attempt_at(delivery),
        "is_under_way": is_under_way(webhook, delivery),
        "answered": _response_label(delivery),
        "answer": _refusal_text(delivery),
    }


def _response_label(delivery: WebhookDelivery) -> str:
    """Return the status of the last answer, or that there was none; a dash before any attempt."""
    if delivery.last_status:
        return str(delivery.last_status)
    return pgettext("answer", "None") if delivery.attempts else "–"


def _refusal_text(delivery: WebhookDelivery) -> str:
    """Return the text of the last answer if the delivery wasn't accepted."""
    if delivery.status is DeliveryStatus.DELIVERED or not delivery.last_answer:
        return ""
    return delivery.last_answer if delivery.last_status else translate_stored(delivery.last_answer)


def response_message(attempt: DeliveryAttempt) -> str:
    """Return the answer to an attempt, or why there is none; nothing for one that was accepted
    without a text."""
    if not attempt.status:
        return translate_stored(attempt.answer) if attempt.answer else ""
    if attempt.answer or attempt.is_accepted:
        return attempt.answer
    return gettext("The answer has no text.")


def next_attempt_at(delivery: WebhookDelivery) -> str:
    """Return when the next attempt is: in seconds if within a minute, else as a time."""
    if delivery.next_attempt_at is None:
        return short_datetime(None)
    remaining = delivery.next_attempt_at - utcnow()
    if remaining >= SOON:
        return short_datetime(delivery.next_attempt_at, zone())
    seconds = ceil(remaining.total_seconds())
    return gettext("in %(num)s s", num=seconds) if seconds > 0 else gettext("now")


def response_time(seconds: float | None) -> str:
    """Return 240 ms or 1.4 s; an en dash if it wasn't measured."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{localize_number(seconds * 1000, 0)}{NO_BREAK}ms"
    return f"{localize_number(seconds, 1)}{NO_BREAK}s"


def is_under_way(webhook: Webhook, delivery: WebhookDelivery) -> bool:
    """Return whether the delivery is attempted now or within a minute, not at a later retry."""
    if delivery.ended_at is not None or webhook.paused_at is not None:
        return False
    return delivery.next_attempt_at is None or delivery.next_attempt_at <= utcnow() + SOON


def every_event(webhook: Webhook) -> str:
    """All events, or each by its name."""
    if len(webhook.events) == len(WebhookEvent):
        return gettext("All events")
    return ", ".join(str(EVENT_LABELS[event]) for event in webhook.events)


def events_label(webhook: Webhook) -> str:
    """As `every_event`, but their number if there are more than two."""
    if not 2 < len(webhook.events) < len(WebhookEvent):
        return every_event(webhook)
    return ngettext("%(num)s event", "%(num)s events", len(webhook.events))


def formatted_body(delivery: WebhookDelivery) -> str:
    """Return the message formatted for reading; it is sent without line breaks."""
    return json.dumps(json.loads(delivery.payload), indent=2, ensure_ascii=False)


def pause_message(webhook: Webhook, held_count: int, deliveries: Iterable[WebhookDelivery]) -> str:
    """Return why it is paused, with the last refusal of a shown delivery, and how many events are
    held for it; empty if it is not paused."""
    if webhook.pause_reason is None:
        return ""
    held_message = (
        ngettext(
            "%(num)s event kept; resuming delivers kept events.",
            "%(num)s events kept; resuming delivers kept events.",
            held_count,
        )
        if held_count
        else gettext("No events kept yet; resuming delivers kept events.")
    )
    refusal = refusal_message(deliveries) if webhook.pause_reason is not PauseReason.USER else ""
    return " ".join(
        filter(None, (str(_PAUSE_MESSAGES[webhook.pause_reason]), refusal, held_message))
    )


def retry_message(webhook: Webhook, deliveries: Iterable[WebhookDelivery]) -> str:
    """Return the newest response to a shown delivery that is retried, when it was tried, and what
    follows; empty if nothing fails."""
    if webhook.failing_since is None or webhook.paused_at is not None:
        return ""
    retries_note = gettext("Retries continue for 24 hours; then the webhook is paused.")
    refusal = refusal_message(deliveries) or gettext("The receiver didn’t answer.")
    last = _last_refused(deliveries)
    attempted_at = last and last.last_attempt_at
    last_attempt = (
        gettext("Last attempt: %(moment)s.", moment=long_datetime(attempted_at, zone()))
        if attempted_at
        else ""
    )
    return " ".join(filter(None, (refusal, last_attempt, retries_note)))


def health_message(webhook: Webhook, delivered: int) -> str:
    """Return whether deliveries arrive; empty while they fail, which `retry_message` explains."""
    if webhook.failing_since is not None:
        return ""
    return gettext("Delivering normally") if delivered else gettext("Nothing delivered yet")


def _last_refused(deliveries: Iterable[WebhookDelivery]) -> WebhookDelivery | None:
    refused = [
        each for each in deliveries if each.attempts and each.status is not DeliveryStatus.DELIVERED
    ]
    return max(refused, key=lambda each: each.last_attempt_at or each.created_at, default=None)


def refusal_message(deliveries: Iterable[WebhookDelivery]) -> str:
    """Return the receiver's last refusal, with the beginning of its response; empty if it refused
    none of these deliveries."""
    last = _last_refused(deliveries)
    if last is None:
        return ""
    answer = (last.last_answer or "")[:SHOWN_ANSWER]
    if last.last_status is None:
        return gettext("The receiver didn’t answer: %(reason)s.", reason=translate_stored(answer))
    if not answer:
        return gettext("The receiver answered %(status)s.", status=last.last_status)
    return gettext(
        "The receiver answered %(status)s: “%(answer)s”.", status=last.last_status, answer=answer
    )


def _log_message(count: int) -> Iterator[str]:
    if count:
        yield ngettext(
            "Its log of %(num)s delivery is deleted.",
            "Its log of %(num)s deliveries is deleted.",
            count,
        )


def removal_confirmation(
    webhook: Webhook, counts: Mapping[DeliveryStatus, int]
) -> ConfirmationPage:
    undelivered = counts[DeliveryStatus.WAITING] + counts[DeliveryStatus.HELD]
    return ConfirmationPage(
        action=url_for("portal.webhooks.remove_webhook", webhook_id=webhook.id),
        title=gettext("Remove the webhook to %(host)s?", host=host_of(webhook)),
        consequences=[
            ngettext(
                "%(num)s event not delivered yet will be lost.",
                "%(num)s events not delivered yet will be lost.",
                undelivered,
            )
            if undelivered
            else gettext("No events are waiting."),
            *_log_message(sum(counts.values())),
            gettext("This can’t be undone. A new webhook gets a new secret."),
        ],
        action_label=gettext("Remove webhook"),
        keep_label=gettext("Keep webhook"),
        keep_url=url_for("portal.webhooks.show_webhook", webhook_id=webhook.id),
    )
