"""The secret with which the voice engine of an assistant signs its reports.

It is derived from the installation's voice secret and the assistant's id, so that nothing is stored
and an engine can't report calls of another assistant. Signatures have the form of our own webhooks.
"""

import base64
import hmac
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from app.services.webhooks.signing import PREFIX, signature
from app.validation.texts import whole_number

TOLERANCE_SECONDS = 300
"""Maximum difference of the engine's clock, and time in which a report can be sent again."""
_PURPOSE = b"voice reports of assistant "


def secret_of(voice_secret: str, assistant_id: UUID) -> str:
    """Return the assistant's secret, in the form of https://www.standardwebhooks.com."""
    key = hmac.digest(voice_secret.encode(), _PURPOSE + assistant_id.bytes, "sha256")
    return PREFIX + base64.b64encode(key).decode()


def is_genuine(secret: str, headers: Mapping[str, str], body: str, now: datetime) -> bool:
    """Return whether the three headers hold a fresh signature of the body with the secret."""
    message_id = headers.get("webhook-id", "")
    moment = whole_number(headers.get("webhook-timestamp"), 12)
    if not 0 < len(message_id) <= 200 or not message_id.isprintable() or moment is None:
        return False
    if abs(now.timestamp() - moment) > TOLERANCE_SECONDS:
        return False
    expected = signature(secret, message_id, moment, body).encode()
    signatures = headers.get("webhook-signature", "").encode("utf-8", "replace").split()
    return any(hmac.compare_digest(expected, each) for each in signatures[:10])
