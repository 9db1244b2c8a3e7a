"""The last use of keys and clients: recorded once a minute, after the request.

The process remembers recently recorded credentials, so that a read stays a read.
"""

import time
from collections import OrderedDict
from datetime import timedelta
from threading import Lock
from typing import ClassVar
from uuid import UUID

from sqlalchemy import or_, update
from sqlalchemy.orm import Session

from app.enums import CallerKind
from app.models import ApiKey, OAuthClient, ScimToken, utcnow
from app.policy.caller import Caller

EVERY = timedelta(minutes=1)
MAX_REMEMBERED = 20_000

_KINDS: dict[CallerKind, type[ApiKey] | type[OAuthClient] | type[ScimToken]] = {
    CallerKind.API_KEY: ApiKey,
    CallerKind.CLIENT: OAuthClient,
    CallerKind.LEGACY_CLIENT: OAuthClient,
    CallerKind.DIRECTORY: ScimToken,
}


class _LastUses:
    """Credential -> when this process last recorded its use (seconds of the monotonic clock)."""

    lock = Lock()
    at: ClassVar[OrderedDict[UUID, float]] = OrderedDict()


def due(caller: Caller) -> bool:
    """Return whether to open a transaction for `touch`: true once a minute for each credential."""
    if caller.kind not in _KINDS or caller.subject_id is None:
        return False
    now = time.monotonic()
    with _LastUses.lock:
        if now - _LastUses.at.get(caller.subject_id, -60.0) < EVERY.total_seconds():
            return False
        _LastUses.at[caller.subject_id] = now
        _LastUses.at.move_to_end(caller.subject_id)
        if len(_LastUses.at) > MAX_REMEMBERED:
            _LastUses.at.popitem(last=False)
    return True


def touch(session: Session, caller: Caller) -> None:
    """Record the use, unless another process has within the minute."""
    model = _KINDS[caller.kind]
    now = utcnow()
    session.execute(
        update(model)
        .where(
            model.id == caller.subject_id,
            or_(model.last_used_at.is_(None), model.last_used_at <= now - EVERY),
        )
        .values(last_used_at=now)
    )
