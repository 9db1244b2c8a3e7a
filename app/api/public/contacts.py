"""Contacts of a campaign: /api/v1/campaigns/{campaignId}/contacts."""

from typing import Any
from uuid import UUID

from flask import Response

from app import extensions
from app.api.operation import operation
from app.api.paging import CreationCursor, cursor_listing, start_position
from app.api.public.blueprint import blueprint
from app.schemas.contacts import (
    BulkContactsInput,
    BulkQuery,
    BulkResult,
    ContactFilter,
    StoredContact,
)
from app.services import contacts

CAMPAIGN_NOT_FOUND = {"campaign_not_found": "There is no such campaign in the organization."}


@blueprint.post("/campaigns/<campaign_id>/contacts")
@operation(
    summary="Add, update or remove contacts in bulk",
    body=BulkContactsInput,
    query=BulkQuery,
    output=BulkResult,
    body_limit="max_contacts_bytes",
    context=("max_contacts",),
    errors={
        400: {
            "too_many_contacts": "More contacts than fit in one request.",
            "external_id_pair_incomplete": "A root key without its value, or the reverse.",
            "unknown_external_id_key": "No assistant of the campaign defines the root key.",
            "identifying_external_id_key": "The root key identifies; several were sent.",
        },
        404: CAMPAIGN_NOT_FOUND,
    },
)
def send_contacts(campaign_id: UUID, body: BulkContactsInput, query: BulkQuery) -> dict[str, Any]:
    """If other fields than the contacts are wrong, or there are too many contacts, the request is
    refused as a whole; otherwise the answer is 200 and has a result for each contact, even if all
    of them failed.

    ``upsert`` adds contacts that are absent and updates those present, ``updateOnly`` ignores
    contacts that are not in the campaign, ``remove`` removes. A contact is found by its own
    external id if the key identifies contacts, by its phone or by its email. A missing or empty
    value keeps what is stored, null clears it. Unknown fields are kept as metadata.
    """
    with extensions.transaction(read_only=query.dry_run) as session:
        result = contacts.apply_request(
            session, extensions.caller(), campaign_id, body, dry_run=query.dry_run
        )
    return result.body()


@blueprint.get("/campaigns/<campaign_id>/contacts")
@operation(
    summary="List a campaign's contacts, newest first",
    query=ContactFilter,
    output=list[StoredContact],
    errors={
        400: {
            "invalid_cursor": "The cursor was not made by this list.",
            "invalid_phone": "The filter `phone` is not a phone number.",
        },
        404: CAMPAIGN_NOT_FOUND,
    },
    added=True,
)
def list_contacts(campaign_id: UUID, query: ContactFilter) -> Response:
    """Several filters narrow the list together."""
    cursor = start_position(query)
    with extensions.transaction(read_only=True) as session:
        page = contacts.page(
            session,
            extensions.caller(),
            campaign_id,
            query,
            before=cursor.id if cursor else None,
        )
    last = page.items[-1] if page.more else None
    return cursor_listing(page.items, CreationCursor(last.created_at, last.id) if last else None)


@blueprint.get("/campaigns/<campaign_id>/contacts/<contact_id>")
@operation(
    summary="Read a contact",
    output=StoredContact,
    errors={
        404: CAMPAIGN_NOT_FOUND | {"contact_not_found": "There is no such contact in the campaign."}
    },
    added=True,
)
def get_contact(campaign_id: UUID, contact_id: UUID) -> StoredContact:
    """The stored contact, with the phone in E.164 and one value for each external-id key."""
    with extensions.transaction(read_only=True) as session:
        return contacts.get(session, extensions.caller(), campaign_id, contact_id)
