"""Make a member of a user of the partner's own staff who has never signed in."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import Conflict, ValidationFailed
from app.languages import gettext
from app.models import User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, organizations, rollup
from app.services.auth import author_check, one_time_links
from app.services.users import new_administrators
from app.services.users.changing import lock_user
from app.services.users.loading import MEMBERS, check_grant


def make_member(
    session: Session, caller: Caller, user_id: UUID, role: Role, organization_id: UUID
) -> User:
    """Give a user without an organization a member's role in one. Nothing belongs to them yet, so
    nothing changes hands; links that were mailed before end.

    Raises `NotFound`, `Forbidden` (``role_too_low``), `ValidationFailed` (``user_limit_reached``,
    ``role_needs_organization``) and `Conflict` (``signed_in_before``).
    """
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    check_grant(caller, role)
    if role not in MEMBERS or user.organization_id is not None:
        message = gettext("Members have an organization, all others have none.")
        raise ValidationFailed.on("userType", "role_needs_organization", message)
    if user.last_sign_in is not None or user.password_hash is not None:
        message = gettext(
            "%(email)s has signed in before and can’t move to an organization or out of one.",
            email=user.email,
        )
        raise Conflict(message, "signed_in_before")
    organization = organizations.get(session, caller, organization_id)
    if user.status is not UserStatus.DEACTIVATED:
        organizations.claim_seat(session, organization.id)
    author_check.access_changes(session, user.id)
    one_time_links.end_all(session, user.id)
    before = {"userType": user.role, "organization": None}
    user.role = role
    user.admin_owned = False
    user.organization_id = organization.id
    user.version += 1
    session.flush()
    rollup.add_user(session, organization.partner_id, organization.id, user.created_at)
    after = {"userType": role, "organization": organization.name}
    audit.record_change(session, caller, "user.role_changed", user, before=before, after=after)
    new_administrators.mail(session, caller, user)
    return user
