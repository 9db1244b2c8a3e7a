"""The attempts of a delivery, as they are stored with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.gateways.webhook_client import WebhookAnswer
from app.models import WebhookDelivery

MAX_STORED = 22
"""Maximum attempts that are kept of one delivery: two series of retries."""
MAX_ANSWER_LENGTH = 500

Log = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """``status`` is None without an answer; ``answer`` is the reason then. ``seconds`` is None if
    they weren't measured."""

    number: int
    at: datetime
    status: int | None
    answer: str
    seconds: float | None

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def with_attempt(log: Sequence[dict[str, Any]] | None, at: datetime, answer: WebhookAnswer) -> Log:
    """Return the log with one more attempt, without the excess ones."""
    entry = {
        "at": at.isoformat(),
        "status": answer.status,
        "answer": answer.excerpt[:MAX_ANSWER_LENGTH],
        "seconds": answer.seconds,
    }
    return [*(log or ()), entry][-MAX_STORED:]


def attempts_of(delivery: WebhookDelivery) -> list[DeliveryAttempt]:
    """Return the kept attempts, the latest first. Of a delivery of an earlier version, only the
    last one is known."""
    log = delivery.attempt_log or _log_of_last_attempt(delivery)
    first = delivery.attempts - len(log) + 1
    attempts = [
        DeliveryAttempt(
            number=number,
            at=datetime.fromisoformat(entry["at"]),
            status=entry["status"],
            answer=entry["answer"],
            seconds=entry["seconds"],
        )
        for number, entry in enumerate(log, first)
    ]
    return attempts[::-1]


def _log_of_last_attempt(delivery: WebhookDelivery) -> Log:
    if not delivery.attempts or delivery.last_attempt_at is None:
        return []
    answer = WebhookAnswer(delivery.last_status, delivery.last_answer or "")
    return with_attempt((), delivery.last_attempt_at, answer)
