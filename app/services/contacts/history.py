"""The history of a contact: its calls, and the uploads that changed it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, exists, func, select, union_all
from sqlalchemy.orm import Session, aliased

from app.models import Call, Campaign, Contact, ContactImport, DoNotCallEntry, ImportChange
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.contacts import StoredContact
from app.services.calls import queries
from app.services.calls.states import WAITING


@dataclass(frozen=True, slots=True)
class ContactUpload:
    """An upload that created, updated or removed the contact, and its row."""

    upload_id: UUID
    file_name: str
    row_number: int
    action: str
    at: datetime


def listed_and_last_calls(
    session: Session, caller: Caller, contact_ids: Collection[UUID]
) -> dict[UUID, tuple[bool, Call | None]]:
    """Return whether the number of each of these contacts, which came from a loader, is on the
    do-not-call list, and the newest call to it if the caller may read calls: one query."""
    if not contact_ids:
        return {}
    is_listed = exists().where(
        DoNotCallEntry.organization_id == Contact.organization_id,
        DoNotCallEntry.phone == Contact.phone,
    )
    rows = select(Contact.id, is_listed).where(Contact.id.in_(contact_ids))
    if not caller.may(Permission.CALLS_READ):
        return {contact_id: (bool(on_list), None) for contact_id, on_list in session.execute(rows)}
    last_call = aliased(Call, _last_calls(caller, contact_ids).subquery())
    joined = rows.add_columns(last_call).outerjoin(last_call, last_call.contact_id == Contact.id)
    last_calls = session.execute(joined)
    return {contact_id: (bool(on_list), call) for contact_id, on_list, call in last_calls}


def _last_calls(caller: Caller, contact_ids: Collection[UUID]) -> Select[Call]:
    """Return the query of the newest call to each of these contacts that was called."""
    rank = func.row_number().over(partition_by=Call.contact_id, order_by=Call.id.desc())
    ranked = select(Call.id, rank.label("rank")).where(Call.contact_id.in_(contact_ids))
    each = ranked.subquery()
    newest = select(each.c.id).where(each.c.rank == 1)
    return queries.visible(caller).where(Call.id.in_(newest))


def calls_to(
    session: Session, caller: Caller, campaign: Campaign, contact: StoredContact, limit: int
) -> Sequence[Call]:
    """Return the newest calls of the organization to the contact or its number."""
    # Two queries, because for an "or" the databases scan all calls of a partner.
    to_contact = select(Call.id).where(Call.contact_id == contact.id)
    to_number = select(Call.id).where(
        Call.organization_id == campaign.organization_id, Call.phone_number == contact.phone
    )
    call_ids = union_all(to_contact, to_number) if contact.phone else to_contact
    query = queries.visible(caller).where(
        Call.organization_id == campaign.organization_id, Call.id.in_(call_ids)
    )
    return session.scalars(query.order_by(Call.id.desc()).limit(limit)).all()


def waiting_calls(session: Session, contact_id: UUID) -> int:
    """Return how many calls would be cancelled if the contact were removed."""
    query = select(func.count()).where(Call.contact_id == contact_id, Call.status.in_(WAITING))
    return session.scalar(query) or 0


def uploads_of(session: Session, contact: StoredContact, limit: int) -> list[ContactUpload]:
    """Return the newest uploads that changed a contact that came from its loader."""
    query = (
        select(
            ContactImport.id,
            ContactImport.file_name,
            ImportChange.row_number,
            ImportChange.action,
            ContactImport.created_at,
        )
        .join(ContactImport, ContactImport.id == ImportChange.import_id)
        .where(ImportChange.contact_id == contact.id)
        .order_by(ContactImport.id.desc(), ImportChange.row_number.desc())
        .limit(limit)
    )
    return [ContactUpload(*row) for row in session.execute(query)]
