"""Create campaigns, rename them, assign assistants, and start, pause and archive them."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.enums import CampaignStatus
from app.errors import Conflict, ValidationFailed, check_version
from app.languages import gettext
from app.models import Assistant, Campaign, CampaignAssistant, Organization, new_id
from app.policy import Permission
from app.policy.caller import Caller
from app.services import assistants, audit, organizations
from app.services.assistants import settings
from app.services.calls.cancel import cancel_for_campaign
from app.services.campaigns.loading import get
from app.services.organizations.updating import validate_name
from app.services.tenancy import refuse_archived


def create(
    session: Session,
    caller: Caller,
    organization_id: UUID,
    *,
    name: str,
    assistant_ids: Collection[UUID] = (),
    all_assistants: bool = False,
) -> Campaign:
    """Create a campaign, paused; ``all_assistants`` includes future ones of the organization.

    Raises `Forbidden`, `NotFound`, `Conflict` (``archived``), or `ValidationFailed` (``blank``,
    ``too_long``, ``agent_not_found``).
    """
    caller.require(Permission.CAMPAIGNS_WRITE)
    organization = organizations.get(session, caller, organization_id)
    refuse_archived(organization)
    campaign = Campaign(
        id=new_id(),
        partner_id=organization.partner_id,
        organization_id=organization.id,
        name=validate_name(name),
        status=CampaignStatus.PAUSED,
        all_assistants=all_assistants,
        revision=0,
        version=1,
    )
    session.add(campaign)
    session.flush()
    _set_assistants(session, campaign, assistant_ids)
    audit.record_change(
        session, caller, "campaign.created", campaign, after={"name": campaign.name}
    )
    return campaign


def create_with_external_ids(
    session: Session, caller: Caller, organization_id: UUID, *, name: str, keys: Collection[str]
) -> Campaign:
    """Create a campaign of the organization's assistants that have no other external ids.

    A key that none of them has is defined at the first as one that identifies; if each has others,
    the organization's first assistant is used. Raises as `create`, and `ValidationFailed`
    (``no_assistant``).
    """
    requested_keys = {key.strip() for key in keys}
    organization = organizations.get(session, caller, organization_id)
    defined: dict[UUID, set[str]] = {}
    candidates: list[Assistant] = list(assistants.of_organization(session, caller, organization.id))
    for assistant in candidates:
        defined[assistant.id] = {
            each.key for each in assistants.external_id_keys(session, assistant)
        }
    selected = [assistant for assistant in candidates if defined[assistant.id] <= requested_keys]
    if requested_keys and not candidates:
        message = gettext(
            "The organization has no assistant, and external ids belong to assistants."
        )
        raise ValidationFailed.on("externalIdKey", "no_assistant", message)
    if requested_keys and not selected:
        selected = candidates[:1]
    for key in sorted(
        requested_keys.difference(*(defined[assistant.id] for assistant in selected))
    ):
        settings.add_external_id_key(session, caller, selected[0].id, key, identifies=True)
    return create(
        session,
        caller,
        organization.id,
        name=name,
        assistant_ids=[assistant.id for assistant in selected],
    )


def rename(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    name: str,
    *,
    expected_version: int | None = None,
) -> Campaign:
    """Rename a campaign. Raises `Forbidden`, `NotFound`, `ValidationFailed` and `Conflict`
    (``changed_meanwhile``)."""
    campaign = lock_campaign(session, caller, campaign_id, expected_version)
    before, after = campaign.name, validate_name(name)
    if before != after:
        campaign.name = after
        record_change(
            session, caller, campaign, "renamed", before={"name": before}, after={"name": after}
        )
    return campaign


def assign_assistants(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    assistant_ids: Collection[UUID],
    *,
    all_assistants: bool = False,
) -> Campaign:
    """Replace the campaign's assistants. Raises as `create` does."""
    campaign = lock_campaign(session, caller, campaign_id)
    before = {
        "agents": sorted(_assistants_of(session, campaign)),
        "allAgents": campaign.all_assistants,
    }
    campaign.all_assistants = all_assistants
    session.execute(delete(CampaignAssistant).where(CampaignAssistant.campaign_id == campaign.id))
    _set_assistants(session, campaign, assistant_ids)
    after = {"agents": sorted(_assistants_of(session, campaign)), "allAgents": all_assistants}
    if before != after:
        record_change(session, caller, campaign, "assigned", before=before, after=after)
    return campaign


def start(session: Session, caller: Caller, campaign_id: UUID) -> Campaign:
    """Start the campaign. Raises `Forbidden`, `NotFound` and `Conflict` (``archived``)."""
    return _set_status(session, caller, campaign_id, CampaignStatus.ACTIVE)


def pause(session: Session, caller: Caller, campaign_id: UUID) -> Campaign:
    """Pause the campaign and end its waiting calls. Raises as `start` does."""
    return _set_status(session, caller, campaign_id, CampaignStatus.PAUSED)


def archive(session: Session, caller: Caller, campaign_id: UUID) -> Campaign:
    """Archive the campaign for good: it keeps its contacts and never starts again."""
    return _set_status(session, caller, campaign_id, CampaignStatus.ARCHIVED)


def _set_status(
    session: Session, caller: Caller, campaign_id: UUID, status: CampaignStatus
) -> Campaign:
    campaign = lock_campaign(session, caller, campaign_id)
    if campaign.status is status:
        return campaign
    if campaign.status is CampaignStatus.ARCHIVED:
        message = gettext("The campaign is archived.")
        raise Conflict(message, "archived")
    if status is CampaignStatus.ACTIVE:
        # Locked: archiving the organization waits, and then finds the campaign active.
        refuse_archived(
            session.get_one(
                Organization,
                campaign.organization_id,
                with_for_update={"read": True},
                populate_existing=True,
            )
        )
    before, campaign.status = campaign.status, status
    if before is CampaignStatus.ACTIVE:
        cancel_for_campaign(session, campaign.id)
    verb = "started" if status is CampaignStatus.ACTIVE else status.value
    record_change(
        session, caller, campaign, verb, before={"status": before}, after={"status": status}
    )
    return campaign


def lock_campaign(
    session: Session, caller: Caller, campaign_id: UUID, expected_version: int | None = None
) -> Campaign:
    """Return the campaign, locked for a change. Raises `Forbidden`, `NotFound` and `Conflict`
    (``changed_meanwhile``)."""
    caller.require(Permission.CAMPAIGNS_WRITE)
    campaign = get(session, caller, campaign_id, for_change=True)
    check_version(expected_version, campaign.version, "campaign")
    return campaign


def record_change(
    session: Session,
    caller: Caller,
    campaign: Campaign,
    verb: str,
    *,
    before: dict[str, object],
    after: dict[str, object],
) -> None:
    """Count and record a change of a locked campaign."""
    audit.record_version(session, caller, f"campaign.{verb}", campaign, before=before, after=after)


def assistants_of(session: Session, campaign: Campaign) -> set[UUID]:
    """Return the assistants chosen for a campaign that came from its loader."""
    query = select(CampaignAssistant.assistant_id).where(
        CampaignAssistant.campaign_id == campaign.id
    )
    return set(session.scalars(query))


def _assistants_of(session: Session, campaign: Campaign) -> list[str]:
    return [str(assistant_id) for assistant_id in assistants_of(session, campaign)]


def _set_assistants(session: Session, campaign: Campaign, assistant_ids: Collection[UUID]) -> None:
    requested_ids = set(assistant_ids)
    query = select(Assistant.id).where(Assistant.organization_id == campaign.organization_id)
    existing = set(session.scalars(query.where(Assistant.id.in_(requested_ids))))
    if requested_ids - existing:
        message = gettext("There is no such assistant in the organization.")
        raise ValidationFailed.on("assistants", "agent_not_found", message)
    session.add_all(
        CampaignAssistant(
            campaign_id=campaign.id,
            assistant_id=assistant_id,
            organization_id=campaign.organization_id,
        )
        for assistant_id in sorted(requested_ids)
    )
    session.flush()
