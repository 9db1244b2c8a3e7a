"""The access that the directory's groups give to users.

A user has the highest role of their groups, else the partner's default for users of the directory,
which is for staff: members have none. Without either the account waits, deactivated, until a group
gives a role.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, UserStatus
from app.errors import Conflict
from app.languages import gettext
from app.models import Organization, ScimGroup, ScimMember, ScimSettings, ScimUser, User
from app.policy.caller import Caller
from app.services import users
from app.services.auth import sign_in_rules
from app.services.mails import invitations
from app.services.users.loading import MEMBERS
from app.services.users.updating import make_member

HIGHEST_FIRST = (
    Role.PARTNER_ADMIN,
    Role.ADMIN,
    Role.PARTNER_EDITOR,
    Role.OWNER,
    Role.STANDARD,
)
"""The roles that groups can give."""
ACTIVE = frozenset({UserStatus.ACTIVE, UserStatus.INVITED})


@dataclass(frozen=True, slots=True)
class RoleAssignment:
    """A role, and the organization of a member."""

    role: Role
    organization_id: UUID | None = None


def is_active(user: User, stored: ScimUser | None) -> bool:
    """Return whether the directory sees the user as active, which includes accounts that wait for a
    role."""
    return user.status in ACTIVE or (stored is not None and stored.waits_for_role)


def assignment_of(session: Session, user: User) -> RoleAssignment | None:
    """Return what the groups of a user give, otherwise the default; None means no access."""
    rows = session.execute(
        select(ScimGroup.role, ScimGroup.organization_id)
        .join(ScimMember, ScimMember.group_id == ScimGroup.id)
        .where(
            ScimMember.user_id == user.id,
            ScimMember.partner_id == user.partner_id,
            ScimGroup.role.is_not(None),
        )
        .order_by(ScimGroup.created_at, ScimGroup.id)
    ).all()
    assignments = [
        RoleAssignment(role, organization_id) for role, organization_id in rows if role is not None
    ]
    if assignments:
        return min(assignments, key=lambda assignment: HIGHEST_FIRST.index(assignment.role))
    return default_assignment(session, user.partner_id) if user.organization_id is None else None


def default_assignment(session: Session, partner_id: UUID | None) -> RoleAssignment | None:
    """Return the partner's default for users in no group with a role."""
    settings = session.get(ScimSettings, partner_id) if partner_id else None
    return (
        RoleAssignment(settings.default_role)
        if settings is not None and settings.default_role
        else None
    )


def row_of(session: Session, user: User) -> ScimUser:
    """Return the directory's data about a user, who is locked; added if it is missing."""
    stored = session.get(ScimUser, user.id, populate_existing=True)
    if stored is None:
        stored = ScimUser(user_id=user.id, partner_id=user.partner_id)
        session.add(stored)
        session.flush()
    return stored


def apply_to(session: Session, caller: Caller, user_ids: Iterable[UUID]) -> None:
    """Give users the access of their groups, in a fixed order so that concurrent changes don't
    deadlock.

    Raises as `apply`.
    """
    for user_id in sorted(user_ids):
        user = users.get(session, caller, user_id, for_change=True)
        apply(session, caller, user)


def apply(session: Session, caller: Caller, user: User) -> None:
    """Give a user, who is locked, the access of their groups. A user who is inactive in the
    directory or suspended here stays unchanged.

    Raises `Conflict` (``last_partner_admin``, ``signed_in_before``, ``other_organization``),
    `Forbidden` (``own_role``, ``own_account``) and `ValidationFailed` (``user_limit_reached``);
    nothing is saved then.
    """
    stored = row_of(session, user)
    if is_active(user, stored):
        activate(session, caller, user, stored)


def activate(session: Session, caller: Caller, user: User, stored: ScimUser) -> None:
    """Apply the access of a user that the directory activates; suspended ones stay suspended.
    Raises as `apply`."""
    if user.status is UserStatus.SUSPENDED:
        return
    assignment = assignment_of(session, user)
    if assignment is None:
        stored.waits_for_role = True
        session.flush()
        users.deactivate(session, caller, user.id)
        return
    _assign(session, caller, user, assignment)
    if user.status is UserStatus.DEACTIVATED:
        users.reactivate(session, caller, user.id)
        invite(session, caller, user)
    stored.waits_for_role = False
    session.flush()


def deactivate(session: Session, caller: Caller, user: User, stored: ScimUser) -> None:
    """End the access of a user that the directory has made inactive. Raises as
    `users.deactivate`."""
    stored.waits_for_role = False
    session.flush()
    if user.status in ACTIVE:
        users.deactivate(session, caller, user.id)


def invite(session: Session, caller: Caller, user: User) -> None:
    """Mail the invitation, unless the user signs in with a company account only, or the
    organization is suspended. Raises `Conflict` (``archived``)."""
    organization = session.get(Organization, user.organization_id) if user.organization_id else None
    is_suspended = organization and organization.status is OrganizationStatus.SUSPENDED
    if user.status is not UserStatus.INVITED or is_suspended:
        return
    if not sign_in_rules.required_provider(session, user):
        invitations.send_invitation(session, caller, user.id)


def _assign(session: Session, caller: Caller, user: User, assignment: RoleAssignment) -> None:
    """Give the user the role, and the organization."""
    if (
        assignment.role in MEMBERS
        and user.organization_id is None
        and assignment.organization_id is not None
    ):
        make_member(session, caller, user.id, assignment.role, assignment.organization_id)
        invite(session, caller, user)
        return
    if assignment.organization_id != user.organization_id:
        message = gettext(
            "%(email)s belongs to another organization, or the group is for another kind of user.",
            email=user.email,
        )
        raise Conflict(message, "other_organization")
    if user.role is not assignment.role:
        users.change_role(session, caller, user.id, assignment.role)
