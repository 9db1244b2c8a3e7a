"""Removed contacts, kept for a day for the user who removed them.

Each is stored as the answer to its removal, among the answers to other requests
(`app.services.idempotency`): those are kept as long, and a person is erased from all of them.
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.database import changed_rows
from app.models import IdempotencyRecord, new_id, utcnow
from app.policy.caller import Caller
from app.schemas.contacts import StoredContact
from app.services import idempotency

_OPERATION = "contact.removed"


def keep(session: Session, caller: Caller, campaign_id: UUID, contact: StoredContact) -> None:
    owner_id, key = caller.subject_id or new_id(), str(contact.id)
    slot = idempotency.claim(session, owner_id, _OPERATION, key, {})
    if isinstance(slot, idempotency.IdempotencySlot):
        snapshot = contact.model_dump(mode="json", by_alias=True)
        idempotency.store_answer(session, slot, {"campaign": str(campaign_id), "contact": snapshot})


def find(
    session: Session, caller: Caller, contact_id: UUID, campaign_id: UUID | None = None
) -> StoredContact | None:
    """Return the contact that the caller removed within a day, from this campaign if one is given;
    None if there is none."""
    record = _record(session, caller, contact_id)
    if record is None or record.created_at < utcnow() - idempotency.RETENTION:
        return None
    answer = record.response or {}
    if campaign_id is not None and answer["campaign"] != str(campaign_id):
        return None
    return StoredContact.model_validate(answer["contact"])


def forget(session: Session, caller: Caller, contact_id: UUID) -> None:
    """Delete what is kept of a contact that is in its campaign again."""
    session.delete(_record(session, caller, contact_id))


def erase(session: Session, contact_ids: Iterable[UUID]) -> int:
    """Delete what is kept of the contacts for any user; return of how many."""
    keys = [str(each) for each in contact_ids]
    is_removal = IdempotencyRecord.operation == _OPERATION
    query = delete(IdempotencyRecord).where(is_removal, IdempotencyRecord.key.in_(keys))
    return changed_rows(session, query)


def _record(session: Session, caller: Caller, contact_id: UUID) -> IdempotencyRecord | None:
    return session.get(IdempotencyRecord, (caller.subject_id, _OPERATION, str(contact_id)))
