"""The active users of a partner."""

from uuid import UUID

from sqlalchemy import Select, select

from app.enums import Role, UserStatus
from app.models import User


def active_users(partner_id: UUID | None) -> Select[User]:
    """Return the query of a partner's active users, also those of its organizations, by ID."""
    of_partner = User.partner_id == partner_id
    return select(User).where(of_partner, User.status == UserStatus.ACTIVE).order_by(User.id)


def active_admins(partner_id: UUID | None) -> Select[User]:
    """Return the query of a partner's active administrators, by ID."""
    return active_users(partner_id).where(User.user_type == Role.PARTNER_ADMIN)
