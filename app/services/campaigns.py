"""Campaigns: who may see which, their states, their assistants, and the lock on their contacts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from sqlalchemy import Select, delete, false, func, or_, select, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.attributes import set_committed_value

from app.caller import Caller
from app.enums import CampaignStatus
from app.errors import Conflict, NotFound, ValidationFailed
from app.models import Agent, Campaign, CampaignAgent, ExternalIdKey, new_id
from app.policy import Permission
from app.services import audit, organizations
from app.services.paging import Page, Sort, keyset_page

MAX_NAME = 200

_by_name = func.lower(Campaign.name)
SORTS = {
    "-created": Sort(Campaign.created_at, lambda row: row.created_at, descending=True),
    "created": Sort(Campaign.created_at, lambda row: row.created_at),
    "name": Sort(_by_name, lambda row: row.name.lower()),
    "-name": Sort(_by_name, lambda row: row.name.lower(), descending=True),
}
"""The orders that `search` offers."""


def visible(caller: Caller) -> Select[Campaign]:
    """Those of the caller's organization, else of its partner, or, for an operator, all."""
    query = select(Campaign)
    if caller.partner_id is not None:
        query = query.where(Campaign.partner_id == caller.partner_id)
    elif not caller.is_operator:
        query = query.where(false())
    if caller.organization_id is not None:
        query = query.where(Campaign.organization_id == caller.organization_id)
    return query


def get(
    session: Session, caller: Caller, campaign_id: UUID, *, for_change: bool = False
) -> Campaign:
    """The campaign; `NotFound` (``campaign_not_found``) for any but the caller's.

    ``for_change`` holds the row until the transaction ends.
    """
    query = visible(caller).where(Campaign.id == campaign_id)
    if for_change:
        query = query.with_for_update(key_share=True).execution_options(populate_existing=True)
    campaign = session.scalars(query).one_or_none()
    if campaign is None:
        raise _not_found()
    return campaign


def list_all(session: Session, caller: Caller) -> Sequence[Campaign]:
    """Every campaign the caller may use, oldest first."""
    return session.scalars(visible(caller).order_by(Campaign.created_at, Campaign.id)).all()


def search(
    session: Session,
    caller: Caller,
    *,
    organization_id: UUID | None = None,
    query: str | None = None,
    status: CampaignStatus | None = None,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[Campaign]:
    """A screen of campaigns; ``query`` looks in their names.

    Raises `ValidationFailed` (``unknown_sort``, ``invalid_cursor``).
    """
    rows = visible(caller)
    if organization_id is not None:
        rows = rows.where(Campaign.organization_id == organization_id)
    words = (query or "").replace("\x00", "").strip()
    if words:
        rows = rows.where(Campaign.name.icontains(words, autoescape=True))
    if status is not None:
        rows = rows.where(Campaign.status == status)
    if sort not in SORTS:
        raise ValidationFailed.on("sort", "unknown_sort", f"Sort by one of {', '.join(SORTS)}.")
    return keyset_page(
        session, rows, sort=SORTS[sort], id_column=Campaign.id, cursor=cursor, limit=limit
    )


def create(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    *,
    name: str,
    agent_ids: Collection[UUID] = (),
    all_agents: bool = False,
) -> Campaign:
    """A new campaign, paused; ``all_agents`` means every assistant the organization has or gets.

    Raises `Forbidden`, `NotFound`, or `ValidationFailed` (``blank``, ``too_long``,
    ``agent_not_found``).
    """
    caller.require(Permission.CAMPAIGNS_WRITE)
    organization = organizations.get(session, caller, organization_id)
    campaign = Campaign(
        id=new_id(),
        partner_id=organization.partner_id,
        organization_id=organization.id,
        name=_checked_name(name),
        status=CampaignStatus.PAUSED,
        all_agents=all_agents,
        revision=0,
        version=1,
    )
    session.add(campaign)
    session.flush()
    _set_agents(session, campaign, agent_ids)
    _record(session, caller, campaign, "created", before={}, after={"name": campaign.name})
    return campaign


def rename(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    name: str,
    *,
    expected_version: int | None = None,
) -> Campaign:
    """Raises `Forbidden`, `NotFound`, `ValidationFailed` and `Conflict` (``changed_meanwhile``)."""
    campaign = _held(session, caller, campaign_id, expected_version)
    before, after = campaign.name, _checked_name(name)
    if before != after:
        campaign.name = after
        _changed(
            session, caller, campaign, "renamed", before={"name": before}, after={"name": after}
        )
    return campaign


def assign_agents(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    agent_ids: Collection[UUID],
    *,
    all_agents: bool = False,
    expected_version: int | None = None,
) -> Campaign:
    """Replaces the campaign's assistants. Raises as `create` and `rename` do."""
    campaign = _held(session, caller, campaign_id, expected_version)
    before = {"agents": sorted(_agents_of(session, campaign)), "allAgents": campaign.all_agents}
    campaign.all_agents = all_agents
    session.execute(delete(CampaignAgent).where(CampaignAgent.campaign_id == campaign.id))
    _set_agents(session, campaign, agent_ids)
    after = {"agents": sorted(_agents_of(session, campaign)), "allAgents": all_agents}
    if before != after:
        _changed(session, caller, campaign, "assigned", before=before, after=after)
    return campaign


def start(
    session: Session, caller: Caller, campaign_id: UUID, *, expected_version: int | None = None
) -> Campaign:
    """Raises `Forbidden`, `NotFound` and `Conflict` (``changed_meanwhile``, ``archived``)."""
    return _move(session, caller, campaign_id, CampaignStatus.ACTIVE, version=expected_version)


def pause(
    session: Session, caller: Caller, campaign_id: UUID, *, expected_version: int | None = None
) -> Campaign:
    """Raises as `start` does."""
    return _move(session, caller, campaign_id, CampaignStatus.PAUSED, version=expected_version)


def archive(
    session: Session, caller: Caller, campaign_id: UUID, *, expected_version: int | None = None
) -> Campaign:
    """For good: an archived campaign keeps its contacts and never starts again."""
    return _move(session, caller, campaign_id, CampaignStatus.ARCHIVED, version=expected_version)


def external_id_keys(session: Session, campaign: Campaign) -> dict[str, bool]:
    """The keys that any of the campaign's assistants defines, and whether each identifies."""
    return external_id_keys_of(session, [campaign])[campaign.id]


def external_id_keys_of(
    session: Session, campaigns: Iterable[Campaign]
) -> dict[UUID, dict[str, bool]]:
    """The same for several campaigns, in one query."""
    found: dict[UUID, dict[str, bool]] = defaultdict(dict)
    query = (
        select(Campaign.id, ExternalIdKey.key, ExternalIdKey.identifies)
        .join(ExternalIdKey, ExternalIdKey.organization_id == Campaign.organization_id)
        .outerjoin(
            CampaignAgent,
            (CampaignAgent.campaign_id == Campaign.id)
            & (CampaignAgent.agent_id == ExternalIdKey.agent_id),
        )
        .where(Campaign.id.in_([campaign.id for campaign in campaigns]))
        .where(or_(Campaign.all_agents, CampaignAgent.agent_id.is_not(None)))
        .order_by(ExternalIdKey.key)
    )
    for campaign_id, key, identifies in session.execute(query):
        keys = found[campaign_id]
        keys[key] = identifies or keys.get(key, False)
    return found


def lock(session: Session, campaign: Campaign) -> None:
    """Holds the campaign's contacts until the transaction ends: they are written only under it.

    On SQLite the writing transaction itself is the lock. Raises `NotFound` where the campaign
    has been deleted meanwhile.
    """
    # Not FOR UPDATE, which would keep calls that refer to the campaign from being written.
    query = select(Campaign.revision).where(Campaign.id == campaign.id)
    revision = session.scalar(query.with_for_update(key_share=True))
    if revision is None:
        raise _not_found()
    set_committed_value(campaign, "revision", revision)


def revise(session: Session, campaign: Campaign) -> None:
    """Counts a change of the contacts of a campaign that is locked."""
    revision = campaign.revision + 1
    session.execute(
        update(Campaign)
        .where(Campaign.id == campaign.id)
        .values(revision=revision, updated_at=Campaign.updated_at)
        .execution_options(synchronize_session=False)
    )
    set_committed_value(campaign, "revision", revision)


def _move(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    status: CampaignStatus,
    *,
    version: int | None,
) -> Campaign:
    campaign = _held(session, caller, campaign_id, version)
    if campaign.status is status:
        return campaign
    if campaign.status is CampaignStatus.ARCHIVED:
        message = "The campaign is archived."
        raise Conflict(message, "archived")
    before, campaign.status = campaign.status, status
    verb = "started" if status is CampaignStatus.ACTIVE else status.value
    change = {"before": {"status": before}, "after": {"status": status}}
    _changed(session, caller, campaign, verb, **change)
    return campaign


def _held(
    session: Session, caller: Caller, campaign_id: UUID, expected_version: int | None
) -> Campaign:
    caller.require(Permission.CAMPAIGNS_WRITE)
    campaign = get(session, caller, campaign_id, for_change=True)
    if expected_version is not None and campaign.version != expected_version:
        message = "Somebody else changed the campaign meanwhile; nothing was saved."
        raise Conflict(message, "changed_meanwhile")
    return campaign


def _changed(
    session: Session,
    caller: Caller,
    campaign: Campaign,
    verb: str,
    *,
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    campaign.version += 1
    session.flush()
    _record(session, caller, campaign, verb, before=before, after=after)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise ValidationFailed.on("name", "blank", "This can't be left blank.")
    if len(name) > MAX_NAME:
        raise ValidationFailed.on("name", "too_long", f"At most {MAX_NAME} characters fit here.")
    return name


def _agents_of(session: Session, campaign: Campaign) -> list[str]:
    query = select(CampaignAgent.agent_id).where(CampaignAgent.campaign_id == campaign.id)
    return [str(agent_id) for agent_id in session.scalars(query)]


def _set_agents(session: Session, campaign: Campaign, agent_ids: Collection[UUID]) -> None:
    wanted = set(agent_ids)
    query = select(Agent.id).where(Agent.organization_id == campaign.organization_id)
    known = set(session.scalars(query.where(Agent.id.in_(wanted))))
    if wanted - known:
        message = "There is no such assistant in the organization."
        raise ValidationFailed.on("agents", "agent_not_found", message)
    session.add_all(
        CampaignAgent(
            campaign_id=campaign.id, agent_id=agent_id, organization_id=campaign.organization_id
        )
        for agent_id in sorted(wanted)
    )
    session.flush()


def _record(
    session: Session,
    caller: Caller,
    campaign: Campaign,
    verb: str,
    *,
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    audit.record(
        session,
        caller,
        action=f"campaign.{verb}",
        target_type="campaign",
        target_id=campaign.id,
        partner_id=campaign.partner_id,
        organization_id=campaign.organization_id,
        target=campaign.name,
        before=before,
        after=after,
    )


def _not_found() -> NotFound:
    message = "There is no such campaign."
    return NotFound(message, "campaign_not_found")
