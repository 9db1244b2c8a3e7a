"""What keeps a campaign from calling anybody at all, as it is now."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.enums import CampaignStatus, CarrierKind
from app.models import Campaign, Outreach, utcnow
from app.policy.caller import Caller
from app.services import carrier_accounts
from app.services.calls import limits, rules
from app.services.campaigns.loading import visible
from app.services.dialler import pauses

DAY_USED_UP = "day_used_up"
PAUSED = "dialling_paused"


@dataclass(frozen=True, slots=True)
class Hindrance:
    """``code`` is one of `rules.standing_blocker`, ``agent_left``, `DAY_USED_UP` or `PAUSED`;
    ``until`` where it ends by itself."""

    code: str
    sentence: str
    until: datetime | None = None


def of_plan(
    session: Session, campaign: Campaign, plan: Outreach, parties: rules.Parties, now: datetime
) -> Hindrance | None:
    """What stops every call of the plan, whoever is to be called."""
    blocker = rules.standing_blocker(parties) or rules.speaks_for(session, campaign, plan.agent_id)
    if blocker is not None:
        return Hindrance(blocker.code, blocker.message)
    wait = limits.day_used_up(session, parties.organization, now)
    return Hindrance(DAY_USED_UP, wait.why, wait.until) if wait is not None else None


def hindrance(
    session: Session, campaign: Campaign, plan: Outreach, carrier: CarrierKind
) -> Hindrance | None:
    """`of_plan` now, and the pause of dialling that holds its calls; ``carrier`` is the
    installation's."""
    parties = rules.parties_of(session, plan.agent_id, "")
    if found := of_plan(session, campaign, plan, parties, utcnow()):
        return found
    account = carrier_accounts.of_call(session, parties.agent, live=True)
    line = account.carrier if account else carrier
    pause = pauses.of_line(session, campaign.partner_id, line)
    return Hindrance(PAUSED, pauses.sentence(pause)) if pause is not None else None


def held_campaigns(session: Session, caller: Caller, most: int) -> Sequence[tuple[Campaign, str]]:
    """Campaigns that run and call nobody until somebody mends it, each with the reason."""
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
