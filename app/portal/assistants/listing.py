"""The list of assistants."""

from typing import Any

from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.extensions import caller, settings
from app.languages import lazy_gettext
from app.portal.web import lists
from app.portal.web.list_definitions import Column, Filter, ListDefinition, organization_column
from app.portal.web.readiness import READINESS_NAMES, Row, row_of
from app.services import assistants, organizations, phone_numbers
from app.services.assistants.queries import SORTS, Readiness
from app.services.paging import Page


def _chosen() -> dict[str, Any]:
    """Return the filters of the URL."""
    return {
        "organization": lists.id_or_words("organization"),
        "query": lists.text_filter("q"),
        "service": lists.text_filter("service"),
        "wanted": lists.choice_filter("readiness", Readiness),
    }


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[Row]:
    at: dict[str, Any] = {"sort": sort, "cursor": cursor, "limit": limit}
    page = assistants.search(session, caller(), **_chosen(), **at)
    owners = organizations.by_ids(session, caller(), {row.organization_id for row in page.items})
    refusals = phone_numbers.refusals(session, page.items, CarrierKind(settings().carrier))
    rows = [row_of(row, owners[row.organization_id], refusals.get(row.id)) for row in page.items]
    return Page(rows, page.next_cursor)


ASSISTANTS = ListDefinition(
    name="assistants",
    nouns=(lazy_gettext("assistant"), lazy_gettext("assistants")),
    endpoint="portal.assistants",
    columns=(
        Column(
            "name", lazy_gettext("Name"), lambda row: row.assistant.name, "cell-name", sort="name"
        ),
        organization_column(lambda row: row.organization.name),
        Column(
            "number",
            lazy_gettext("Number"),
            lambda row: row.assistant.phone_number,
            "phone-second",
            sort="number",
        ),
        Column(
            "service", lazy_gettext("Service"), lambda row: row.assistant.service, "wrap from-1280"
        ),
        Column(
            "readiness",
            lazy_gettext("Readiness"),
            lambda row: str(READINESS_NAMES[row.readiness]),
            "wrap phone-first",
        ),
        Column("zone", lazy_gettext("Time zone"), lambda row: row.assistant.timezone, usual=False),
        Column(
            "added",
            lazy_gettext("Added"),
            lambda row: row.assistant.created_at,
            "end",
            sort="created",
            heading=lazy_gettext("Added (UTC)"),
        ),
    ),
    filters=(
        Filter("q", lazy_gettext("Name or phone number")),
        Filter(
            "readiness", lazy_gettext("Readiness"), READINESS_NAMES, lazy_gettext("Any readiness")
        ),
        Filter("service", lazy_gettext("Service")),
    ),
    sorts=SORTS,
    default_sort="name",
    load=_load,
    count=lambda session, most: assistants.count(session, caller(), **_chosen(), most=most),
    count_if_few=lambda session, most: assistants.count_if_few(
        session, caller(), most, **_chosen()
    ),
    more_filters=("organization",),
)
