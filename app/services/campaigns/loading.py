"""Load campaigns: another tenant's campaign is treated like a missing one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session, joinedload

from app.database import read_once
from app.enums import CampaignStatus, OrganizationStatus
from app.errors import NotFound
from app.languages import gettext
from app.models import Assistant, Campaign, CampaignAssistant, Organization, Outreach
from app.policy.caller import Caller
from app.services import name_search
from app.services.paging import MAX_COUNTED, Page, both_ways, count_up_to, keyset_page, sort_named
from app.services.tenancy import (
    fetch,
    fetch_with_organization,
    of_tenant,
    refuse_archived,
    remember_with_organization,
)
from app.validation.texts import trim

SORTS = both_ways(
    created=Campaign.created_at,
    name=Campaign.name_key,
    contacts=Campaign.contact_count,
    status=Campaign.status,
)
"""The sort orders of `search`. Progress, answers and the next call are counted from the contacts of
a page's campaigns."""


def visible(caller: Caller) -> Select[Campaign]:
    """Return the campaigns of the caller's organization, otherwise of its partner; for an operator,
    all."""
    return of_tenant(select(Campaign), caller, Campaign.partner_id, Campaign.organization_id)


def get(
    session: Session, caller: Caller, campaign_id: UUID, *, for_change: bool = False
) -> Campaign:
    """Return the caller's campaign. Raises `NotFound` (``campaign_not_found``).

    ``for_change`` locks the row until the transaction ends. A read-only transaction reads it once.
    """
    query = visible(caller).where(Campaign.id == campaign_id)
    key = (Campaign, caller, campaign_id)
    return fetch(session, query, not_found(), for_change=for_change, key=key)


def get_with_organization(
    session: Session, caller: Caller, campaign_id: UUID
) -> tuple[Campaign, Organization]:
    """As `get`, with the campaign's organization."""
    query = visible(caller).where(Campaign.id == campaign_id)
    return fetch_with_organization(session, caller, query, Campaign.organization_id, not_found())


class CampaignWithPlan(NamedTuple):
    """A campaign, its organization, and if it has a plan of outreach, this plan and the name of the
    assistant that makes the calls."""

    campaign: Campaign
    organization: Organization
    plan: Outreach | None
    assistant: str | None


def get_with_plan(session: Session, caller: Caller, campaign_id: UUID) -> CampaignWithPlan:
    """As `get_with_organization`, with the plan and the limits of the organization's own plan: one
    query. A transaction that only reads reads it once."""
    key = ("campaign", caller, campaign_id)
    return read_once(session, key, lambda: _with_plan(session, caller, campaign_id))


def _with_plan(session: Session, caller: Caller, campaign_id: UUID) -> CampaignWithPlan:
    query = (
        visible(caller)
        .where(Campaign.id == campaign_id)
        .join(Organization, Organization.id == Campaign.organization_id)
        .outerjoin(Outreach, Outreach.campaign_id == Campaign.id)
        .outerjoin(Assistant, Assistant.id == Outreach.assistant_id)
        .options(joinedload(Organization.plan_limit))
    )
    row = session.execute(query.add_columns(Organization, Outreach, Assistant.name)).one_or_none()
    if row is None:
        raise not_found()
    remember_with_organization(session, caller, row[0], row[1])
    read_once(session, (Outreach, campaign_id), lambda: row[2])  # for `outreach.stored_plan`
    return CampaignWithPlan(*row)


def get_for_new_contacts(session: Session, caller: Caller, campaign_id: UUID) -> Campaign:
    """Return the caller's campaign. Raises as `get`, and `Conflict` (``archived``) if its
    organization is archived."""
    campaign, organization = get_with_organization(session, caller, campaign_id)
    refuse_archived(organization)
    return campaign


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> Sequence[Campaign]:
    """Return those of the campaigns that the caller may use, by name."""
    rows = visible(caller).where(Campaign.id.in_(ids))
    return session.scalars(rows.order_by(Campaign.name_key, Campaign.id)).all()


def list_all(session: Session, caller: Caller) -> Sequence[Campaign]:
    """Return every campaign that the caller may use, oldest first."""
    return session.scalars(visible(caller).order_by(Campaign.created_at, Campaign.id)).all()


def of_assistant(
    session: Session, caller: Caller, assistant: Assistant, limit: int
) -> Sequence[Campaign]:
    """Return the newest campaigns that may use the assistant, without archived ones."""
    assigned = select(CampaignAssistant.campaign_id).where(
        CampaignAssistant.assistant_id == assistant.id
    )
    rows = visible(caller).where(
        Campaign.organization_id == assistant.organization_id,
        Campaign.status != CampaignStatus.ARCHIVED,
        or_(Campaign.all_assistants, Campaign.id.in_(assigned)),
    )
    newest = rows.order_by(Campaign.created_at.desc(), Campaign.id.desc())
    return session.scalars(newest.limit(limit)).all()


@dataclass(frozen=True, slots=True)
class CampaignFilter:
    """The filters of a campaign list; ``query`` searches names and, for staff without
    ``organization_id``, those of organizations. ``archived`` keeps only archived campaigns, or only
    the others, ``assistant`` those that an assistant with these words in its name calls,
    ``takes_contacts`` those that new contacts can be added to."""

    organization_id: UUID | None = None
    query: str | None = None
    status: CampaignStatus | None = None
    archived: bool | None = None
    assistant: str | None = None
    takes_contacts: bool = False


def search(
    session: Session,
    caller: Caller,
    filters: CampaignFilter | None = None,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Campaign]:
    """Return a page of campaigns. Raises `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``)."""
    rows = _filter_campaigns(session, caller, filters or CampaignFilter())
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def count(
    session: Session, caller: Caller, filters: CampaignFilter, *, most: int = MAX_COUNTED
) -> int:
    """Return how many match, as `paging.count_up_to`."""
    rows = _filter_campaigns(session, caller, filters)
    return count_up_to(session, rows.with_only_columns(Campaign.id), most)


def _filter_campaigns(
    session: Session, caller: Caller, filters: CampaignFilter
) -> Select[Campaign]:
    rows = visible(caller)
    if filters.organization_id is not None:
        rows = rows.where(Campaign.organization_id == filters.organization_id)
    query = trim(filters.query)
    if query:
        matches = Campaign.named(query)
        if caller.organization_id is None and filters.organization_id is None:
            column = Campaign.organization_id
            matches = or_(matches, name_search.is_of_organization_by_name(session, column, query))
        rows = rows.where(matches)
    if filters.status is not None:
        rows = rows.where(Campaign.status == filters.status)
    if filters.archived is not None:
        is_archived = Campaign.status == CampaignStatus.ARCHIVED
        rows = rows.where(is_archived if filters.archived else ~is_archived)
    if filters.takes_contacts:
        closed = select(Organization.id).where(
            Organization.id == Campaign.organization_id,
            Organization.status == OrganizationStatus.ARCHIVED,
        )
        rows = rows.where(Campaign.status != CampaignStatus.ARCHIVED, ~closed.exists())
    if name := trim(filters.assistant):
        assistant_ids = of_tenant(
            select(Assistant.id), caller, Assistant.partner_id, Assistant.organization_id
        ).where(Assistant.named(name))
        planned = select(Outreach.campaign_id).where(Outreach.assistant_id.in_(assistant_ids))
        rows = rows.where(Campaign.id.in_(planned))
    return rows


def not_found() -> NotFound:
    message = gettext("There is no such campaign.")
    return NotFound(message, "campaign_not_found")
