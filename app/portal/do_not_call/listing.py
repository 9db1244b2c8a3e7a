"""The numbers of an organization's do-not-call list."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import lazy_gettext
from app.models import DoNotCallEntry
from app.phone import PhoneError, normalise_written
from app.portal.do_not_call.bulk import ACTIONS
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.formats import phone
from app.portal.web.list_definitions import ListColumn, ListDefinition, ListFilter, added_column
from app.portal.web.list_pages import path_id
from app.services import do_not_call, organizations
from app.services.do_not_call.entries import SORTS
from app.services.paging import Page

SOURCES = {
    "portal": lazy_gettext("Portal"),
    "file": lazy_gettext("Uploaded file"),
    "contact": lazy_gettext("Contact"),
    "command": lazy_gettext("Operator"),
    "demo": lazy_gettext("Sample data"),
}


def as_number(query: str | None, region: str | None = None) -> str | None:
    """Return the number of a search in E.164; None if the text is not a number."""
    try:
        return normalise_written(query, region) if query else None
    except PhoneError:
        return None


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[DoNotCallEntry]:
    page_params: dict[str, Any] = {"sort": sort, "cursor": cursor, "limit": limit}
    return do_not_call.listing(
        session, caller(), *_organization_and_filters(session), **page_params
    )


def _count(session: Session, limit: int) -> int:
    return do_not_call.count(session, caller(), *_organization_and_filters(session), most=limit)


def _item(entry: DoNotCallEntry) -> BulkItem:
    return BulkItem(entry.phone, phone(entry.phone), entry.reason or "", entry)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    organization_id = path_id("organization_id")
    return [_item(each) for each in do_not_call.get_many(session, caller(), organization_id, keys)]


def _organization_and_filters(session: Session) -> tuple[UUID, do_not_call.EntryFilter]:
    """Return the organization and the filters of the URL."""
    organization = organizations.get(session, caller(), path_id("organization_id"))
    query = lists.text_filter("q")
    source = lists.text_filter("source")
    return organization.id, do_not_call.EntryFilter(
        as_number(query, organization.default_region) or query,
        source if source in SOURCES else None,
    )


DO_NOT_CALL = ListDefinition(
    name="do-not-call",
    nouns=(lazy_gettext("number"), lazy_gettext("numbers")),
    endpoint="portal.do_not_call.list_numbers",
    columns=(
        ListColumn(
            "number",
            lazy_gettext("Number"),
            lambda row: row.phone,
            "cell-name cell-number",
            sort="number",
        ),
        ListColumn("reason", lazy_gettext("Reason"), lambda row: row.reason, "wrap", sort="reason"),
        ListColumn("author", lazy_gettext("Added by"), lambda row: row.added_by, "wrap"),
        ListColumn(
            "source",
            lazy_gettext("Source"),
            lambda row: str(SOURCES.get(row.source, row.source)),
            sort="source",
        ),
        added_column(
            lambda row: row.created_at, "end phone-below phone-sub", sort="added", is_labelled=True
        ),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Number or reason")),
        ListFilter("source", lazy_gettext("Source"), SOURCES, lazy_gettext("Any source")),
    ),
    sorts=SORTS,
    default_sort="number",
    load=_load,
    shows_plans=True,
    count=_count,
    shows_count=True,
    bulk=ListActions(_item, _get_many, ACTIONS),
    path=("organization_id",),
)
