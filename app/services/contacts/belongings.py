"""What a contact has beside its own fields: it goes when a file removes it, and can come back."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.models import Call, Contact


def note(session: Session, removed: Mapping[str, dict[str, Any]]) -> None:
    """Adds to the states of contacts that are about to go, by their ids, their age, their consent
    and the calls to them."""
    ids = [UUID(contact_id) for contact_id in removed]
    query = select(
        Contact.id,
        Contact.created_at,
        Contact.consent,
        Contact.consent_source,
        Contact.consent_at,
    ).where(Contact.id.in_(ids))
    for contact_id, created_at, consent, source, consent_at in session.execute(query):
        removed[str(contact_id)] |= {
            "createdAt": created_at.isoformat(),
            "consent": consent,
            "consentSource": source,
            "consentAt": consent_at and consent_at.isoformat(),
        }
    calls: dict[UUID, list[str]] = defaultdict(list)
    placed = select(Call.id, Call.contact_id).where(Call.contact_id.in_(ids))
    for call_id, called in session.execute(placed):
        if called is not None:
            calls[called].append(str(call_id))
    for called, theirs in calls.items():
        removed[str(called)]["calls"] = theirs


def give_back(session: Session, returned: Mapping[str, Mapping[str, Any]]) -> None:
    """Undoes `note` for contacts that are in the campaign again."""
    contacts = [
        {
            "id": UUID(contact_id),
            "created_at": datetime.fromisoformat(state["createdAt"]),
            "consent": state["consent"],
            "consent_source": state["consentSource"],
            "consent_at": state["consentAt"] and datetime.fromisoformat(state["consentAt"]),
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
        kept = session.scalars(select(Call.id).where(Call.id.in_(calls))).all()
        if kept:
            session.execute(update(Call), [{"id": i, "contact_id": calls[i]} for i in kept])
