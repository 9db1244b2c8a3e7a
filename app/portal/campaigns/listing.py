"""The list of campaigns."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import request
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, OrganizationStatus
from app.extensions import caller
from app.languages import lazy_gettext, lazy_pgettext
from app.models import Campaign
from app.portal.campaigns.bulk import ACTIONS
from app.portal.web import lists, organization_picker
from app.portal.web.bulk import BulkItem, ListActions
from app.portal.web.campaign_statuses import STATUS_LABELS, status_of
from app.portal.web.list_definitions import (
    ListColumn,
    ListDefinition,
    ListFilter,
    added_column,
    figure_column,
    name_column,
    organization_column,
    status_column,
)
from app.services import campaigns, organizations, outreach
from app.services.campaigns import SORTS, CampaignFilter
from app.services.outreach import RoundSummary
from app.services.paging import Page

KINDS = {
    "active": lazy_gettext("Running"),
    "paused": lazy_gettext("Not running"),
    "archived": lazy_pgettext("campaigns", "Archived"),
    "any": lazy_gettext("All"),
}


@dataclass(frozen=True, slots=True)
class CampaignRow:
    campaign: Campaign
    organization: str
    outreach: RoundSummary
    is_suspended: bool
    """Whether the organization is suspended."""

    @property
    def status(self) -> str:
        return status_of(self.campaign, self.outreach)

    @property
    def status_label(self) -> str:
        return str(STATUS_LABELS[self.status])


def _filters(session: Session) -> CampaignFilter:
    """Return the filters of the URL."""
    organization = organization_picker.organization_of_url(session)
    return CampaignFilter(
        organization_id=organization.id if organization else None,
        query=lists.text_filter("q"),
        status=lists.choice_filter("kind", CampaignStatus),
        archived=None if request.args.get("kind") in KINDS else False,
        assistant=lists.text_filter("assistant"),
    )


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[CampaignRow]:
    filters = _filters(session)
    page = campaigns.search(session, caller(), filters, sort=sort, cursor=cursor, limit=limit)
    return Page(_rows(session, page.items), page.next_cursor)


def _rows(session: Session, matches: Sequence[Campaign]) -> list[CampaignRow]:
    owners = organizations.by_ids(session, caller(), {row.organization_id for row in matches})
    summaries = outreach.summaries_of(session, matches)
    return [
        CampaignRow(
            row,
            owners[row.organization_id].name,
            summaries.get(row.id, RoundSummary()),
            owners[row.organization_id].status is OrganizationStatus.SUSPENDED,
        )
        for row in matches
    ]


def _item(row: CampaignRow) -> BulkItem:
    return BulkItem(str(row.campaign.id), row.campaign.name, row.status_label, row)


def _get_many(session: Session, keys: Sequence[str]) -> list[BulkItem]:
    matches = campaigns.get_many(session, caller(), lists.ids_of(keys))
    return [_item(row) for row in _rows(session, matches)]


CAMPAIGNS = ListDefinition(
    name="campaigns",
    nouns=(lazy_gettext("campaign"), lazy_gettext("campaigns")),
    endpoint="portal.campaigns.list_campaigns",
    columns=(
        name_column("name", lazy_gettext("Name"), lambda row: row.campaign.name),
        organization_column(lambda row: row.organization, is_default=False),
        status_column(lambda row: row.status_label, "phone-first"),
        ListColumn(
            "assistant",
            lazy_gettext("Assistant"),
            lambda row: row.outreach.assistant,
            "wrap from-desktop",
        ),
        ListColumn(
            "progress",
            lazy_gettext("Progress"),
            lambda row: row.outreach.done,
            "end",
            heading=lazy_gettext("Ended calls"),
        ),
        figure_column(
            "contacts",
            lazy_gettext("Contacts"),
            lambda row: row.campaign.contact_count,
            "end phone-second",
            is_labelled=True,
        ),
        ListColumn(
            "called",
            lazy_gettext("Called"),
            lambda row: row.outreach.called,
            "end",
            is_default=False,
        ),
        ListColumn(
            "answered",
            lazy_gettext("Reached a person"),
            lambda row: row.outreach.by_human if row.outreach.started_at else None,
            "end",
        ),
        ListColumn(
            "next-call",
            lazy_gettext("Next call"),
            lambda row: row.outreach.next_at,
            "end from-wide",
            heading=lazy_gettext("Next call (UTC)"),
        ),
        ListColumn(
            "started",
            lazy_gettext("Started"),
            lambda row: row.outreach.started_at,
            "end from-desktop",
            heading=lazy_gettext("Started (UTC)"),
        ),
        ListColumn(
            "ended",
            lazy_gettext("Ended"),
            lambda row: row.outreach.ended_at,
            "end from-wide",
            heading=lazy_gettext("Ended (UTC)"),
        ),
        added_column(lambda row: row.campaign.created_at, is_default=False),
    ),
    filters=(
        ListFilter(
            "q", lazy_gettext("Name or organization"), label_of_members=lazy_gettext("Name")
        ),
        ListFilter("kind", lazy_gettext("Status"), KINDS, lazy_gettext("Current campaigns")),
        ListFilter("assistant", lazy_gettext("Assistant")),
    ),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    count=lambda session, most: campaigns.count(session, caller(), _filters(session), most=most),
    shows_count=True,
    bulk=ListActions(_item, _get_many, ACTIONS, exports=True),
    more_filters=("organization",),
)
