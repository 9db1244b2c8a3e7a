"""Keep the secrets of accounts encrypted with the current key, and no longer than they
are needed."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import FINAL_CALL_STATUSES
from app.models import CallAttempt, CarrierAccount, utcnow
from app.services.credentials.encryption import resealed

PURPOSE = "carrier-account"
KEPT_SECRET = timedelta(days=1)
"""How long a removed account's secret is kept, or as long as a call is active."""


def maintain_secrets(session: Session, keys: Sequence[str]) -> None:
    """Re-encrypt what the previous key encrypted, and delete the secrets of removed accounts that
    no active call needs."""
    for account in session.scalars(select(CarrierAccount).where(CarrierAccount.secret != "")):
        busy = select(CallAttempt.id).where(
            CallAttempt.account_id == account.id, CallAttempt.status.not_in(FINAL_CALL_STATUSES)
        )
        removed = account.removed_at
        if removed and removed < utcnow() - KEPT_SECRET and not session.scalar(busy.limit(1)):
            account.secret = ""
        else:
            account.secret = resealed(account.secret, PURPOSE, keys)


def find_forgotten(session: Session, ids: Collection[UUID]) -> set[UUID]:
    """Return those of the ids whose account is gone and that no call needs."""
    query = select(CarrierAccount.id).where(CarrierAccount.id.in_(ids), CarrierAccount.secret != "")
    return set(ids) - set(session.scalars(query))
