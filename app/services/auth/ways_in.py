"""Which ways of signing in a partner allows its users."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import IdentityProvider, User


def required_provider(session: Session, user: User) -> str | None:
    """Return the name of the company account that the user must sign in with; None if a password
    is enough.

    It can be required of a partner's staff. Partner admins keep their password: they are the way
    back while the provider is down.
    """
    if user.partner_id is None or user.organization_id is not None:
        return None
    if user.role is Role.PARTNER_ADMIN:
        return None
    query = select(IdentityProvider.name).where(
        IdentityProvider.partner_id == user.partner_id, IdentityProvider.required_for_staff
    )
    return session.scalars(query.order_by(IdentityProvider.name).limit(1)).one_or_none()
