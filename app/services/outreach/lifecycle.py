"""Starting and pausing campaigns: they call contacts only after a user has started them."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import OutreachStatus
from app.errors import Conflict
from app.gateways.job_queue import CAMPAIGNS
from app.gateways.wake import wake
from app.languages import gettext
from app.models import Campaign, utcnow
from app.policy.caller import Caller
from app.services import campaigns
from app.services.outreach.plans import (
    RecallChoice,
    lock_plan,
    recheck,
    recheck_stopped,
    recheck_unreached,
)
from app.services.outreach.progress import progress_of


def start(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    *,
    recall: RecallChoice | None = None,
) -> Campaign:
    """Call the campaign's contacts by its plan from now on, or resume a paused campaign.

    Contacts that could not be called before are checked again. ``recall`` calls contacts once more
    after all were called: all of them in a further round, or those of this round that were not
    reached. Raises `Forbidden`, `NotFound` and `Conflict` (``archived``, ``no_plan``, and
    ``round_under_way`` if the round has not ended).
    """
    campaign = campaigns.lock_campaign(session, caller, campaign_id)
    stored = lock_plan(session, campaign)
    if stored is None:
        message = gettext("Create a plan first: assistant, hours and messages. Then start.")
        raise Conflict(message, "no_plan")
    if recall and not progress_of(session, campaign).is_over:
        message = gettext("Some contacts of this round are still to be called.")
        raise Conflict(message, "round_under_way")
    now = utcnow()
    if recall is RecallChoice.ALL:
        stored.round += 1
        stored.started_at = None
    elif recall is RecallChoice.NOT_REACHED:
        recheck_unreached(session, stored)
    campaign = campaigns.start(session, caller, campaign_id)
    recheck(session, stored, OutreachStatus.WAITING, OutreachStatus.LEFT_OUT)
    recheck_stopped(session, stored)
    stored.started_at = stored.started_at or now
    stored.resumed_at = now
    session.flush()
    wake(session, CAMPAIGNS)
    return campaign


def pause(session: Session, caller: Caller, campaign_id: UUID) -> Campaign:
    """Call no more contacts. Waiting calls are cancelled, and their contacts are called when the
    campaign resumes. Raises the same errors as `start`, except those of the plan."""
    campaign = campaigns.lock_campaign(session, caller, campaign_id)
    lock_plan(session, campaign)
    return campaigns.pause(session, caller, campaign_id)
