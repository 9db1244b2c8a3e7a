"""The undo log's data about a contact besides its fields: its age, consent and calls."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.models import Call, Contact
from app.services.contacts import consent
from app.services.contacts.results import UndoStep


def record_removed(session: Session, removed: Mapping[str, dict[str, Any]]) -> None:
    """Add to the states of contacts that will be removed, by their ids, their age, consent and
    calls."""
    ids = [UUID(contact_id) for contact_id in removed]
    query = select(
        Contact.id,
        Contact.created_at,
        Contact.consent,
        Contact.consent_source,
        Contact.consent_at,
    ).where(Contact.id.in_(ids))
    for contact_id, created_at, status, source, consent_at in session.execute(query):
        removed[str(contact_id)] |= {
            "createdAt": created_at.isoformat(),
            "consent": status,
            "consentSource": source,
            "consentAt": consent_at and consent_at.isoformat(),
        }
    calls: dict[UUID, list[str]] = defaultdict(list)
    placed = select(Call.id, Call.contact_id).where(Call.contact_id.in_(ids))
    for call_id, owner_id in session.execute(placed):
        if owner_id is not None:
            calls[owner_id].append(str(call_id))
    for owner_id, call_ids in calls.items():
        removed[str(owner_id)]["calls"] = call_ids


def record_consent(session: Session, changes: Iterable[UndoStep]) -> None:
    """Add the time of consent to the states before changes that change it. Call it before
    writing."""
    first: dict[UUID, dict[str, Any]] = {}
    for change in changes:
        before, after = change.before, change.after
        if before and after and _changes_consent(before["metadata"], after["metadata"]):
            first.setdefault(UUID(change.contact_id), before)
    if first:
        query = select(Contact.id, Contact.consent_at).where(Contact.id.in_(first))
        for contact_id, consent_at in session.execute(query):
            first[contact_id]["consentAt"] = consent_at and consent_at.isoformat()


def restore_removed(session: Session, returned: Mapping[str, Mapping[str, Any]]) -> None:
    """Undo `record_removed` for contacts that are in the campaign again."""
    contacts = [
        {
            "id": UUID(contact_id),
            "created_at": datetime.fromisoformat(state["createdAt"]),
            "consent": state["consent"],
            "consent_source": state["consentSource"],
            "consent_at": _parse_time(state["consentAt"]),
        }
        for contact_id, state in returned.items()
        if "createdAt" in state
    ]
    calls = {
        UUID(call_id): UUID(contact_id)
        for contact_id, state in returned.items()
        for call_id in state.get("calls", ())
    }
    if contacts:
        session.execute(update(Contact), contacts)
    if calls:
        existing = session.scalars(select(Call.id).where(Call.id.in_(calls))).all()
        if existing:
            session.execute(update(Call), [{"id": i, "contact_id": calls[i]} for i in existing])


def restore_consent(session: Session, returned: Mapping[str, str | None]) -> None:
    """Undo `record_consent` for contacts whose consent is the previous one again."""
    rows = [
        {"id": UUID(id_), "consent_at": _parse_time(consent_at)}
        for id_, consent_at in returned.items()
    ]
    if rows:
        session.execute(update(Contact), rows)


def _changes_consent(before: str | None, after: str | None) -> bool:
    return before != after and consent.read_consent(before) != consent.read_consent(after)


def _parse_time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
