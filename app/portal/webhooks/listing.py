"""The list of webhooks."""

from collections.abc import Sequence

from flask import request
from sqlalchemy.orm import Session

from app.extensions import caller
from app.languages import lazy_gettext
from app.models import Organization, Webhook
from app.models.base import name_key
from app.portal.web import lists, organization_picker
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    moment_column,
    name_column,
    organization_column,
    status_column,
)
from app.portal.webhooks.bulk import ACTIONS
from app.portal.webhooks.forms import PORTAL
from app.portal.webhooks.labels import every_event, owner_of, webhook_status
from app.services import organizations, webhooks
from app.services.paging import Page
from app.services.webhooks import addresses

STATUSES = {"active": lazy_gettext("Active"), "paused": lazy_gettext("Paused")}
PAUSED = {"active": False, "paused": True}
OWNERS = {PORTAL: lazy_gettext("The whole portal")}
MAX_OFFERED = 100
"""Maximum organizations in the filter."""
Row = tuple[Webhook, str, bool]
"""A webhook, the name of its organization or of the whole portal, and whether the host of its URL
wasn't found."""


def _filters(session: Session) -> webhooks.WebhookFilter:
    """Return the filters of the URL."""
    organization = filtered_organization(session)
    return webhooks.WebhookFilter(
        organization_id=organization.id if organization else None,
        of_portal=request.args.get("organization") == PORTAL,
        query=lists.text_filter("q"),
        paused=PAUSED.get(request.args.get("state", "")),
    )


def filtered_organization(session: Session) -> Organization | None:
    """Return the organization of the filter of the URL; None for all, and for the whole portal.
    Raises `NotFound`."""
    if request.args.get("organization") == PORTAL:
        return None
    return organization_picker.organization_of_url(session)


def offered_owners(session: Session, selected: Organization | None) -> dict[str, str]:
    """Return the options of the filter: the whole portal, the organizations that have webhooks and
    the ``selected`` one."""
    ids = webhooks.organizations_with(session, caller(), MAX_OFFERED)
    names = organizations.names_of(session, caller(), ids)
    if selected is not None:
        names[selected.id] = selected.name
    by_name = sorted(names.items(), key=lambda item: name_key(item[1]))
    return {**OWNERS, **{str(key): name for key, name in by_name}}


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[Row]:
    filters = _filters(session)
    page = webhooks.search(session, caller(), filters, sort=sort, cursor=cursor, limit=limit)
    ids = {row.organization_id for row in page.items if row.organization_id}
    names = organizations.names_of(session, caller(), ids)
    missing = addresses.hosts_not_found(session, page.items)
    rows = [(row, owner_of(row, names), row.id in missing) for row in page.items]
    return Page(rows, page.next_cursor)


def _item(webhook: Webhook) -> BulkItem:
    return BulkItem(str(webhook.id), webhook.url, webhook_status(webhook).label, webhook)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    rows = webhooks.get_many(session, caller(), lists.ids_of(keys))
    return [_item(each) for each in rows]


WEBHOOKS = ListDefinition(
    name="webhooks",
    nouns=("webhook", "webhooks"),
    endpoint="portal.webhooks.list_webhooks",
    columns=(
        name_column(
            "address", lazy_gettext("Address"), lambda row: row[0].url, "cell-name cell-name-wide"
        ),
        organization_column(lambda row: row[1], is_default=False),
        ListColumn("events", lazy_gettext("Events"), lambda row: every_event(row[0]), "wrap"),
        status_column(
            lambda row: webhook_status(row[0], is_host_missing=row[2]).label,
            "phone-first",
            sort="health",
        ),
        ListColumn(
            "failing-since",
            lazy_gettext("Failing since"),
            lambda row: row[0].failing_since,
            "end",
            is_default=False,
            heading="Failing since (UTC)",
        ),
        moment_column(
            "created",
            lazy_gettext("Created"),
            lambda row: row[0].created_at,
            "end phone-second",
            is_labelled=True,
            heading="Created (UTC)",
        ),
    ),
    filters=(
        ListFilter("q", lazy_gettext("Address")),
        ListFilter("state", lazy_gettext("Status"), STATUSES, lazy_gettext("Any status")),
        ListFilter(
            "organization", lazy_gettext("Organization"), OWNERS, lazy_gettext("Any organization")
        ),
    ),
    sorts=webhooks.SORTS,
    default_sort="-created",
    load=_load,
    count=lambda session, most: webhooks.count(session, caller(), _filters(session), most=most),
    shows_count=True,
    bulk=ListActions(lambda row: _item(row[0]), _get_many, ACTIONS),
)
