"""Signatures of messages by https://www.standardwebhooks.com (specification 1.0)."""

import base64
import hmac
import secrets
from collections.abc import Iterable

PREFIX = "whsec_"
SECRET_BYTES = 32
PURPOSE = "webhook secrets"
"""The purpose under which stored secrets are encrypted."""


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: str) -> str:
    """Return ``v1,`` and the HMAC-SHA256 of id, timestamp and body as sent."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{message_id}.{timestamp}.{body}".encode()
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def headers(
    signing_secrets: Iterable[str], message_id: str, timestamp: int, body: str
) -> dict[str, str]:
    """Return the three headers of a message, with a signature by each of the secrets."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(
            signature(secret, message_id, timestamp, body) for secret in signing_secrets
        ),
    }
