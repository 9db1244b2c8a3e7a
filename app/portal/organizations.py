"""Organizations: the list and one of them."""

from datetime import UTC, datetime
from uuid import UUID

from flask import render_template

from app.enums import OrganizationStatus, Tier
from app.extensions import caller, transaction
from app.portal import lists
from app.portal.blueprint import portal
from app.services import agents, audit, campaigns, organizations, reporting, users
from app.services.organizations.loading import SORTS
from app.services.pricing import TIER_NAMES

STATUS_NAMES = {
    OrganizationStatus.ACTIVE: "Active",
    OrganizationStatus.SUSPENDED: "Suspended",
    OrganizationStatus.ARCHIVED: "Archived",
}
LATEST_CHANGES = 8


@portal.get("/organizations", endpoint="organizations")
def list_organizations() -> str:
    place, sort = lists.place(), lists.sort_filter(SORTS, "-created")
    with transaction(read_only=True) as session:
        page = organizations.search(
            session,
            caller(),
            query=lists.text_filter("q"),
            tier=lists.choice_filter("tier", Tier),
            status=lists.choice_filter("status", OrganizationStatus),
            sort=sort,
            cursor=place.cursor,
            limit=lists.PAGE_SIZE,
        )
        use = organizations.use_of(session, [row.id for row in page.items])
    return render_template(
        "portal/organizations/list.html",
        rows=page.items,
        use=use,
        place=place,
        next_url=place.next_url(page.next_cursor),
        sort=sort,
        sort_url=lists.sort_url,
        sort_direction=lists.sort_direction,
        tiers=TIER_NAMES,
        statuses=STATUS_NAMES,
        clear_url=lists.clear_url("q", "tier", "status"),
    )


@portal.get("/organizations/<uuid:organization_id>")
def organization(organization_id: UUID) -> str:
    today = datetime.now(UTC).date()
    with transaction(read_only=True) as session:
        found = organizations.get(session, caller(), organization_id)
        month = reporting.usage_of(session, caller(), found.id, today.replace(day=1), today)
        return render_template(
            "portal/organizations/detail.html",
            organization=found,
            statuses=STATUS_NAMES,
            use=organizations.use_of(session, [found.id])[found.id],
            month=month,
            people=users.search(session, caller(), organization_id=found.id, limit=10).items,
            agents=agents.of_organization(session, caller(), found.id),
            campaigns=campaigns.search(session, caller(), organization_id=found.id, limit=10).items,
            changes=audit.latest(session, caller(), found.id, LATEST_CHANGES),
        )
