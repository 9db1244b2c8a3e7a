"""The trial of a partner: while it lasts, its organizations can call only verified numbers."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.models import Partner, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.partners.loading import get


def end_trial(session: Session, caller: Caller, partner_id: UUID) -> Partner:
    """Let the partner's organizations out of trial mode, except those in a trial of their own.

    Ending twice is no error. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    if partner.trial_ended_at is None:
        partner.trial_ended_at = utcnow()
        _record(session, caller, partner, "trial_ended")
    return partner


def start_trial(session: Session, caller: Caller, partner_id: UUID) -> Partner:
    """Put all organizations of the partner back into trial mode, accepted calls included.

    Starting twice is no error. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    if partner.trial_ended_at is not None:
        partner.trial_ended_at = None
        _record(session, caller, partner, "trial_started")
    return partner


def _record(session: Session, caller: Caller, partner: Partner, verb: str) -> None:
    partner.version += 1
    session.flush()
    audit.record_change(session, caller, f"partner.{verb}", partner)
