"""Idempotency-Key: repeating an accepted request returns its stored answer and changes nothing.

The record is written in the transaction of the request itself, so a refused request has none.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.errors import Conflict, ValidationFailed
from app.languages import gettext
from app.models import IdempotencyRecord, utcnow

RETENTION = timedelta(hours=24)
MAX_KEY_LENGTH = 255
KEY_PATTERN = r"^[!-~](?:[ -~]*[!-~])?$"
"""Printable ASCII, because servers see other characters as bytes."""
_KEY = re.compile(KEY_PATTERN)


@dataclass(frozen=True, slots=True)
class IdempotencySlot:
    """A key that the current request uses: it stores the answer once the request is accepted."""

    credential_id: UUID
    operation: str
    key: str
    request_hash: str


def claim(
    session: Session, credential_id: UUID, operation: str, key: str, request: Mapping[str, Any]
) -> IdempotencySlot | dict[str, Any]:
    """Return the stored answer of the same request, or a slot to `store_answer` the new answer in.

    Raises `ValidationFailed` (``invalid_idempotency_key``) and `Conflict` (``idempotency_conflict``
    for another body, ``idempotency_in_progress``).
    """
    _check_key(key)
    slot = IdempotencySlot(credential_id, operation, key, _hash_request(request))
    if session.get_bind().dialect.name == "postgresql":
        # On SQLite writers wait for each other anyway, so no request sees another's partial data.
        name = f"{credential_id}:{operation}:{key}"
        lock = func.pg_try_advisory_xact_lock(func.hashtextextended(name, 0))
        if not session.scalar(select(lock)):
            message = gettext("A request with this Idempotency-Key is still being worked on.")
            raise Conflict(message, "idempotency_in_progress")
    record = session.get(IdempotencyRecord, (credential_id, operation, key), populate_existing=True)
    if record is None:
        return slot
    if record.created_at < utcnow() - RETENTION:
        session.delete(record)
        session.flush()
        return slot
    if record.request_hash != slot.request_hash:
        message = gettext("This Idempotency-Key was used with another request body.")
        raise Conflict(message, "idempotency_conflict")
    return dict(record.response or {})


def store_answer(session: Session, slot: IdempotencySlot, response: Mapping[str, Any]) -> None:
    """Store the answer of an accepted request."""
    session.add(
        IdempotencyRecord(
            credential_id=slot.credential_id,
            operation=slot.operation,
            key=slot.key,
            request_hash=slot.request_hash,
            response=dict(response),
        )
    )
    session.flush()


def purge(session: Session) -> int:
    """Remove the expired records; return how many."""
    deleted = session.execute(
        delete(IdempotencyRecord)
        .where(IdempotencyRecord.created_at < utcnow() - RETENTION)
        .returning(IdempotencyRecord.key)
    )
    return len(deleted.all())


def _check_key(key: str) -> None:
    if len(key) > MAX_KEY_LENGTH or not _KEY.fullmatch(key):
        message = gettext(
            "Idempotency-Key must be 1 to %(longest)s printable ASCII characters.",
            longest=MAX_KEY_LENGTH,
        )
        raise ValidationFailed.on("Idempotency-Key", "invalid_idempotency_key", message)


def _hash_request(request: Mapping[str, Any]) -> str:
    canonical = json.dumps(request, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()
