"""Recovery codes: each replaces the second factor once. They are shown when they are made, never
again."""

import hashlib
import secrets
from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from app.models import RecoveryCode, utcnow

COUNT = 10
_LETTERS = "abcdefghjkmnpqrstvwxyz23456789"
"""Letters that don't look alike; 16 of them have 78 bits."""
_GROUPS, _GROUP = 4, 4


def replace(session: Session, user_id: UUID) -> Sequence[str]:
    """Return new codes of the user; the earlier ones end."""
    remove(session, user_id)
    codes = [_new_code() for _ in range(COUNT)]
    session.add_all(RecoveryCode(code_hash=_hash(user_id, code), user_id=user_id) for code in codes)
    session.flush()
    return codes


def redeem(session: Session, user_id: UUID, code: str) -> bool:
    """Return whether it is an unused code of the user, and use it up: of concurrent uses only one
    gets True."""
    used = (
        update(RecoveryCode)
        .where(
            RecoveryCode.code_hash == _hash(user_id, code),
            RecoveryCode.user_id == user_id,
            RecoveryCode.used_at.is_(None),
        )
        .values(used_at=utcnow())
        .returning(RecoveryCode.user_id)
        .execution_options(synchronize_session=False)
    )
    return bool(session.scalars(used).all())


def count_left(session: Session, user_id: UUID) -> int:
    """Return how many codes of the user still work."""
    query = select(func.count()).where(
        RecoveryCode.user_id == user_id, RecoveryCode.used_at.is_(None)
    )
    return session.scalar(query) or 0


def remove(session: Session, user_id: UUID) -> None:
    """End all codes of the user."""
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user_id))


def _new_code() -> str:
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def _hash(user_id: UUID, code: str) -> str:
    letters = "".join(letter for letter in code.lower() if letter.isalnum())
    return hashlib.sha256(f"{user_id} {letters}".encode("utf-8", "replace")).hexdigest()
