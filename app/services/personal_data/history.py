"""Removing an erased person from the history."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session

from app.enums import SubjectKind
from app.models import AuditEntry
from app.services.audit import redaction
from app.services.personal_data.subjects import DataSubject
from app.services.personal_data.sweep import BATCH_SIZE, cut_to_length

ABOUT_USERS = frozenset(
    {"email", "name", "idpUid", "givenName", "familyName", "externalId", "subject", "device"}
)
"""Fields of entries about a user that identify the user."""


def redact_next(
    session: Session,
    subject: DataSubject,
    pseudonym: str,
    after: UUID | None,
    *,
    of_partner: bool = True,
) -> tuple[int, UUID | None]:
    """Redact the next entries about the person; return how many, and the id of the last entry that
    was read, None at the end. Without ``of_partner`` those that belong to no partner."""
    query = select(AuditEntry).where(
        _scope_condition(subject, of_partner=of_partner), _names_subject(subject)
    )
    if after is not None:
        query = query.where(AuditEntry.id > after)
    entries = session.scalars(query.order_by(AuditEntry.id).limit(BATCH_SIZE)).all()
    changed = []
    for entry in entries:
        values = _redact(entry, subject, pseudonym)
        if values:
            changed.append((entry, values))
    if changed:
        redaction.redact(session, subject.partner_id if of_partner else None, changed)
    return len(changed), entries[-1].id if len(entries) == BATCH_SIZE else None


def _scope_condition(subject: DataSubject, *, of_partner: bool) -> ColumnElement[bool]:
    if not of_partner:
        return AuditEntry.partner_id.is_(None)
    is_of_partner = AuditEntry.partner_id == subject.partner_id
    if subject.organization_id is None:
        return is_of_partner
    organization = AuditEntry.organization_id
    return and_(is_of_partner, or_(organization == subject.organization_id, organization.is_(None)))


def _names_subject(subject: DataSubject) -> ColumnElement[bool]:
    texts = (AuditEntry.actor, AuditEntry.target_id, AuditEntry.target)
    conditions = [subject.search_terms.match_columns(*texts, AuditEntry.before, AuditEntry.after)]
    if subject.kind is SubjectKind.USER:
        conditions.append(AuditEntry.actor_id == subject.subject_id)
        conditions.append(_is_target("user", [subject.subject_id]))
    else:
        conditions.append(_is_target("contact", [subject.subject_id, *subject.contacts]))
    return or_(*conditions)


def _is_target(kind: str, ids: list[UUID]) -> ColumnElement[bool]:
    target_ids = [str(each) for each in ids]
    return and_(AuditEntry.target_type == kind, AuditEntry.target_id.in_(target_ids))


def _redact(entry: AuditEntry, subject: DataSubject, pseudonym: str) -> dict[str, Any]:
    """Return the changed values; empty if the entry doesn't name the person any more."""
    kind = "user" if subject.kind is SubjectKind.USER else "contact"
    ids = {str(each) for each in (subject.subject_id, *subject.contacts)}
    is_about = entry.target_type == kind and entry.target_id in ids
    values: dict[str, Any] = {}
    for name in redaction.CHANGEABLE:
        old = getattr(entry, name)
        new = cut_to_length(
            subject.search_terms.replace_in(old, pseudonym), AuditEntry.__table__.c[name]
        )
        if name in ("before", "after") and is_about:
            new = {
                field: pseudonym if value and (kind == "contact" or field in ABOUT_USERS) else value
                for field, value in (new or {}).items()
            }
        elif name == "target" and is_about and kind == "contact" and old:
            new = pseudonym
        elif name == "ip" and kind == "user" and entry.actor_id == subject.subject_id:
            new = None
        if new != old:
            values[name] = new
    return values
