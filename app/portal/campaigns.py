"""Campaigns: the list, and one of them with its contacts."""

from uuid import UUID

from flask import render_template

from app.enums import CampaignStatus
from app.extensions import caller, transaction
from app.portal import lists
from app.portal.blueprint import portal
from app.services import campaigns, contacts, organizations
from app.services.campaigns import SORTS

STATUS_NAMES = {
    CampaignStatus.PAUSED: "Paused",
    CampaignStatus.ACTIVE: "Active",
    CampaignStatus.ARCHIVED: "Archived",
}


@portal.get("/campaigns", endpoint="campaigns")
def list_campaigns() -> str:
    place, sort = lists.place(), lists.sort_filter(SORTS, "-created")
    with transaction(read_only=True) as session:
        page = campaigns.search(
            session,
            caller(),
            query=lists.text_filter("q"),
            status=lists.choice_filter("status", CampaignStatus),
            sort=sort,
            cursor=place.cursor,
            limit=lists.PAGE_SIZE,
        )
        names = organizations.names_of(
            session, caller(), {row.organization_id for row in page.items}
        )
        sizes = contacts.counts_of(session, [row.id for row in page.items])
    return render_template(
        "portal/campaigns/list.html",
        rows=page.items,
        names=names,
        sizes=sizes,
        place=place,
        next_url=place.next_url(page.next_cursor),
        sort=sort,
        sort_url=lists.sort_url,
        sort_direction=lists.sort_direction,
        statuses=STATUS_NAMES,
        clear_url=lists.clear_url("q", "status"),
    )


@portal.get("/campaigns/<uuid:campaign_id>")
def campaign(campaign_id: UUID) -> str:
    place = lists.place()
    with transaction(read_only=True) as session:
        found = campaigns.get(session, caller(), campaign_id)
        organization = organizations.get(session, caller(), found.organization_id)
        page = contacts.search(
            session,
            found,
            query=lists.text_filter("q"),
            cursor=place.cursor,
            limit=lists.PAGE_SIZE,
        )
        return render_template(
            "portal/campaigns/detail.html",
            campaign=found,
            organization=organization,
            size=contacts.counts_of(session, [found.id])[found.id],
            keys=campaigns.external_id_keys(session, found),
            rows=page.items,
            place=place,
            next_url=place.next_url(page.next_cursor),
            statuses=STATUS_NAMES,
            clear_url=lists.clear_url("q"),
        )
