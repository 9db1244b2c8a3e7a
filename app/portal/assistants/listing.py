"""The list of assistants."""

from collections.abc import Sequence
from itertools import groupby

from sqlalchemy.orm import Session

from app.enums import CarrierKind
from app.extensions import caller, settings
from app.languages import lazy_gettext
from app.models import Assistant
from app.portal.assistants.bulk import ACTIONS
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    added_column,
    name_column,
    organization_column,
)
from app.portal.web.readiness import READINESS_LABELS, ReadinessRow, row_of
from app.services import assistants, organizations, partners, phone_numbers
from app.services.assistants.queries import SORTS, Readiness
from app.services.paging import Page


def _filters() -> assistants.AssistantFilter:
    """Return the filters of the URL."""
    return assistants.AssistantFilter(
        organization=lists.id_or_text("organization"),
        query=lists.text_filter("q"),
        service=lists.text_filter("service"),
        readiness=lists.choice_filter("readiness", Readiness),
        partner_id=lists.id_filter("partner"),
    )


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[ReadinessRow]:
    page = assistants.search(session, caller(), _filters(), sort=sort, cursor=cursor, limit=limit)
    rows = _rows(session, page.items)
    if sort.endswith("name"):
        rows = _sort_by_organization(rows, is_reversed=sort.startswith("-"))
    return Page(rows, page.next_cursor)


def _sort_by_organization(rows: Sequence[ReadinessRow], *, is_reversed: bool) -> list[ReadinessRow]:
    """Sort assistants of the same name by organization within a page: many organizations use the
    same names, and no index covers both."""
    return [
        row
        for _, namesakes in groupby(rows, key=lambda row: row.assistant.name_key)
        for row in sorted(namesakes, key=lambda row: row.organization.name_key, reverse=is_reversed)
    ]


def _rows(session: Session, matches: Sequence[Assistant]) -> list[ReadinessRow]:
    owners = organizations.by_ids(session, caller(), {row.organization_id for row in matches})
    refusals = phone_numbers.refusals(session, matches, CarrierKind(settings().carrier))
    partner_ids = {row.partner_id for row in matches}
    portals = partners.names_of(session, caller(), partner_ids) if caller().is_operator else {}
    suspended = partners.suspended_of(session, caller(), partner_ids)
    return [
        row_of(
            row,
            owners[row.organization_id],
            refusals.get(row.id),
            suspended.get(row.partner_id),
            portals.get(row.partner_id),
        )
        for row in matches
    ]


def _item(row: ReadinessRow) -> BulkItem:
    is_member = caller().organization_id is not None
    label = READINESS_LABELS[row.readiness] if is_member else row.organization.name
    return BulkItem(str(row.assistant.id), row.assistant.name, str(label), row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    matches = assistants.get_many(session, caller(), lists.ids_of(keys))
    return [_item(row) for row in _rows(session, matches)]


ASSISTANTS = ListDefinition(
    name="assistants",
    nouns=(lazy_gettext("assistant"), lazy_gettext("assistants")),
    endpoint="portal.assistants.list_assistants",
    columns=(
        name_column(
            "name",
            lazy_gettext("Name"),
            lambda row: row.assistant.name,
            "cell-name cell-name-text",
        ),
        organization_column(lambda row: row.organization.name),
        ListColumn(
            "number",
            lazy_gettext("Number"),
            lambda row: row.assistant.phone_number,
            "phone-second",
            sort="number",
        ),
        ListColumn(
            "service",
            lazy_gettext("Service"),
            lambda row: row.assistant.service,
            "wrap from-desktop",
        ),
        ListColumn(
            "readiness",
            lazy_gettext("Readiness"),
            lambda row: str(READINESS_LABELS[row.readiness]),
            "wrap cell-reason phone-first",
        ),
        ListColumn(
            "zone", lazy_gettext("Time zone"), lambda row: row.assistant.timezone, is_default=False
        ),
        added_column(lambda row: row.assistant.created_at),
    ),
    filters=(
        ListFilter(
            "q",
            lazy_gettext("Name, number or organization"),
            label_of_members=lazy_gettext("Name or phone number"),
        ),
        ListFilter(
            "readiness", lazy_gettext("Readiness"), READINESS_LABELS, lazy_gettext("Any readiness")
        ),
        ListFilter("service", lazy_gettext("Service")),
    ),
    sorts=SORTS,
    default_sort="name",
    load=_load,
    count=lambda session, most: assistants.count(session, caller(), _filters(), most=most),
    count_if_few=lambda session, most: assistants.count_if_few(session, caller(), _filters(), most),
    bulk=ListActions(_item, _get_many, ACTIONS, exports=True),
    more_filters=("organization", "partner"),
)
