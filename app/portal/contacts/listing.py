"""The contacts of a campaign."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.extensions import caller
from app.models import Contact
from app.portal.web import lists
from app.portal.web.list_definitions import Column, Filter, ListDefinition
from app.portal.web.list_pages import path_id
from app.services import campaigns, contacts, do_not_call
from app.services.calls.rules import REFUSED
from app.services.contacts import Hindrance
from app.services.contacts.queries import SORTS
from app.services.paging import Page

HINDRANCE_NAMES = {
    Hindrance.NO_PHONE: "No phone number",
    Hindrance.DO_NOT_CALL: "On the do-not-call list",
    Hindrance.REFUSED: "Asked not to be called",
    Hindrance.ENDED: "Outreach has ended",
}


@dataclass(frozen=True, slots=True)
class Row:
    """``is_refused`` if the contact may not be called."""

    contact: Contact
    is_refused: bool

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.contact.first_name, self.contact.last_name)))


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[Row]:
    found = campaigns.get(session, caller(), path_id("campaign_id"))
    page = contacts.search(
        session,
        found,
        query=lists.text_filter("q"),
        status=lists.text_filter("status"),
        hindrance=lists.choice_filter("hindrance", Hindrance),
        sort=sort,
        cursor=cursor,
        limit=limit,
    )
    phones = {row.phone for row in page.items if row.phone}
    listed = do_not_call.listed_among(session, found.organization_id, phones)
    rows = [Row(row, row.phone in listed or row.consent == REFUSED) for row in page.items]
    return Page(rows, page.next_cursor)


CONTACTS = ListDefinition(
    name="contacts",
    nouns=("contact", "contacts"),
    endpoint="portal.campaign",
    columns=(
        Column("name", "Name", lambda row: row.name, "cell-name"),
        Column("phone", "Phone", lambda row: row.contact.phone, "phone-first"),
        Column("email", "Email", lambda row: row.contact.email, "wrap phone-second"),
        Column("status", "Status", lambda row: row.contact.status, "wrap"),
        Column(
            "called",
            "May be called",
            lambda row: "No" if row.is_refused else "Yes",
            usual=False,
        ),
        Column("consent", "Consent", lambda row: row.contact.consent, usual=False),
        Column(
            "added",
            "Added",
            lambda row: row.contact.created_at,
            "end from-1280",
            sort="created",
            heading="Added (UTC)",
        ),
        Column(
            "changed",
            "Changed",
            lambda row: row.contact.updated_at,
            "end",
            usual=False,
            heading="Changed (UTC)",
        ),
    ),
    filters=(
        Filter("q", "Name, number, email or id"),
        Filter("status", "Status", {}, "Any status"),
        Filter("hindrance", "Can be called", HINDRANCE_NAMES, "Callable or not"),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    path=("campaign_id",),
)
