"""Send one webhook to its receiver (`app.gateways.outside_http`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic

from app.gateways import outside_http
from app.telemetry.scrubbing import scrub

EXCERPT_BYTES = 2000


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """The result of a delivery. ``status`` is None if there was no response; then ``excerpt`` is
    the reason. ``retry_after`` and the duration ``seconds`` are in seconds."""

    status: int | None
    excerpt: str
    retry_after: float | None = None
    seconds: float | None = field(default=None, compare=False)

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def post(url: str, headers: Mapping[str, str], body: str, *, allow_private: bool) -> WebhookAnswer:
    """Post the body as JSON, once. Never raises for errors of the receiver or the network."""
    began = monotonic()
    answer = _send(url, headers, body, allow_private=allow_private)
    return replace(answer, seconds=round(monotonic() - began, 3))


def _send(url: str, headers: Mapping[str, str], body: str, *, allow_private: bool) -> WebhookAnswer:
    all_headers = {
        **headers,
        "content-type": "application/json",
        "user-agent": "partner-portal-webhooks/1",
    }
    try:
        answer = outside_http.send_request(
            "POST",
            url,
            all_headers,
            body.encode(),
            max_bytes=EXCERPT_BYTES,
            allow_private=allow_private,
        )
    except outside_http.NoAnswer as reason:
        return WebhookAnswer(None, str(reason))
    text = (answer.body or b"").decode(errors="replace")  # without a body, the status is the text
    return WebhookAnswer(
        answer.status, _excerpt(text), _retry_after_seconds(answer.headers.get("Retry-After"))
    )


def _excerpt(text: str) -> str:
    """Return the beginning of a response on one line, without keys, tokens and personal data that a
    receiver may echo."""
    printable = "".join(c if c.isprintable() else " " for c in text)
    return scrub(" ".join(printable.split()))[:500]


def _retry_after_seconds(header: str | None) -> float | None:
    """Return the seconds of ``Retry-After``, which is a number or a date (RFC 9110)."""
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return float(header[:9])
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
