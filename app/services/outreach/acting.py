"""Starting, pausing and going on: campaigns call somebody only by a person's act."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import OutreachState
from app.errors import Conflict
from app.gateways.job_queue import CAMPAIGNS
from app.gateways.wake import wake
from app.models import Campaign, utcnow
from app.policy.caller import Caller
from app.services import campaigns
from app.services.outreach.plans import locked, look_again, look_at_stopped_again
from app.services.outreach.progress import progress_of


def start(
    session: Session,
    caller: Caller,
    campaign_id: UUID,
    *,
    again: bool = False,
    expected_version: int | None = None,
) -> Campaign:
    """From now on the campaign's contacts are called by its plan; goes on where it was paused.

    Who could not be called before is looked at again. ``again`` begins a further round once
    everybody was called. Raises `Forbidden`, `NotFound` and `Conflict` (``changed_meanwhile``,
    ``archived``, ``no_plan``, and ``round_under_way`` where a round has not ended).
    """
    campaign = campaigns.held(session, caller, campaign_id, expected_version)
    stored = locked(session, campaign)
    if stored is None:
        message = "Set when, by whom and with which words the contacts are called, then start."
        raise Conflict(message, "no_plan")
    if again and not progress_of(session, campaign).is_over:
        message = "Some contacts of this round are still to be called."
        raise Conflict(message, "round_under_way")
    now = utcnow()
    if again:
        stored.round += 1
        stored.started_at = None
    campaign = campaigns.start(session, caller, campaign_id)
    look_again(session, stored, OutreachState.WAITING, OutreachState.LEFT_OUT)
    look_at_stopped_again(session, stored)
    stored.started_at = stored.started_at or now
    stored.resumed_at = now
    session.flush()
    wake(session, CAMPAIGNS)
    return campaign


def pause(
    session: Session, caller: Caller, campaign_id: UUID, *, expected_version: int | None = None
) -> Campaign:
    """Nobody is called any more: calls that have not begun are taken back, and their contacts
    called when the campaign goes on. Raises as `start` does, but for the plan."""
    campaign = campaigns.held(session, caller, campaign_id, expected_version)
    locked(session, campaign)
    return campaigns.pause(session, caller, campaign_id)
