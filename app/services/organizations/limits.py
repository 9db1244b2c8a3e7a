"""The limit of an organization's users; 0 means no limit."""

from collections import Counter
from collections.abc import Collection
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Tier, UserStatus
from app.errors import ValidationFailed
from app.languages import gettext
from app.languages.numbers import localize_number
from app.models import Organization, Partner, User
from app.policy import Permission
from app.policy.caller import Caller

USUAL_USER_LIMITS = {Tier.FREE: 3, Tier.BASIC_TRIAL: 10, Tier.BASIC: 10, Tier.PLUS: 50}
"""The default user limit of a new organization on each plan."""


def claim_seat(session: Session, caller: Caller, organization_id: UUID) -> None:
    """Check that one more user fits. Raises `ValidationFailed` (``user_limit_reached``).

    Deactivated users take no seat. The organization's row stays locked until the transaction ends,
    so that only one of several concurrent requests gets the last seat.
    """
    organization = session.get_one(
        Organization, organization_id, with_for_update=True, populate_existing=True
    )
    message = no_seat(session, caller, organization)
    if message is not None:
        raise ValidationFailed(message, "user_limit_reached")


def no_seat(session: Session, caller: Caller, organization: Organization) -> str | None:
    """Return why no more user fits into the organization, and what the caller can do; None if one
    fits."""
    if not organization.user_limit:
        return None
    seats = seats_taken(session, organization.id)
    if seats < organization.user_limit:
        return None
    if not caller.may(Permission.ORGANIZATIONS_WRITE):
        return _no_seat_for_members(session, organization, seats)
    return gettext(
        "%(name)s has %(taken)s of %(limit)s users. Raise its user limit or deactivate a user.",
        name=organization.name,
        taken=seats,
        limit=organization.user_limit,
    )


def _no_seat_for_members(session: Session, organization: Organization, seats: int) -> str:
    usage = gettext(
        "Your organization uses %(used)s of %(limit)s seats.",
        used=localize_number(seats),
        limit=localize_number(organization.user_limit),
    )
    partner = session.get_one(Partner, organization.partner_id)
    way_out = gettext(
        "Deactivate a user, or write to %(contact)s to raise the limit.",
        contact=partner.support_email or partner.name,
    )
    return f"{usage} {way_out}"


def seats_taken(session: Session, organization_id: UUID) -> int:
    """Return how many users take a seat."""
    return seats_taken_by(session, [organization_id])[organization_id]


def seats_taken_by(session: Session, organization_ids: Collection[UUID]) -> Counter[UUID]:
    """Return the same for each of the organizations, in one query."""
    taken = (
        select(User.organization_id, func.count())
        .where(User.organization_id.in_(organization_ids), User.status != UserStatus.DEACTIVATED)
        .group_by(User.organization_id)
    )
    return Counter({id_: count for id_, count in session.execute(taken) if id_ is not None})
