"""What an organization may have at most. A limit of 0 is no limit.

Both checks hold the organization's row until the transaction ends, so that of several that want
the last place exactly one gets it.
"""

from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import UserStatus
from app.errors import ValidationFailed
from app.models import Agent, Organization, User


def claim_seat(session: Session, organization_id: UUID) -> None:
    """Makes sure that one more user fits. Raises `ValidationFailed` (``user_limit_reached``).

    Deactivated users hold no seat.
    """
    organization = _held(session, organization_id)
    taken = session.scalar(
        select(func.count())
        .select_from(User)
        .where(User.organization_id == organization_id, User.status != UserStatus.DEACTIVATED)
    )
    if organization.user_limit and (taken or 0) >= organization.user_limit:
        message = (
            f"{organization.name} has {taken} of {organization.user_limit} users: "
            "raise its user limit, or deactivate somebody."
        )
        raise ValidationFailed(message, "user_limit_reached")


def claim_agent_place(session: Session, organization_id: UUID) -> None:
    """Makes sure that one more assistant fits. Raises `ValidationFailed`
    (``agent_limit_reached``)."""
    organization = _held(session, organization_id)
    taken = session.scalar(
        select(func.count()).select_from(Agent).where(Agent.organization_id == organization_id)
    )
    if organization.agent_limit and (taken or 0) >= organization.agent_limit:
        message = (
            f"{organization.name} has {taken} of {organization.agent_limit} assistants: "
            "raise its assistant limit first."
        )
        raise ValidationFailed(message, "agent_limit_reached")


def _held(session: Session, organization_id: UUID) -> Organization:
    return session.scalars(
        select(Organization)
        .where(Organization.id == organization_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()
