"""Keep the secrets of accounts no longer than they are needed."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from sqlalchemy import exists, select, update
from sqlalchemy.orm import Session

from app.enums import FINAL_CALL_STATUSES
from app.models import CallAttempt, CarrierAccount, utcnow

PURPOSE = "carrier-account"
KEPT_SECRET = timedelta(days=1)
"""How long a removed account's secret is kept, or as long as a call is active."""


def delete_unneeded_secrets(session: Session) -> None:
    """Delete the secrets of accounts that were removed a day ago and that no active call needs."""
    is_in_use = exists().where(
        CallAttempt.account_id == CarrierAccount.id, CallAttempt.status.not_in(FINAL_CALL_STATUSES)
    )
    unneeded = update(CarrierAccount).where(
        CarrierAccount.removed_at < utcnow() - KEPT_SECRET, CarrierAccount.secret != "", ~is_in_use
    )
    session.execute(unneeded.values(secret=""))


def find_forgotten(session: Session, ids: Collection[UUID]) -> set[UUID]:
    """Return those of the ids whose account is gone and that no call needs."""
    query = select(CarrierAccount.id).where(CarrierAccount.id.in_(ids), CarrierAccount.secret != "")
    return set(ids) - set(session.scalars(query))
