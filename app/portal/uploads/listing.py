"""The list of uploads, of all campaigns or of one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from flask import request
from sqlalchemy.orm import Session

from app.enums import ContactAction, ImportState
from app.extensions import caller
from app.languages import lazy_gettext
from app.models import ContactImport
from app.portal.uploads.bulk import ACTIONS
from app.portal.uploads.campaign_words import campaign_words, organizations_of
from app.portal.uploads.labels import ACTION_NAMES, STATES, status_badge
from app.portal.web import lists
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    organization_column,
)
from app.portal.web.list_pages import path_id
from app.portal.web.requested_campaign import requested_campaign
from app.services.imports import undo, uploads
from app.services.imports.uploads import SORTS
from app.services.paging import Page


@dataclass(frozen=True, slots=True)
class UploadRow:
    """``organization`` is None for members."""

    upload: ContactImport
    campaign: str
    organization: str | None

    @property
    def campaign_words(self) -> str:
        return campaign_words(self.campaign, self.organization)


def _chosen() -> dict[str, Any]:
    """Return the filters of the URL."""
    return {
        "query": lists.text_filter("q"),
        "state": lists.choice_filter("state", ImportState),
        "action": lists.choice_filter("action", ContactAction),
        "author": lists.text_filter("author"),
        "undone": True if request.args.get("state") == undo.UNDONE else None,
    }


def _page(
    session: Session,
    sort: str,
    cursor: str | None,
    limit: int,
    campaign_id: UUID | None = None,
) -> Page[UploadRow]:
    at: dict[str, Any] = {"sort": sort, "cursor": cursor, "limit": limit}
    page = uploads.search(session, caller(), **_chosen(), campaign_id=campaign_id, **at)
    return Page(_rows(session, page.items), page.next_cursor)


def _rows(session: Session, found: Sequence[ContactImport]) -> list[UploadRow]:
    names = uploads.campaign_names(session, found)
    owners = organizations_of(session, found)
    return [
        UploadRow(row, names[row.campaign_id], owners.get(row.organization_id)) for row in found
    ]


def _item(row: UploadRow) -> BulkItem:
    return BulkItem(str(row.upload.id), row.upload.file_name, str(status_badge(row.upload)[0]), row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    found = uploads.get_many(session, caller(), lists.ids_of(keys))
    return [_item(row) for row in _rows(session, found)]


def _several_of_campaign(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    of = requested_campaign(session, path_id("campaign_id")).id
    return [each for each in _get_many(session, keys) if each.row.upload.campaign_id == of]


def _of_campaign(session: Session, sort: str, cursor: str | None, limit: int) -> Page[UploadRow]:
    found = requested_campaign(session, path_id("campaign_id"))
    return _page(session, sort, cursor, limit, found.id)


def _count_of_campaign(session: Session, most: int) -> int:
    found = requested_campaign(session, path_id("campaign_id"))
    return uploads.count(session, caller(), **_chosen(), campaign_id=found.id, most=most)


def _count_of_campaign_if_few(session: Session, most: int) -> int | None:
    found = requested_campaign(session, path_id("campaign_id"))
    return uploads.count_if_few(session, caller(), most, campaign_id=found.id, **_chosen())


def _count(name: str, label: str, css: str, sort: str | None = None) -> ListColumn[UploadRow]:
    def value(row: UploadRow) -> int | None:
        figures = {"rows_total": row.upload.rows_total, **uploads.figures_of(row.upload)}
        return figures.get(name, 0) if row.upload.checked_at else None

    return ListColumn(name, label, value, css, sort)


UPLOADS = ListDefinition(
    name="uploads",
    nouns=(lazy_gettext("upload"), lazy_gettext("uploads")),
    endpoint="portal.uploads",
    columns=(
        ListColumn(
            "file",
            lazy_gettext("File"),
            lambda row: row.upload.file_name,
            "cell-name cell-name-wide",
            sort="file",
        ),
        ListColumn(
            "campaign",
            lazy_gettext("Campaign"),
            lambda row: row.campaign,
            "wrap",
            usual=False,
        ),
        organization_column(lambda row: row.organization, usual=False),
        ListColumn(
            "action",
            lazy_gettext("Action"),
            lambda row: str(ACTION_NAMES[row.upload.action]),
            usual=False,
        ),
        ListColumn(
            "author",
            lazy_gettext("Uploaded by"),
            lambda row: row.upload.author,
            "wrap",
            sort="author",
            usual=False,
        ),
        ListColumn(
            "status",
            lazy_gettext("Status"),
            lambda row: status_badge(row.upload)[0],
            "phone-first",
            sort="status",
        ),
        replace(_count("rows_total", lazy_gettext("Rows"), "end", "rows"), name="rows"),
        _count("created", lazy_gettext("Created"), "end from-1280"),
        _count("updated", lazy_gettext("Updated"), "end from-1280"),
        replace(_count(uploads.UNCHANGED, lazy_gettext("Unchanged"), "end"), usual=False),
        _count("deleted", lazy_gettext("Deleted"), "end from-1360"),
        _count("ignored", lazy_gettext("Ignored"), "end from-1360"),
        _count("failed", lazy_gettext("Failed"), "end", "failed"),
        ListColumn(
            "uploaded",
            lazy_gettext("Uploaded"),
            lambda row: row.upload.created_at,
            "end cell-dated phone-below phone-sub",
            sort="created",
            is_labelled=True,
            heading=lazy_gettext("Uploaded (UTC)"),
        ),
    ),
    filters=(
        ListFilter("q", lazy_gettext("File or campaign")),
        ListFilter("state", lazy_gettext("Status"), STATES, lazy_gettext("Any status")),
        ListFilter("action", lazy_gettext("Action"), ACTION_NAMES, lazy_gettext("Any action")),
        ListFilter("author", lazy_gettext("Uploaded by")),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_page,
    count=lambda session, most: uploads.count(session, caller(), **_chosen(), most=most),
    count_if_few=lambda session, most: uploads.count_if_few(session, caller(), most, **_chosen()),
    bulk=ListActions(_item, _get_many, ACTIONS, exports=True),
)
CAMPAIGN_UPLOADS = replace(
    UPLOADS,
    name="campaign-uploads",
    endpoint="portal.campaign_uploads",
    load=_of_campaign,
    count=_count_of_campaign,
    count_if_few=_count_of_campaign_if_few,
    bulk=ListActions(_item, _several_of_campaign, ACTIONS, exports=True),
    filters=(ListFilter("q", lazy_gettext("File name")), *UPLOADS.filters[1:]),
    path=("campaign_id",),
)
