"""Suspend, reactivate and archive organizations, with the consequences."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.enums import (
    CallStatus,
    CampaignStatus,
    EndedReason,
    OrganizationStatus,
    SubscriptionStatus,
    UserStatus,
)
from app.languages import gettext_noop
from app.models import ApiKey, Call, Campaign, OAuthClient, Organization, Subscription, User, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, rollup
from app.services.calls.lifecycle import end_call
from app.services.calls.states import WAITING
from app.services.tenancy import get_organization, refuse_archived
from app.validation.texts import trim

ARCHIVED_MESSAGE = gettext_noop("The organization was archived before the call was placed.")
"""Stored with the calls, and therefore in English."""


@dataclass(frozen=True, slots=True)
class ActiveItems:
    """The active items of an organization, most of which stop when it is suspended."""

    users: int
    keys: int
    clients: int
    waiting_calls: int
    running_campaigns: int
    subscriptions: int
    """Uncancelled ones, which don't stop: the customer goes on paying."""


@dataclass(frozen=True, slots=True)
class StoppedItems:
    """The cancelled calls and paused campaigns of an archived organization."""

    calls: int
    campaigns: int


def reach_of(session: Session, organization: Organization) -> ActiveItems:
    """Count the active items in one query; the organization must come from its loader."""
    counts = (query.scalar_subquery() for query in reach_counts(organization.id))
    return ActiveItems(*session.execute(select(*counts)).one())


def reach_counts(organization_id: UUID) -> tuple[Select[int], ...]:
    """Return the queries of the fields of `ActiveItems`."""
    users = select(func.count()).where(
        User.organization_id == organization_id, User.status == UserStatus.ACTIVE
    )
    keys = select(func.count()).where(ApiKey.organization_id == organization_id, ~ApiKey.is_over)
    calls = select(func.count()).where(
        Call.organization_id == organization_id, Call.status.in_(WAITING)
    )
    campaigns = select(func.count()).where(
        Campaign.organization_id == organization_id, Campaign.status == CampaignStatus.ACTIVE
    )
    paying = select(func.count()).where(
        Subscription.organization_id == organization_id,
        Subscription.status != SubscriptionStatus.ENDED,
        Subscription.ends_at.is_(None),
    )
    return users, keys, active_clients(organization_id), calls, campaigns, paying


def active_clients(organization_id: UUID) -> Select[int]:
    """Return the query of the number of API clients that only this organization has."""
    return select(func.count()).where(
        OAuthClient.organization_id == organization_id,
        OAuthClient.revoked_at.is_(None),
        OAuthClient.suspended_at.is_(None),
    )


def suspend(
    session: Session, caller: Caller, organization_id: UUID, *, reason: str | None = None
) -> Organization:
    """Stop everything that the organization does; repeating it isn't an error.

    Raises `Forbidden`, `NotFound`, and `Conflict` (``archived``).
    """
    organization = _lock_organization(session, caller, organization_id)
    refuse_archived(organization)
    _set_status(session, caller, organization, OrganizationStatus.SUSPENDED, "suspended", reason)
    return organization


def reactivate(session: Session, caller: Caller, organization_id: UUID) -> Organization:
    """End a suspension; for an active organization it isn't an error. Raises as `suspend`."""
    organization = _lock_organization(session, caller, organization_id)
    refuse_archived(organization)
    _set_status(session, caller, organization, OrganizationStatus.ACTIVE, "resumed")
    return organization


def archive(
    session: Session, caller: Caller, organization_id: UUID, *, reason: str | None = None
) -> StoppedItems:
    """End the organization's work: cancel waiting calls, pause running campaigns.

    Nothing is deleted, and `restore` brings the organization back; its calls stay cancelled and its
    campaigns paused. Repeating it isn't an error. Raises `Forbidden` and `NotFound`.
    """
    organization = _lock_organization(session, caller, organization_id)
    if organization.status is OrganizationStatus.ARCHIVED:
        return StoppedItems(0, 0)
    rollup.archive_organization(session, organization, back=False)
    _set_status(session, caller, organization, OrganizationStatus.ARCHIVED, "archived", reason)
    return StoppedItems(
        _cancel_waiting_calls(session, organization),
        _pause_campaigns(session, caller, organization),
    )


def restore(session: Session, caller: Caller, organization_id: UUID) -> Organization:
    """Make an archived organization active again; any other stays as it is.

    Raises `Forbidden` and `NotFound`.
    """
    organization = _lock_organization(session, caller, organization_id)
    if organization.status is OrganizationStatus.ARCHIVED:
        rollup.archive_organization(session, organization, back=True)
        _set_status(session, caller, organization, OrganizationStatus.ACTIVE, "restored")
    return organization


def _lock_organization(session: Session, caller: Caller, organization_id: UUID) -> Organization:
    caller.require(Permission.ORGANIZATIONS_WRITE)
    return get_organization(session, caller, organization_id, for_change=True)


def _set_status(
    session: Session,
    caller: Caller,
    organization: Organization,
    status: OrganizationStatus,
    verb: str,
    reason: str | None = None,
) -> None:
    if organization.status is status:
        return
    reason = trim(reason)[:500] or None
    before = {"status": organization.status, "statusReason": organization.status_reason}
    organization.status, organization.status_reason = status, reason
    after = {"status": status, "statusReason": reason}
    audit.record_version(
        session, caller, f"organization.{verb}", organization, before=before, after=after
    )


def _cancel_waiting_calls(session: Session, organization: Organization) -> int:
    # A call that is being claimed locks its own row and waits for the organization's: it is left to
    # the claim, which then finds the organization archived.
    waiting = session.scalars(
        select(Call)
        .where(Call.organization_id == organization.id, Call.status.in_(WAITING))
        .order_by(Call.id)
        .with_for_update(skip_locked=True)
    ).all()
    now = utcnow()
    reason = EndedReason.ORGANIZATION_SUSPENDED
    for call in waiting:
        end_call(session, call, CallStatus.CANCELED, reason, at=now, detail=ARCHIVED_MESSAGE)
    return len(waiting)


def _pause_campaigns(session: Session, caller: Caller, organization: Organization) -> int:
    running = session.scalars(
        select(Campaign)
        .where(
            Campaign.organization_id == organization.id, Campaign.status == CampaignStatus.ACTIVE
        )
        .with_for_update()
    ).all()
    for campaign in running:
        campaign.status = CampaignStatus.PAUSED
        audit.record_version(
            session,
            caller,
            "campaign.paused",
            campaign,
            before={"status": CampaignStatus.ACTIVE},
            after={"status": CampaignStatus.PAUSED},
        )
    return len(running)
