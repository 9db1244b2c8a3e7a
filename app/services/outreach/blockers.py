"""What keeps a campaign from calling anyone at the moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.enums import CampaignStatus, CarrierKind
from app.models import Campaign, Outreach, utcnow
from app.policy.caller import Caller
from app.services import carrier_accounts, pauses
from app.services.calls import limits, rules
from app.services.campaigns.loading import visible

DAY_USED_UP = "day_used_up"
PAUSED = "dialling_paused"


@dataclass(frozen=True, slots=True)
class CampaignBlocker:
    """``code`` is one of `rules.general_blocker`, ``agent_left``, `DAY_USED_UP` or `PAUSED`;
    ``until`` if it ends by itself."""

    code: str
    sentence: str
    until: datetime | None = None


def of_plan(
    session: Session, campaign: Campaign, plan: Outreach, parties: rules.Parties, now: datetime
) -> CampaignBlocker | None:
    broken = rules.general_blocker(parties) or rules.speaks_for(
        session, campaign, plan.assistant_id
    )
    if broken is not None:
        return CampaignBlocker(broken.code, broken.message)
    wait = limits.day_used_up(session, parties.organization, now)
    return CampaignBlocker(DAY_USED_UP, wait.why, wait.until) if wait is not None else None


def blocker(
    session: Session, campaign: Campaign, plan: Outreach, carrier: CarrierKind
) -> CampaignBlocker | None:
    """`of_plan` now, or the pause of dialling that holds its calls; ``carrier`` is the
    installation's."""
    parties = rules.parties_of(session, plan.assistant_id, "")
    if found := of_plan(session, campaign, plan, parties, utcnow()):
        return found
    account = carrier_accounts.of_call(session, parties.assistant, live=True)
    own = account.carrier if account else carrier
    pause = pauses.of_carrier(session, campaign.partner_id, own)
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
