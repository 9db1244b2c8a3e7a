"""The list of uploads, of all campaigns or of one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.extensions import caller
from app.languages import lazy_gettext, lazy_pgettext
from app.models import ContactImport
from app.portal.uploads.bulk import ACTIONS
from app.portal.uploads.campaign_labels import campaign_label, organizations_of
from app.portal.uploads.labels import ACTION_NAMES, STATUS_LABELS, status_badge
from app.portal.web import lists
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
from app.portal.web.list_pages import path_id
from app.portal.web.lists import ColumnKind
from app.services import campaigns
from app.services.imports import uploads
from app.services.imports.statuses import UploadStatus
from app.services.imports.uploads import SORTS
from app.services.paging import Page

FilterReader = Callable[[Session], uploads.UploadFilter]
"""Reads the filters of a list of uploads from its address."""


@dataclass(frozen=True, slots=True)
class UploadRow:
    """``organization`` is None for members."""

    upload: ContactImport
    campaign: str
    organization: str | None

    @property
    def campaign_label(self) -> str:
        return campaign_label(self.campaign, self.organization)

    @property
    def unchanged(self) -> int:
        """The applied rows that changed nothing."""
        return uploads.unchanged_rows(self.upload) if uploads.has_results(self.upload) else 0


def _filters(_session: Session, campaign_id: UUID | None = None) -> uploads.UploadFilter:
    """Return the filters of the URL."""
    return uploads.UploadFilter(
        query=lists.text_filter("q"),
        status=lists.choice_filter("state", UploadStatus),
        action=lists.choice_filter("action", ContactAction),
        author=lists.text_filter("author"),
        campaign_id=campaign_id,
    )


def _campaign_id(session: Session) -> UUID:
    """Return the id of the path's campaign. Raises `NotFound`."""
    return campaigns.get_with_plan(session, caller(), path_id("campaign_id")).campaign.id


def _campaign_filters(session: Session) -> uploads.UploadFilter:
    return _filters(session, _campaign_id(session))


def _load(
    read_filters: FilterReader, session: Session, sort: str, cursor: str | None, limit: int
) -> Page[UploadRow]:
    filters = read_filters(session)
    page = uploads.search(session, caller(), filters, sort=sort, cursor=cursor, limit=limit)
    return Page(_rows(session, page.items), page.next_cursor)


def _count(read_filters: FilterReader, session: Session, limit: int) -> int:
    return uploads.count(session, caller(), read_filters(session), most=limit)


def _count_if_few(read_filters: FilterReader, session: Session, limit: int) -> int | None:
    return uploads.count_if_few(session, caller(), read_filters(session), limit)


def _rows(session: Session, contact_imports: Sequence[ContactImport]) -> list[UploadRow]:
    names = uploads.campaign_names(session, contact_imports)
    owners = organizations_of(session, contact_imports)
    return [
        UploadRow(row, names[row.campaign_id], owners.get(row.organization_id))
        for row in contact_imports
    ]


def _item(row: UploadRow) -> BulkItem:
    return BulkItem(str(row.upload.id), row.upload.file_name, str(status_badge(row.upload)[0]), row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    contact_imports = uploads.get_many(session, caller(), lists.ids_of(keys))
    return [_item(row) for row in _rows(session, contact_imports)]


def _get_many_of_campaign(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    campaign_id = _campaign_id(session)
    return [each for each in _get_many(session, keys) if each.row.upload.campaign_id == campaign_id]


def _figure(name: str, label: str, css: str, sort: str | None = None) -> ListColumn[UploadRow]:
    """Return the column of a figure that the check finds."""

    def value(row: UploadRow) -> int | None:
        return getattr(row.upload, name) if row.upload.checked_at else None

    return ListColumn(name, label, value, css, sort, ColumnKind.FIGURE)


def _result(name: str, label: str, css: str) -> ListColumn[UploadRow]:
    """Return the column of a figure that is blank until the upload is applied."""

    def value(row: UploadRow) -> int | None:
        upload = row.upload
        return uploads.figures_of(upload).get(name, 0) if uploads.has_results(upload) else None

    return ListColumn(name, label, value, css, None, ColumnKind.FIGURE)


UPLOADS = ListDefinition(
    name="uploads",
    nouns=(lazy_gettext("upload"), lazy_gettext("uploads")),
    endpoint="portal.uploads.list_uploads",
    columns=(
        name_column(
            "file",
            lazy_gettext("File"),
            lambda row: row.upload.file_name,
            "cell-name cell-name-wide",
        ),
        ListColumn(
            "campaign",
            lazy_gettext("Campaign"),
            lambda row: row.campaign,
            "wrap",
            is_default=False,
        ),
        organization_column(lambda row: row.organization, is_default=False),
        ListColumn(
            "action",
            lazy_gettext("Action"),
            lambda row: str(ACTION_NAMES[row.upload.action]),
            is_default=False,
        ),
        name_column(
            "author",
            lazy_gettext("Uploaded by"),
            lambda row: row.upload.author,
            "wrap",
            is_default=False,
        ),
        status_column(lambda row: status_badge(row.upload)[0], "phone-first"),
        replace(_figure("rows_total", lazy_gettext("Rows"), "end", "rows"), name="rows"),
        _result("created", lazy_pgettext("contacts", "Created"), "end from-desktop"),
        _result("updated", lazy_pgettext("contacts", "Updated"), "end from-desktop"),
        replace(
            _result(uploads.UNCHANGED, lazy_pgettext("contacts", "Unchanged"), "end"),
            is_default=False,
        ),
        _result("deleted", lazy_pgettext("contacts", "Deleted"), "end from-wide"),
        _result("ignored", lazy_pgettext("contacts", "Ignored"), "end from-wide"),
        _figure("failed", lazy_pgettext("contacts", "Failed"), "end", "failed"),
        moment_column(
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
        ListFilter("state", lazy_gettext("Status"), STATUS_LABELS, lazy_gettext("Any status")),
        ListFilter("action", lazy_gettext("Action"), ACTION_NAMES, lazy_gettext("Any action")),
        ListFilter("author", lazy_gettext("Uploaded by")),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=partial(_load, _filters),
    count=partial(_count, _filters),
    count_if_few=partial(_count_if_few, _filters),
    bulk=ListActions(_item, _get_many, ACTIONS, exports=True),
)
CAMPAIGN_UPLOADS = replace(
    UPLOADS,
    name="campaign-uploads",
    endpoint="portal.campaigns.list_campaign_uploads",
    load=partial(_load, _campaign_filters),
    count=partial(_count, _campaign_filters),
    count_if_few=partial(_count_if_few, _campaign_filters),
    bulk=ListActions(_item, _get_many_of_campaign, ACTIONS, exports=True),
    filters=(ListFilter("q", lazy_gettext("File name")), *UPLOADS.filters[1:]),
    path=("campaign_id",),
)
