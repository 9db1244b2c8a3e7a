"""The list of campaigns."""

from dataclasses import dataclass

from flask import request
from sqlalchemy.orm import Session

from app.enums import CampaignStatus
from app.extensions import caller
from app.models import Campaign
from app.portal.web import lists, organization_picker
from app.portal.web.list_definitions import Column, Filter, ListDefinition
from app.services import campaigns, organizations, outreach
from app.services.campaigns import SORTS
from app.services.outreach import Summary
from app.services.paging import Page

KINDS = {"active": "Running", "paused": "Not running", "archived": "Archived", "any": "All"}


@dataclass(frozen=True, slots=True)
class Row:
    campaign: Campaign
    organization: str
    outreach: Summary

    @property
    def state(self) -> str:
        if self.campaign.status is CampaignStatus.ARCHIVED:
            return "Archived"
        if self.outreach.ended_at:
            return "Finished"
        if self.campaign.status is CampaignStatus.ACTIVE:
            return "Running"
        return "Paused" if self.outreach.started_at else "Not started"


def _load(session: Session, sort: str, cursor: str | None, limit: int) -> Page[Row]:
    organization = organization_picker.organization_named(session)
    kind = request.args.get("kind", "")
    page = campaigns.search(
        session,
        caller(),
        organization_id=organization.id if organization else None,
        query=lists.text_filter("q"),
        status=CampaignStatus(kind) if kind in set(CampaignStatus) else None,
        archived=None if kind in KINDS else False,
        sort=sort,
        cursor=cursor,
        limit=limit,
    )
    names = organizations.names_of(session, caller(), {row.organization_id for row in page.items})
    summaries = outreach.summaries_of(session, page.items)
    rows = [
        Row(row, names.get(row.organization_id, "–"), summaries.get(row.id, Summary()))
        for row in page.items
    ]
    return Page(rows, page.next_cursor)


CAMPAIGNS = ListDefinition(
    name="campaigns",
    nouns=("campaign", "campaigns"),
    endpoint="portal.campaigns",
    columns=(
        Column("name", "Name", lambda row: row.campaign.name, "cell-name", sort="name"),
        Column(
            "organization",
            "Organization",
            lambda row: row.organization,
            "wrap",
            usual=False,
            for_staff=True,
        ),
        Column("status", "Status", lambda row: row.state, "phone-first", sort="status"),
        Column("progress", "Progress", lambda row: row.outreach.settled, "end", heading="Settled"),
        Column(
            "contacts",
            "Contacts",
            lambda row: row.campaign.contact_count,
            "end phone-second",
            sort="contacts",
            is_labelled=True,
        ),
        Column("called", "Called", lambda row: row.outreach.called, "end", usual=False),
        Column("answered", "Answered", lambda row: row.outreach.answered, "end"),
        Column("assistant", "Assistant", lambda row: row.outreach.assistant, "wrap from-1280"),
        Column(
            "next-call",
            "Next call",
            lambda row: row.outreach.next_at,
            "end from-1360",
            heading="Next call (UTC)",
        ),
        Column(
            "started",
            "Started",
            lambda row: row.outreach.started_at,
            "end from-1280",
            heading="Started (UTC)",
        ),
        Column(
            "ended",
            "Ended",
            lambda row: row.outreach.ended_at,
            "end from-1360",
            heading="Ended (UTC)",
        ),
        Column(
            "added",
            "Added",
            lambda row: row.campaign.created_at,
            "end",
            sort="created",
            usual=False,
            heading="Added (UTC)",
        ),
    ),
    filters=(Filter("q", "Name"), Filter("kind", "Status", KINDS, "Current campaigns")),
    sorts=SORTS,
    default_sort="-created",
    load=_load,
    more_filters=("organization",),
)
