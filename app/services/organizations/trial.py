"""The trial of an organization, and of its partner: while one lasts, it can call only verified
numbers."""

from enum import StrEnum
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.errors import Conflict
from app.languages import gettext
from app.models import Organization, Partner, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.organizations.loading import get


class TrialSource(StrEnum):
    """The owner of the trial that keeps an organization in trial mode."""

    PARTNER = "partner"
    OWN = "own"


def trial_of(
    session: Session, organization: Organization, partner: Partner | None = None
) -> TrialSource | None:
    """Return the trial of an organization that came from its loader; None if it has none. The
    partner's trial has to end first; the ``partner`` is read unless it is given."""
    query = select(Partner.trial_ended_at).where(Partner.id == organization.partner_id)
    ended = partner.trial_ended_at if partner else session.scalar(query)
    if ended is None:
        return TrialSource.PARTNER
    return TrialSource.OWN if organization.trial_ended_at is None else None


def end_trial(session: Session, caller: Caller, organization_id: UUID) -> Organization:
    """Let the organization call every number that its rules allow. Ending twice isn't an error.

    Raises `Forbidden`, `NotFound` and `Conflict` (``partner_in_trial``).
    """
    caller.require(Permission.PARTNER_WRITE)
    organization = get(session, caller, organization_id, for_change=True)
    if organization.trial_ended_at is not None:
        return organization
    if trial_of(session, organization) is TrialSource.PARTNER:
        message = gettext(
            "The trial mode of the portal has to end first. Ask the platform operator to end it."
        )
        raise Conflict(message, "partner_in_trial")
    organization.trial_ended_at = utcnow()
    audit.record_version(session, caller, "organization.trial_ended", organization)
    return organization
