"""What keeps a campaign from calling anyone at the moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.enums import CampaignStatus, CarrierKind
from app.models import Campaign, Outreach, utcnow
from app.phone import calling_code
from app.policy.caller import Caller
from app.services import pauses, phone_numbers, spending
from app.services.calls import limits, rules
from app.services.campaigns.loading import visible
from app.services.phone_numbers import Route

DAY_USED_UP = "day_used_up"
SPENDING = spending.REACHED
PAUSED = "dialling_paused"


@dataclass(frozen=True, slots=True)
class CampaignBlocker:
    """``code`` is one of `rules.general_blocker`, ``agent_left``, `DAY_USED_UP`, `SPENDING` or
    `PAUSED`;
    ``until`` if it ends by itself."""

    code: str
    sentence: str
    until: datetime | None = None


def of_plan(
    session: Session,
    campaign: Campaign,
    plan: Outreach,
    parties: rules.Parties,
    now: datetime,
    route: Route,
    longest_minutes: int = spending.LONGEST_MINUTES,
) -> CampaignBlocker | None:
    """Whether a spending limit is reached is asked for a call within the organization's country."""
    broken = rules.general_blocker(parties, route) or rules.speaks_for(
        session, campaign, plan.assistant_id
    )
    if broken is not None:
        return CampaignBlocker(broken.code, broken.message)
    wait = limits.day_used_up(session, parties.organization, now)
    if wait is not None:
        return CampaignBlocker(DAY_USED_UP, wait.why, wait.until)
    organization = parties.organization
    spender = spending.Spender(organization.partner_id, organization.id)
    prefix = calling_code(organization.default_region)
    stop = spending.check(session, spender, prefix, now, longest_minutes=longest_minutes)
    if stop is None or stop.frees_up:
        return None
    return CampaignBlocker(SPENDING, stop.why, stop.until)


def blocker(
    session: Session, campaign: Campaign, plan: Outreach, carrier: CarrierKind
) -> CampaignBlocker | None:
    """`of_plan` now, or the pause of calling that holds its calls; ``carrier`` is the
    installation's."""
    parties = rules.parties_of(session, plan.assistant_id, "")
    route = phone_numbers.route_of(session, parties.organization, carrier)
    if found := of_plan(session, campaign, plan, parties, utcnow(), route):
        return found
    owner = (campaign.partner_id, campaign.organization_id)
    pause = pauses.of_carrier(session, *owner, route.carrier)
    return CampaignBlocker(PAUSED, pauses.sentence(pause)) if pause is not None else None


def blocked_campaigns(
    session: Session, caller: Caller, most: int
) -> Sequence[tuple[Campaign, str]]:
    """Running campaigns that call no one until a user fixes the cause, each with the cause."""
    query = (
        visible(caller)
        .join(Outreach, Outreach.campaign_id == Campaign.id)
        .add_columns(Outreach.held_reason)
        .where(
            Campaign.status == CampaignStatus.ACTIVE,
            Outreach.held_reason.is_not(None),
            Outreach.held_reason.not_in((limits.DAY_USED_UP, limits.PLAN_USED_UP)),
        )
        .order_by(Campaign.id.desc())
        .limit(most)
    )
    return [(campaign, reason) for campaign, reason in session.execute(query)]
