"""The list of webhooks."""

from collections.abc import Sequence
from typing import Any

from flask import request
from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import lazy_gettext
from app.models import WebhookEndpoint
from app.portal.web import lists, organization_picker
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    organization_column,
)
from app.portal.webhooks.bulk import ACTIONS
from app.portal.webhooks.labels import endpoint_state, every_event
from app.services import organizations
from app.services.paging import Page
from app.services.webhooks import addresses, endpoints
from app.validation.uuids import as_uuid

STATES = {"active": lazy_gettext("Active"), "paused": lazy_gettext("Paused")}
PAUSED = {"active": False, "paused": True}
Row = tuple[WebhookEndpoint, str, bool]
"""A webhook, the name of its organization and whether the host of its address wasn't found."""


def _chosen(session: Session) -> dict[str, Any]:
    """Return the filters of the URL."""
    organization = organization_picker.organization_named(session)
    return {
        "organization_id": organization.id if organization else None,
        "query": lists.text_filter("q"),
        "paused": PAUSED.get(request.args.get("state", "")),
    }


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[Row]:
    at: dict[str, Any] = {"sort": sort, "cursor": cursor, "limit": limit}
    page = endpoints.search(session, caller(), **_chosen(session), **at)
    names = organizations.names_of(session, caller(), {row.organization_id for row in page.items})
    missing = addresses.hosts_not_found(session, page.items)
    rows = [(row, names.get(row.organization_id, "–"), row.id in missing) for row in page.items]
    return Page(rows, page.next_cursor)


def _item(endpoint: WebhookEndpoint) -> BulkItem:
    return BulkItem(str(endpoint.id), endpoint.url, endpoint_state(endpoint).word, endpoint)


def _several(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    wanted = {known for key in keys if (known := as_uuid(key))}
    return [_item(each) for each in endpoints.get_many(session, caller(), wanted)]


WEBHOOKS = ListDefinition(
    name="webhooks",
    nouns=("webhook", "webhooks"),
    endpoint="portal.api_webhooks",
    columns=(
        ListColumn(
            "address",
            lazy_gettext("Address"),
            lambda row: row[0].url,
            "cell-name cell-name-wide",
            sort="address",
        ),
        organization_column(lambda row: row[1], usual=False),
        ListColumn("events", lazy_gettext("Events"), lambda row: every_event(row[0]), "wrap"),
        ListColumn(
            "status",
            lazy_gettext("Status"),
            lambda row: endpoint_state(row[0], is_host_missing=row[2]).word,
            "phone-first",
            sort="health",
        ),
        ListColumn(
            "failing-since",
            lazy_gettext("Failing since"),
            lambda row: row[0].failing_since,
            "end",
            usual=False,
            heading="Failing since (UTC)",
        ),
        ListColumn(
            "created",
            lazy_gettext("Created"),
            lambda row: row[0].created_at,
            "end phone-second",
            sort="created",
            is_labelled=True,
            heading="Created (UTC)",
        ),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Address")),
        ListFilter("state", lazy_gettext("Status"), STATES, lazy_gettext("Any status")),
    ),
    sorts=endpoints.SORTS,
    default_sort="-created",
    load=_load,
    count=lambda session, most: endpoints.count(session, caller(), **_chosen(session), most=most),
    shows_count=True,
    bulk=ListActions(lambda row: _item(row[0]), _several, ACTIONS),
    more_filters=("organization",),
)
