"""`apply`: the only way to add, change and remove contacts of a campaign in bulk."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import ContactAction, WebhookEvent
from app.errors import ValidationFailed
from app.languages import gettext
from app.models import Campaign, Contact, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.contacts import BulkContactsInput
from app.services import audit, campaigns, do_not_call
from app.services.calls.cancel import cancel_for_contacts
from app.services.contacts import consent, undo_log
from app.services.contacts.contact_index import ContactIndex, CurrentContact, ExternalIdRow, HeldId
from app.services.contacts.incoming import ContactReader, ExternalId, IncomingContact, unknown_key
from app.services.contacts.plan import ChangePlan
from app.services.contacts.results import BulkResult
from app.services.contacts.rules import ContactRules, load_rules
from app.services.contacts.store import ContactSource, ContactStore, open_store
from app.services.webhooks.publishing import publish

IDS_IN_AN_EVENT = 500
"""Maximum ids in one event; more contacts make more events."""
_VERBS = {
    ContactAction.UPSERT: "upserted",
    ContactAction.UPDATE_ONLY: "updated",
    ContactAction.REMOVE: "removed",
}


def apply(
    session: Session,
    campaign: Campaign,
    contacts: Sequence[Any],
    action: ContactAction,
    root_external_id: tuple[str, str] | None = None,
    *,
    dry_run: bool = False,
    row_numbers: Sequence[int] | None = None,
    collect_changes: bool = False,
    contact_id: UUID | None = None,
) -> BulkResult:
    """Apply decoded JSON items in the order sent, and return a result for each.

    ``campaign`` was loaded for the caller. It is locked until the transaction ends, so that
    concurrent requests with the same contacts find each other's. ``dry_run`` returns the same and
    writes nothing. ``row_numbers`` replace the indexes for contacts of a file (whose chunks are one
    request, so that no contact is ever alone in it). ``collect_changes`` fills the result's undo
    log. ``contact_id`` names the contact of every item, whatever its identifiers are. The number of
    statements doesn't grow with the contacts (on SQLite: one for every 500 written). Raises
    `ValidationFailed` for a root key that is undefined (``unknown_external_id_key``), or that
    identifies a contact although several are sent (``identifying_external_id_key``).
    """
    session.flush()
    rules = load_rules(session, campaign)
    root = _root_external_id(
        root_external_id, rules, alone=len(contacts) == 1 and row_numbers is None
    )
    from_file = row_numbers is not None
    reader = ContactReader(
        rules, root, removing=action is ContactAction.REMOVE, from_file=from_file
    )
    readings = [reader.read(item) for item in contacts]
    if not dry_run:
        campaigns.lock(session, campaign)
    store = open_store(session.connection(), rules)
    accepted = [reading for reading in readings if isinstance(reading, IncomingContact)]
    target_id = str(contact_id) if contact_id is not None else None
    index = load(store, accepted, every_id=collect_changes, target_id=target_id)
    if any(reading.sent_read_only for reading in accepted):
        _load_times(session, index)
    plan = ChangePlan(
        index,
        rules,
        action,
        refused_phones=refused_phones(session, rules, action, accepted),
        row_numbers=row_numbers,
        collect_changes=collect_changes,
        contact_id=target_id,
    )
    for item, reading in zip(contacts, readings, strict=True):
        plan.add(item, reading)
    if not dry_run:
        plan.number_created()
    result = plan.result(contacts)
    if not dry_run:
        if collect_changes:
            undo_log.record_removed(session, plan.states_of_removed)
            undo_log.record_consent(session, result.changes)
        write(session, campaign, store, plan.index)
    return result


def _root_external_id(
    pair: tuple[str, str] | None, rules: ContactRules, *, alone: bool
) -> ExternalId | None:
    if pair is None:
        return None
    key, value = pair
    if key not in rules.keys:
        raise ValidationFailed.of(unknown_key(key, rules.keys))
    if rules.keys[key] and not alone:
        message = gettext(
            '"%(key)s" identifies one contact, and several were sent: '
            "send externalIdKey and externalIdValue with each contact.",
            key=key,
        )
        raise ValidationFailed.on("externalIdKey", "identifying_external_id_key", message)
    return ExternalId(key, value)


def load(
    store: ContactSource,
    accepted: Sequence[IncomingContact],
    *,
    every_id: bool,
    target_id: str | None = None,
) -> ContactIndex:
    """Return the stored contacts that the request may affect."""
    if store.is_empty():
        return ContactIndex(())
    phones = {incoming.phone for incoming in accepted if incoming.phone}
    emails = {incoming.email_key for incoming in accepted if incoming.email_key}
    identities = {incoming.identity for incoming in accepted if incoming.identity}
    identities.update(chain.from_iterable(incoming.further_identities for incoming in accepted))
    stored_contacts: list[CurrentContact] = (
        store.find_by_id([target_id]) if target_id is not None else []
    )
    if phones:
        stored_contacts += store.find_by_phone(list(phones))
    emails.difference_update([stored.email_key for stored in stored_contacts])
    if emails:
        stored_contacts += store.find_by_email(list(emails))
    if identities:
        stored_contacts += store.find_identified(list(identities))
    loaded = {stored.id or "": stored for stored in stored_contacts}
    if loaded and (every_id or any(map(_asks_for_ids, accepted))):
        load_external_ids(store, loaded)
    return ContactIndex(loaded.values())


def load_external_ids(store: ContactSource, loaded: Mapping[str, CurrentContact]) -> None:
    """Give the contacts, by id, the external ids that are stored."""
    ids_by_contact: dict[str, dict[str, HeldId]] = defaultdict(dict)
    for contact_id, key, value, identifies in store.external_ids(list(loaded)):
        ids_by_contact[contact_id][key] = HeldId(value, identifies)
    for contact_id, ids in ids_by_contact.items():
        loaded[contact_id].external_ids = loaded[contact_id].external_ids_before = ids


def _asks_for_ids(incoming: IncomingContact) -> bool:
    return bool(incoming.external_id or incoming.further_ids or incoming.sent_read_only)


def _load_times(session: Session, index: ContactIndex) -> None:
    stored = {UUID(each.id): each for each in index.loaded if each.id}
    query = select(Contact.id, Contact.created_at, Contact.updated_at).where(Contact.id.in_(stored))
    for contact_id, created_at, updated_at in session.execute(query):
        stored[contact_id].times = (created_at, updated_at)


def refused_phones(
    session: Session,
    rules: ContactRules,
    action: ContactAction,
    accepted: Iterable[IncomingContact],
) -> set[str]:
    """Return the phones that the organization's do-not-call list refuses."""
    if not rules.refuses_do_not_call:
        return set()
    return listed_phones(session, rules, action, accepted)


def listed_phones(
    session: Session,
    rules: ContactRules,
    action: ContactAction,
    accepted: Iterable[IncomingContact],
) -> set[str]:
    """Return the phones of contacts to keep that are on the organization's do-not-call list."""
    if action is ContactAction.REMOVE:
        return set()
    phones = {incoming.phone for incoming in accepted if incoming.phone}
    return do_not_call.listed_among(session, rules.organization_id, phones)


def write(session: Session, campaign: Campaign, store: ContactStore, index: ContactIndex) -> None:
    """Write the index to the campaign, which is locked; created contacts have their ids."""
    now = utcnow()
    moved = [stored for stored in index.loaded if stored.moved and not stored.removed]
    changed = [stored for stored in index.loaded if stored.changed and not stored.removed]
    ended = [stored for stored in (*changed, *index.removed) if stored.ended]
    if ended:
        cancel_for_contacts(session, [UUID(stored.id) for stored in ended])
    if index.removed:
        store.delete([stored.id for stored in index.removed if stored.id])
    if moved:
        if _swap_identifiers(moved):
            store.vacate(moved)
        store.update_identifiers(moved, now)
    if changed:
        store.update_details(changed, now)
    if index.created:
        store.insert(index.created, now)
    _write_external_ids(store, [*changed, *index.created])
    consent.store_consent(session, [*changed, *index.created], now)
    if index.created or index.removed or moved or changed:
        deleted = sum(stored.id is not None for stored in index.removed)
        campaigns.record_revision(session, campaign, added=len(index.created) - deleted)
        publish_changes(
            session,
            campaign,
            created=[stored.id for stored in index.created],
            updated=list(dict.fromkeys(stored.id for stored in (*moved, *changed))),
            deleted=[stored.id for stored in index.removed],
        )


def _swap_identifiers(moved: Iterable[CurrentContact]) -> bool:
    """Return whether a contact gets an identifier that another of them had."""
    rows = [(stored, stored.before) for stored in moved if stored.before is not None]
    phones = {phone for _, (phone, *_) in rows}
    emails = {email_key for _, (_, _, email_key, *_) in rows}
    return any(
        (stored.phone != phone and stored.phone in phones)
        or (stored.email_key != email_key and stored.email_key in emails)
        for stored, (phone, _, email_key, *_) in rows
    )


def _write_external_ids(store: ContactStore, contacts: Iterable[CurrentContact]) -> None:
    deleted: list[ExternalIdRow] = []
    new: list[ExternalIdRow] = []
    for stored in contacts:
        if stored.id is None or stored.external_ids is stored.external_ids_before:
            continue
        before, after = stored.external_ids_before or {}, stored.external_ids or {}
        deleted += [
            ExternalIdRow(stored.id, key, *held_id)
            for key, held_id in before.items()
            if after.get(key) != held_id
        ]
        new += [
            ExternalIdRow(stored.id, key, *held_id)
            for key, held_id in after.items()
            if before.get(key) != held_id
        ]
    if deleted:
        store.delete_external_ids(deleted)
    if new:
        store.insert_external_ids(new)


def publish_changes(
    session: Session,
    campaign: Campaign,
    *,
    created: Sequence[str | None],
    updated: Sequence[str | None],
    deleted: Sequence[str | None],
) -> None:
    """Publish the ids of changed contacts, in the transaction of the change. Contacts without an id
    were never stored."""
    for event, ids in (
        (WebhookEvent.CONTACT_CREATED, created),
        (WebhookEvent.CONTACT_UPDATED, updated),
        (WebhookEvent.CONTACT_DELETED, deleted),
    ):
        stored = [contact_id for contact_id in ids if contact_id is not None]
        for first in range(0, len(stored), IDS_IN_AN_EVENT):
            chunk = stored[first : first + IDS_IN_AN_EVENT]
            publish(
                session,
                campaign.partner_id,
                campaign.organization_id,
                event,
                partial(
                    dict,
                    organizationId=campaign.organization_id,
                    campaignId=campaign.id,
                    contactIds=chunk,
                ),
            )


def apply_request(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    request: BulkContactsInput,
    *,
    dry_run: bool = False,
) -> BulkResult:
    """Apply a request to a campaign; a change is recorded in the audit log.

    Raises `Forbidden`, `NotFound` (``campaign_not_found``) and `ValidationFailed`
    (``unknown_external_id_key``, ``identifying_external_id_key``).
    """
    caller.require(Permission.CONTACTS_WRITE)
    campaign = campaigns.get(session, caller, campaign_id)
    root = (request.external_id_key or "").strip(), (request.external_id_value or "").strip()
    result = apply(
        session,
        campaign,
        request.contacts,
        request.action,
        root if all(root) else None,
        dry_run=dry_run,
    )
    if not dry_run and (result.created or result.updated or result.deleted):
        audit.record_change(
            session, caller, f"contacts.{_VERBS[request.action]}", campaign, after=result.counts
        )
        session.flush()
    return result
