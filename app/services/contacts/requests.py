"""What Area C asks for: contacts in bulk, and reading them back."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.errors import NotFound, ValidationFailed
from app.models import Campaign, Contact, ContactExternalId, Organization
from app.phone import PhoneError, normalise
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.contacts import BulkContactsInput, ContactFilter, StoredContact
from app.services import audit, campaigns
from app.services.contacts.apply import apply
from app.services.contacts.results import BulkResult

_VERBS = {
    ContactAction.UPSERT: "upserted",
    ContactAction.UPDATE_ONLY: "updated",
    ContactAction.REMOVE: "removed",
}


@dataclass(frozen=True, slots=True)
class ContactPage:
    """Contacts, newest first; ``more``: older ones follow."""

    items: Sequence[StoredContact]
    more: bool


def send(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    sent: BulkContactsInput,
    *,
    dry_run: bool = False,
) -> BulkResult:
    """Applies a request to a campaign; a real one that changes something leaves its trace.

    Raises `Forbidden`, `NotFound` (``campaign_not_found``) and `ValidationFailed`
    (``unknown_external_id_key``, ``identifying_external_id_key``).
    """
    caller.require(Permission.CONTACTS_WRITE)
    campaign = campaigns.get(session, caller, campaign_id)
    root = (sent.external_id_key or "").strip(), (sent.external_id_value or "").strip()
    result = apply(
        session,
        campaign,
        sent.contacts,
        sent.action,
        root if all(root) else None,
        dry_run=dry_run,
    )
    if not dry_run and (result.created or result.updated or result.deleted):
        audit.record(
            session,
            caller,
            action=f"contacts.{_VERBS[sent.action]}",
            target_type="campaign",
            target_id=campaign.id,
            partner_id=campaign.partner_id,
            organization_id=campaign.organization_id,
            target=campaign.name,
            after=result.counts,
        )
        session.flush()
    return result


def get(session: Session, caller: Caller, campaign_id: UUID, contact_id: UUID) -> StoredContact:
    """Raises `NotFound` (``campaign_not_found``, ``contact_not_found``)."""
    campaign = campaigns.get(session, caller, campaign_id)
    query = select(Contact).where(Contact.campaign_id == campaign.id, Contact.id == contact_id)
    contact = session.scalars(query).one_or_none()
    if contact is None:
        message = "There is no such contact in the campaign."
        raise NotFound(message, "contact_not_found")
    return _described(session, [contact])[0]


def page(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    wanted: ContactFilter,
    *,
    before: UUID | None = None,
) -> ContactPage:
    """The campaign's contacts that pass every filter, newest first, before the one named.

    Raises `NotFound` (``campaign_not_found``) and `ValidationFailed` (``invalid_phone``).
    """
    campaign = campaigns.get(session, caller, campaign_id)
    query = select(Contact).where(Contact.campaign_id == campaign.id)
    if wanted.phone is not None:
        query = query.where(Contact.phone.in_(_numbers(session, campaign, wanted.phone)))
    if wanted.email is not None:
        query = query.where(Contact.email_key == wanted.email.lower())
    if wanted.status is not None:
        query = query.where(Contact.status == wanted.status)
    if wanted.external_id_value is not None:
        carriers = select(ContactExternalId.contact_id).where(
            ContactExternalId.campaign_id == campaign.id,
            ContactExternalId.value == wanted.external_id_value.strip(),
        )
        query = query.where(Contact.id.in_(carriers))
    if before is not None:
        query = query.where(Contact.id < before)
    found = session.scalars(query.order_by(Contact.id.desc()).limit(wanted.per_page + 1)).all()
    return ContactPage(
        _described(session, found[: wanted.per_page]), more=len(found) > wanted.per_page
    )


def _numbers(session: Session, campaign: Campaign, sent: str) -> list[str]:
    """The numbers in E.164 that the text can mean: in an address an unescaped + arrives as a
    space. Raises `ValidationFailed` (``invalid_phone``) where it means none."""
    region = session.get_one(Organization, campaign.organization_id).default_region
    readings = [sent, f"+{sent[1:]}"] if sent.startswith(" ") else [sent]
    found, refused = [], []
    for reading in readings:
        try:
            found.append(normalise(reading, region))
        except PhoneError as error:
            refused.append(error.message)
    if not found:
        raise ValidationFailed.on("phone", "invalid_phone", refused[0])
    return found


def _described(session: Session, contacts: Sequence[Contact]) -> list[StoredContact]:
    ids: dict[UUID, dict[str, str]] = {contact.id: {} for contact in contacts}
    query = (
        select(ContactExternalId.contact_id, ContactExternalId.key, ContactExternalId.value)
        .where(ContactExternalId.contact_id.in_(ids))
        .order_by(ContactExternalId.key)
    )
    for contact_id, key, value in session.execute(query):
        ids[contact_id][key] = value
    return [
        StoredContact(
            id=contact.id,
            first_name=contact.first_name,
            last_name=contact.last_name,
            email=contact.email,
            phone=contact.phone,
            contact_metadata=contact.contact_metadata or {},
            status=contact.status,
            external_ids=ids[contact.id],
            created_at=contact.created_at,
            updated_at=contact.updated_at,
        )
        for contact in contacts
    ]
