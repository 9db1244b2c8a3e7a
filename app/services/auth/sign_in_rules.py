"""Whether and how the users of partners and organizations may sign in."""

from typing import TypeVarTuple
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.models import IdentityProvider, Organization, Partner, User

Columns = TypeVarTuple("Columns")


def of_open_tenants(query: Select[*Columns]) -> Select[*Columns]:
    """Keep those of the users whose partner isn't suspended and whose organization, if they have
    one, is active. Joins both to a query of users."""
    return (
        query.outerjoin(Partner, Partner.id == User.partner_id)
        .outerjoin(Organization, Organization.id == User.organization_id)
        .where(
            Partner.suspended_at.is_(None),
            Organization.id.is_(None) | (Organization.status == OrganizationStatus.ACTIVE),
        )
    )


def able_to_sign_in(query: Select[*Columns]) -> Select[*Columns]:
    """Keep those of the users who may sign in: active ones of `of_open_tenants`."""
    return of_open_tenants(query).where(User.status == UserStatus.ACTIVE)


def usable_user(session: Session, user_id: UUID) -> User | None:
    """Return the user if they may sign in now: they, their organization and partner are active."""
    query = able_to_sign_in(select(User)).where(User.id == user_id)
    return session.scalars(query).one_or_none()


def required_provider(session: Session, user: User) -> str | None:
    """Return the name of the company account that the user must sign in with; None if a password is
    enough.

    It can be required of a partner's staff. Partner admins keep their password: it keeps the portal
    accessible while the provider is down.
    """
    if user.partner_id is None or user.organization_id is not None:
        return None
    if user.role is Role.PARTNER_ADMIN:
        return None
    query = select(IdentityProvider.name).where(
        IdentityProvider.partner_id == user.partner_id, IdentityProvider.required_for_staff
    )
    return session.scalars(query.order_by(IdentityProvider.name).limit(1)).one_or_none()
