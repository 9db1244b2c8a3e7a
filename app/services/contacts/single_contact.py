"""Add, edit and remove one contact, with the rules and errors of `apply`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.errors import NotFound, Problem, ValidationFailed, check_version, raise_problems
from app.languages import gettext
from app.models import Campaign, Contact
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.contacts import StoredContact
from app.services import audit, campaigns
from app.services.contacts import removed_contacts
from app.services.contacts.apply import apply
from app.services.contacts.queries import get
from app.services.contacts.results import CREATED, IGNORED, UPDATED, BulkResult

_ADDED_AGAIN = "put_back"
"""The verb of the action in the history."""


@dataclass(frozen=True, slots=True)
class ContactFields:
    """The desired state of a contact: blank texts are cleared.

    ``metadata`` holds the keys to write, None removes one; ``external_ids`` likewise, a value for
    each key.
    """

    first_name: str = ""
    last_name: str = ""
    phone: str = ""
    email: str = ""
    status: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    external_ids: Mapping[str, str | None] = field(default_factory=dict)


def version_of(contact: StoredContact) -> int:
    """Return the version that a form shows; it changes with every change of the contact."""
    return int(contact.updated_at.timestamp() * 1_000_000) % 1_000_000_000


def name_of(contact: StoredContact | Contact) -> str:
    """Return a label for the contact: its name, else its number or email address."""
    name = f"{contact.first_name or ''} {contact.last_name or ''}".strip()
    return name or contact.phone or contact.email or str(contact.id)


def add(session: Session, caller: Caller, campaign_id: UUID, fields: ContactFields) -> UUID:
    """Add a contact and return its id. Raises `Forbidden`, `NotFound` and `ValidationFailed` (as
    Area C, ``contact_exists`` and ``status_ended``) and `Conflict` (``archived``)."""
    caller.require(Permission.CONTACTS_WRITE)
    campaign = campaigns.get_for_new_contacts(session, caller, campaign_id)
    items = _to_items(fields, blank="")
    result = apply(session, campaign, items, ContactAction.UPSERT)
    _raise_problems_of(result, items)
    if result.outcomes[0] == UPDATED:
        raise _already_exists()
    if result.outcomes[0] == IGNORED:
        message = gettext("This status ends outreach. Choose another for a new contact.")
        raise ValidationFailed.on("status", "status_ended", message)
    contact_id = UUID(str(result.success[0]["id"]))
    _record_change(
        session, caller, campaign, get(session, caller, campaign.id, contact_id), "added"
    )
    return contact_id


def edit(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    contact_id: UUID,
    fields: ContactFields,
    *,
    expected_version: int | None = None,
) -> StoredContact:
    """Change a contact to the desired state. Raises `Forbidden`, `NotFound`, `ValidationFailed` (as
    Area C) and `Conflict` (``changed_meanwhile``)."""
    campaign, before = _lock_contact(session, caller, campaign_id, contact_id)
    check_version(expected_version, version_of(before), "contact")
    return _change(session, caller, campaign, before, _to_items(fields, blank=None))


def merge_metadata(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    contact_id: UUID,
    metadata: Mapping[str, Any],
) -> StoredContact:
    """Write these keys into the contact's metadata and keep everything else. Raises `Forbidden`,
    `NotFound` and `ValidationFailed` (as Area C)."""
    campaign, before = _lock_contact(session, caller, campaign_id, contact_id)
    item = {"phone": before.phone, "email": before.email, "contactMetadata": dict(metadata)}
    return _change(session, caller, campaign, before, [item])


def _lock_contact(
    session: Session, caller: Caller, campaign_id: UUID, contact_id: UUID
) -> tuple[Campaign, StoredContact]:
    """Return the campaign, locked for changes of its contacts, and the contact as it then is."""
    campaign = _load_campaign(session, caller, campaign_id)
    campaigns.lock(session, campaign)
    return campaign, get(session, caller, campaign.id, contact_id)


def _change(
    session: Session,
    caller: Caller,
    campaign: Campaign,
    before: StoredContact,
    items: Sequence[Mapping[str, Any]],
) -> StoredContact:
    result = apply(session, campaign, items, ContactAction.UPSERT, contact_id=before.id)
    _raise_problems_of(result, items)
    session.expire_all()
    after = get(session, caller, campaign.id, before.id)
    _record_change(session, caller, campaign, after, "updated", before=before)
    return after


def remove(session: Session, caller: Caller, campaign_id: UUID, contact_id: UUID) -> StoredContact:
    """Remove the contact from the campaign and cancel its waiting calls.

    It is kept for a day for the user who removed it (`undo_removal`). Raises `Forbidden` and
    `NotFound`.
    """
    campaign, contact = _lock_contact(session, caller, campaign_id, contact_id)
    item = {"phone": contact.phone, "email": contact.email}
    result = apply(session, campaign, [item], ContactAction.REMOVE, contact_id=contact_id)
    _raise_problems_of(result, [item])
    audit.record(
        session,
        caller,
        action="contact.removed",
        target_type="contact",
        target_id=contact_id,
        partner_id=campaign.partner_id,
        organization_id=campaign.organization_id,
        target=f"one of {campaign.name}",
    )
    removed_contacts.keep(session, caller, campaign.id, contact)
    return contact


def undo_removal(session: Session, caller: Caller, campaign_id: UUID, contact_id: UUID) -> UUID:
    """Add a contact again that the caller removed within a day, and return its new id.

    Raises `Forbidden`, `NotFound` (also after an earlier undo) and `ValidationFailed` if another
    contact has its number, address or id by now.
    """
    campaign = _load_campaign(session, caller, campaign_id)
    removed = removed_contacts.find(session, caller, contact_id, campaign.id)
    if removed is None:
        message = gettext("There is no such contact in the campaign.")
        raise NotFound(message, "contact_not_found")
    items = _to_items(
        ContactFields(
            first_name=removed.first_name or "",
            last_name=removed.last_name or "",
            phone=removed.phone or "",
            email=removed.email or "",
            metadata=removed.contact_metadata,
            external_ids=removed.external_ids,
        ),
        blank="",
    )
    if removed.status:  # a status that ends outreach doesn't prevent the undo
        items.append({"phone": removed.phone, "email": removed.email, "status": removed.status})
    result = apply(session, campaign, items, ContactAction.UPSERT)
    _raise_problems_of(result, items)
    if result.outcomes[0] != CREATED:
        raise _already_exists()
    removed_contacts.forget(session, caller, contact_id)
    new = UUID(str(result.success[0]["id"]))
    _record_change(session, caller, campaign, get(session, caller, campaign.id, new), _ADDED_AGAIN)
    return new


def _already_exists() -> ValidationFailed:
    message = gettext("A contact with this number, address or ID is in the campaign.")
    return ValidationFailed.on("phone", "contact_exists", message)


def _load_campaign(session: Session, caller: Caller, campaign_id: UUID) -> Campaign:
    caller.require(Permission.CONTACTS_WRITE)
    return campaigns.get(session, caller, campaign_id)


def _to_items(fields: ContactFields, *, blank: str | None) -> list[dict[str, Any]]:
    """Return the contact as items of Area C; ``blank`` None clears.

    A contact has one pair at a time, so further external ids are further items of the same contact.
    """
    identifiers: dict[str, Any] = {
        "phone": fields.phone.strip() or blank,
        "email": fields.email.strip() or blank,
    }
    first: dict[str, Any] = {
        **identifiers,
        "firstName": fields.first_name.strip() or blank,
        "lastName": fields.last_name.strip() or blank,
        "status": fields.status.strip() or blank,
        "contactMetadata": dict(fields.metadata),
    }
    pairs = [
        {"externalIdKey": key, "externalIdValue": value}
        for key, value in fields.external_ids.items()
    ]
    items = [first | (pairs[0] if pairs else {})]
    return items + [identifiers | pair for pair in pairs[1:]]


def _raise_problems_of(result: BulkResult, items: Sequence[Mapping[str, Any]]) -> None:
    """Raise `ValidationFailed` with every problem; those of a pair name its key."""
    different: list[Problem] = []
    for index, problems in result.problems.items():
        key = items[index].get("externalIdKey")
        for problem in problems:
            of_pair = key is not None and problem.field.startswith("externalId")
            path = f"externalIds.{key}" if of_pair else problem.field
            each = Problem(path, problem.code, problem.message)
            if each not in different:
                different.append(each)
    raise_problems(different)


def _record_change(
    session: Session,
    caller: Caller,
    campaign: Campaign,
    contact: StoredContact,
    verb: str,
    *,
    before: StoredContact | None = None,
) -> None:
    audit.record(
        session,
        caller,
        action=f"contact.{verb}",
        target_type="contact",
        target_id=contact.id,
        partner_id=campaign.partner_id,
        organization_id=campaign.organization_id,
        target=name_of(contact),
        before=_audit_values(before) if before else {},
        after=_audit_values(contact) if before else {"campaign": campaign.name},
    )
    session.flush()


def _audit_values(contact: StoredContact) -> dict[str, Any]:
    names = {"id", "created_at", "updated_at"}
    return contact.model_dump(mode="json", by_alias=True, exclude=names)
