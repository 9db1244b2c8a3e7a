"""Suspending and resuming partners, and their trial: while it lasts, their organizations can call
only verified numbers."""

from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.models import OfferedAccount, OneTimeLink, Partner, PortalSession, User, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.partners.loading import get


def suspend(session: Session, caller: Caller, partner_id: UUID) -> Partner:
    """End all access of the partner from the next request on: sessions, tokens, API keys and API
    clients. Waiting calls end when their turn comes.

    Sessions and the links of mails end for good; credentials work again after `reactivate`.
    Suspending twice isn't an error. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    if partner.suspended_at is None:
        partner.suspended_at = utcnow()
        _record_status(session, caller, partner, "suspended")
        users = select(User.id).where(User.partner_id == partner.id)
        for model in (PortalSession, OfferedAccount, OneTimeLink):
            statement = delete(model).where(model.user_id.in_(users))
            session.execute(statement.execution_options(synchronize_session=False))
    return partner


def reactivate(session: Session, caller: Caller, partner_id: UUID) -> Partner:
    """End a suspension; an active partner stays active. Raises `Forbidden` and `NotFound`."""
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    if partner.suspended_at is not None:
        partner.suspended_at = None
        _record_status(session, caller, partner, "resumed")
    return partner


def end_trial(session: Session, caller: Caller, partner_id: UUID) -> Partner:
    """Let the partner's organizations out of trial mode, except those in a trial of their own.

    Ending twice isn't an error. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    if partner.trial_ended_at is None:
        partner.trial_ended_at = utcnow()
        _record_status(session, caller, partner, "trial_ended")
    return partner


def start_trial(session: Session, caller: Caller, partner_id: UUID) -> Partner:
    """Put all organizations of the partner back into trial mode, accepted calls included.

    Starting twice isn't an error. Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    if partner.trial_ended_at is not None:
        partner.trial_ended_at = None
        _record_status(session, caller, partner, "trial_started")
    return partner


def _record_status(session: Session, caller: Caller, partner: Partner, verb: str) -> None:
    audit.record_version(session, caller, f"partner.{verb}", partner)
