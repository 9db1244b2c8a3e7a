"""Roles and statuses of users, and the rule that a partner never loses its last administrator."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import Conflict, Forbidden, ValidationFailed
from app.languages import gettext
from app.models import Partner, User, is_erased
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, organizations
from app.services.auth import author_check, one_time_links, sessions
from app.services.partner_users import active_admins
from app.services.users import email_changes, new_administrators
from app.services.users.created_items import end_items, mail_administrators
from app.services.users.loading import MEMBERS, PARTNER_LEVEL, check_grant
from app.services.users.updating import lock_user


def change_role(
    session: Session,
    caller: Caller,
    user_id: UUID,
    role: Role,
    *,
    hand_over: Collection[UUID] = (),
) -> User:
    """Give a user of the partner's own staff, or a member, another role of the same kind. Items
    that they could not have created with that role end, except the items handed over to the caller.

    Raises `NotFound`, `Forbidden` (``own_role``, ``role_too_low``, ``hand_over_not_allowed``),
    `ValidationFailed` (``role_needs_organization``) and `Conflict` (``last_partner_admin``,
    ``account_in_use``).
    """
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    check_grant(caller, role)
    if user.id == caller.subject_id:
        message = gettext("You can't change your own role. Ask another administrator.")
        raise Forbidden(message, "own_role")
    if user.role is role:
        return user
    if not any({user.role, role} <= kind for kind in (PARTNER_LEVEL, MEMBERS)):
        message = gettext(
            "Members belong to an organization, other users don't. Create a new user instead."
        )
        raise ValidationFailed.on("userType", "role_needs_organization", message)
    _refuse_last_administrator(session, user)
    author_check.access_changes(session, user.id)
    before = user.role
    ended = end_items(session, caller, user, role=role, hand_over=hand_over)
    user.role = role
    user.admin_owned = role is Role.ADMIN
    after = {"userType": role} | ended.audit_values()
    audit.record_version(
        session, caller, "user.role_changed", user, before={"userType": before}, after=after
    )
    mail_administrators(session, caller, user, "role_changed", ended)
    new_administrators.announce(session, caller, user, role_changed=True)
    return user


def suspend(session: Session, caller: Caller, user_id: UUID) -> User:
    """End every session of the user at once and block signing in; repeating it isn't an error.

    Raises `NotFound`, `Forbidden` (``own_account``, ``role_too_low``) and `Conflict`
    (``last_partner_admin``, ``deactivated``).
    """
    user = _lock_changeable(session, caller, user_id, UserStatus.SUSPENDED)
    if user.status is not UserStatus.SUSPENDED:
        _end_access(session, caller, user, UserStatus.SUSPENDED, {})
    return user


def deactivate(
    session: Session, caller: Caller, user_id: UUID, *, hand_over: Collection[UUID] = ()
) -> User:
    """End the account and free its seat. Everything that the user created ends too, except the
    items handed over to the caller.

    Raises as `suspend`, and `Forbidden` (``hand_over_not_allowed``) and `Conflict`
    (``account_in_use``) as `end_items`.
    """
    user = _lock_changeable(session, caller, user_id, UserStatus.DEACTIVATED)
    if user.status is not UserStatus.DEACTIVATED:
        ended = end_items(session, caller, user, hand_over=hand_over)
        _end_access(session, caller, user, UserStatus.DEACTIVATED, ended.audit_values())
        mail_administrators(session, caller, user, "deactivated", ended)
    return user


def reactivate(session: Session, caller: Caller, user_id: UUID) -> User:
    """Let the user sign in again; one who never signed in is ``invited`` again.

    Raises `NotFound`, `Forbidden`, `ValidationFailed` (``user_limit_reached``) if the seat was
    given to another user, and `Conflict` (``erased``).
    """
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    check_grant(caller, user.role)
    if user.status in {UserStatus.ACTIVE, UserStatus.INVITED}:
        return user
    if is_erased(user.email):
        message = gettext("This user was erased. Invite them again with their address.")
        raise Conflict(message, "erased")
    if user.status is UserStatus.DEACTIVATED and user.organization_id is not None:
        organizations.claim_seat(session, caller, user.organization_id)
    never_came = user.password_hash is None and user.last_sign_in is None
    status = UserStatus.INVITED if never_came else UserStatus.ACTIVE
    _set_status(session, caller, user, status, "reactivated")
    return user


def _lock_changeable(session: Session, caller: Caller, user_id: UUID, status: UserStatus) -> User:
    """Return the user, if the caller may give them this status."""
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    if user.id == caller.subject_id:
        message = gettext("You can't suspend or deactivate yourself. Ask another administrator.")
        raise Forbidden(message, "own_account")
    if user.status is UserStatus.DEACTIVATED and status is not user.status:
        message = gettext("The account is deactivated. There is nothing to suspend.")
        raise Conflict(message, "deactivated")
    return user


def _end_access(
    session: Session, caller: Caller, user: User, status: UserStatus, audit_values: dict[str, Any]
) -> None:
    """End everything that gives the user access; ``audit_values`` is added to the history."""
    _refuse_last_administrator(session, user)
    author_check.access_changes(session, user.id)
    _set_status(session, caller, user, status, status.value, audit_values)
    sessions.end_all_of_user(session, user.id)
    one_time_links.end_all(session, user.id)
    email_changes.end(session, caller, user)


def _set_status(
    session: Session,
    caller: Caller,
    user: User,
    status: UserStatus,
    verb: str,
    more: dict[str, Any] | None = None,
) -> None:
    before = user.status
    user.status = status
    after = {"status": status} | (more or {})
    audit.record_version(
        session, caller, f"user.{verb}", user, before={"status": before}, after=after
    )


def _refuse_last_administrator(session: Session, user: User) -> None:
    """Refuse if the user is the partner's last active administrator.

    Locks the partner's row, so that two administrators can't remove each other at the same time.
    """
    if user.user_type is not Role.PARTNER_ADMIN or user.status is not UserStatus.ACTIVE:
        return
    partner_row = select(Partner.id).where(Partner.id == user.partner_id)
    session.execute(partner_row.with_for_update(key_share=True))
    other_admins = active_admins(user.partner_id).where(User.id != user.id)
    if session.scalar(other_admins.limit(1)) is None:
        message = gettext("This is the partner's last active administrator. Add another one first.")
        raise Conflict(message, "last_partner_admin")
