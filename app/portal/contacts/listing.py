"""The contacts of a campaign."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import gettext, lazy_gettext
from app.models import Call, Campaign, Contact
from app.portal.contacts.bulk import ACTIONS
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.formats import CALL_STATUS_LABELS, phone
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    added_column,
    name_column,
)
from app.portal.web.list_pages import path_id
from app.services import campaigns, contacts
from app.services.calls.rules import GIVEN, REFUSED
from app.services.contacts import CallObstacle, ContactSearch, history
from app.services.contacts.queries import SORTS
from app.services.paging import Page

OBSTACLE_LABELS = {
    CallObstacle.NO_PHONE: lazy_gettext("No phone number"),
    CallObstacle.DO_NOT_CALL: lazy_gettext("On the do-not-call list"),
    CallObstacle.REFUSED: lazy_gettext("Asked not to be called"),
    CallObstacle.ENDED: lazy_gettext("Outreach has ended"),
}


CONSENT_LABELS = {GIVEN: lazy_gettext("given"), REFUSED: lazy_gettext("refused")}


@dataclass(frozen=True, slots=True)
class ContactRow:
    """``is_refused`` if the contact may not be called, ``is_listed`` if that is because its number
    is on the do-not-call list."""

    contact: Contact
    is_refused: bool
    is_listed: bool
    last_call: Call | None

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.contact.first_name, self.contact.last_name)))


def _filters() -> ContactSearch:
    """Return the filters of the URL."""
    return ContactSearch(
        query=lists.text_filter("q"),
        status=lists.text_filter("status"),
        obstacle=lists.choice_filter("hindrance", CallObstacle),
    )


def _campaign(session: Session) -> Campaign:
    """Return the campaign of the path. Raises `NotFound`."""
    return campaigns.get_with_plan(session, caller(), path_id("campaign_id")).campaign


def _count(session: Session, limit: int) -> int:
    campaign = _campaign(session)
    return contacts.count(session, campaign, _filters(), most=limit)


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[ContactRow]:
    campaign = _campaign(session)
    page = contacts.search(session, campaign, _filters(), sort=sort, cursor=cursor, limit=limit)
    return Page(_rows(session, page.items), page.next_cursor)


def _rows(session: Session, matches: Sequence[Contact]) -> list[ContactRow]:
    listed_and_calls = history.listed_and_last_calls(session, caller(), [row.id for row in matches])
    return [
        ContactRow(row, is_listed or row.consent == REFUSED, is_listed, last_call)
        for row in matches
        for is_listed, last_call in [listed_and_calls[row.id]]
    ]


def _item(row: ContactRow) -> BulkItem:
    number = phone(row.contact.phone) if row.contact.phone else row.contact.email or ""
    return BulkItem(str(row.contact.id), row.name or number, number if row.name else "", row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    campaign = _campaign(session)
    matches = contacts.get_many(session, campaign, lists.ids_of(keys))
    return [_item(row) for row in _rows(session, matches)]


CONTACTS = ListDefinition(
    name="contacts",
    nouns=(lazy_gettext("contact"), lazy_gettext("contacts")),
    endpoint="portal.campaigns.show_campaign",
    columns=(
        name_column("name", lazy_gettext("Name"), lambda row: row.name),
        ListColumn(
            "phone",
            lazy_gettext("Phone"),
            lambda row: row.contact.phone,
            "phone-first",
            sort="phone",
        ),
        name_column(
            "email", lazy_gettext("Email"), lambda row: row.contact.email, "wrap phone-second"
        ),
        ListColumn(
            "last-call",
            lazy_gettext("Last call"),
            lambda row: str(CALL_STATUS_LABELS[row.last_call.status]) if row.last_call else None,
        ),
        ListColumn(
            "status", lazy_gettext("Status"), lambda row: row.contact.status, "wrap", sort="status"
        ),
        ListColumn(
            "called",
            lazy_gettext("May be called"),
            lambda row: gettext("No") if row.is_refused else gettext("Yes"),
            is_default=False,
        ),
        ListColumn(
            "consent",
            lazy_gettext("Consent"),
            lambda row: str(CONSENT_LABELS[row.contact.consent]) if row.contact.consent else None,
            is_default=False,
        ),
        added_column(lambda row: row.contact.created_at, "end from-desktop"),
        ListColumn(
            "changed",
            lazy_gettext("Changed"),
            lambda row: row.contact.updated_at,
            "end",
            is_default=False,
            heading=lazy_gettext("Changed (UTC)"),
        ),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Name, number, email or ID")),
        ListFilter("status", lazy_gettext("Status"), {}, lazy_gettext("Any status")),
        ListFilter(
            "hindrance",
            lazy_gettext("Can be called"),
            OBSTACLE_LABELS,
            lazy_gettext("Callable or not"),
        ),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    count=_count,
    shows_count=True,
    bulk=ListActions(_item, _get_many, ACTIONS),
    path=("campaign_id",),
)
