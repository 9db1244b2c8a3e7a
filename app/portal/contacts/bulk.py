"""Removing several contacts, restoring them, and adding them to the do-not-call list."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext, lazy_gettext, ngettext
from app.policy import Permission
from app.portal.web.bulk import BulkAction, BulkItem
from app.portal.web.list_pages import path_id
from app.services import campaigns, do_not_call
from app.services.contacts import removed_contacts, single_contact
from app.validation.uuids import as_uuid

SOURCE = "contact"
"""The source in the do-not-call entry."""


def _add_to_list(session: Session, item: BulkItem) -> None:
    contact = item.row.contact
    do_not_call.add(session, caller(), contact.organization_id, contact.phone, source=SOURCE)


def _not_listable_message(item: BulkItem) -> str | None:
    if item.row.contact.phone is None:
        return gettext("No phone number")
    return gettext("Already on the list.") if item.row.is_listed else None


def _get_removed(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    """Return those of the contacts that the caller has removed within a day."""
    campaigns.get(session, caller(), path_id("campaign_id"))
    ids = (contact_id for key in keys if (contact_id := as_uuid(key)))
    removed = (removed_contacts.find(session, caller(), each) for each in ids)
    return [
        BulkItem(str(contact.id), single_contact.name_of(contact), "", contact)
        for contact in removed
        if contact
    ]


ACTIONS = (
    BulkAction(
        name="remove",
        label=lazy_gettext("Remove…"),
        permission=Permission.CONTACTS_WRITE,
        button=lambda n: ngettext("Remove %(num)s contact", "Remove %(num)s contacts", n),
        done=lambda n: ngettext("%(num)s contact removed", "%(num)s contacts removed", n),
        keep_label=lazy_gettext("Keep contacts"),
        consequences=(
            lazy_gettext("They leave the campaign with all their details."),
            lazy_gettext("Their waiting calls are cancelled."),
            lazy_gettext("You can restore them for one day."),
        ),
        act=lambda session, item: single_contact.remove(
            session, caller(), item.row.contact.campaign_id, item.row.contact.id
        ),
        done_label=lazy_gettext("Removed."),
        undo="restore",
    ),
    BulkAction(
        name="do-not-call",
        label=lazy_gettext("Add to do-not-call list…"),
        permission=Permission.CONTACTS_WRITE,
        button=lambda n: ngettext(
            "Add %(num)s contact to the list", "Add %(num)s contacts to the list", n
        ),
        done=lambda n: ngettext(
            "%(num)s contact on the do-not-call list", "%(num)s contacts on the do-not-call list", n
        ),
        keep_label=lazy_gettext("Keep callable"),
        consequences=(
            lazy_gettext("Their numbers are added to the organization’s do-not-call list."),
            lazy_gettext("Waiting calls to them are cancelled."),
            lazy_gettext("The contacts stay in the campaign."),
        ),
        act=_add_to_list,
        done_label=lazy_gettext("Added to the list."),
        refusal=_not_listable_message,
    ),
    BulkAction(
        name="restore",
        label=lazy_gettext("Restore"),
        permission=Permission.CONTACTS_WRITE,
        button=lambda n: ngettext("Restore %(num)s contact", "Restore %(num)s contacts", n),
        done=lambda n: ngettext("%(num)s contact restored", "%(num)s contacts restored", n),
        keep_label=lazy_gettext("Not now"),
        consequences=(lazy_gettext("Their cancelled calls stay cancelled."),),
        act=lambda session, item: single_contact.undo_removal(
            session, caller(), path_id("campaign_id"), item.row.id
        ),
        done_label=lazy_gettext("Restored."),
        is_risky=False,
        get_many=_get_removed,
    ),
)
