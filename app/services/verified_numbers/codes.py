"""The codes that verification calls speak.

A code is not stored: it is derived from the call's id and the installation's secret key. Stored and
shown texts have `HIDDEN` in its place.
"""

import hmac
from collections.abc import Sequence
from uuid import UUID

from app.enums import CallSource
from app.models import Call

DIGITS = 6
HIDDEN = "•" * DIGITS


def code_of(call_id: UUID, secret_key: str) -> str:
    """Return the code that the verification call speaks, six digits."""
    message = f"verification-code:{call_id}"
    number = int.from_bytes(hmac.digest(secret_key.encode(), message.encode(), "sha256"))
    return f"{number % 10**DIGITS:0{DIGITS}}"


def matches_code(submitted: str, call_id: UUID, secret_keys: Sequence[str]) -> bool:
    """Return whether it is the code of the call, with the current or the previous secret key."""
    codes = [code_of(call_id, secret_key) for secret_key in secret_keys]
    return any(hmac.compare_digest(submitted.encode(), code.encode()) for code in codes)


def with_code(text: str, call: Call, secret_keys: Sequence[str]) -> str:
    """Return the text for the carrier: with the code, digit by digit, if the call verifies a
    number. Don't store it."""
    if call.source is not CallSource.VERIFICATION or HIDDEN not in text:
        return text
    return text.replace(HIDDEN, ", ".join(code_of(call.id, secret_keys[0])))
