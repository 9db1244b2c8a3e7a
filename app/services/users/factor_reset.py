"""Resetting lost second factors, by an administrator or the operator.

A mailed link alone never does: access to the mailbox must not be enough to become the user.
"""

from uuid import UUID

from sqlalchemy.orm import Session

from app.errors import Forbidden, NotFound
from app.languages import gettext
from app.models import User
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.auth import sessions
from app.services.factors import own_factors
from app.services.users.loading import check_grant
from app.services.users.updating import lock_user


def reset(session: Session, caller: Caller, user_id: UUID) -> User:
    """Remove all second factors of a user whose role the caller could give, and end their sessions.

    Raises `NotFound` and `Forbidden` (``own_factors``, ``role_too_low``).
    """
    user = _lock_changeable(session, caller, user_id)
    if user.second_factor_at is not None:
        own_factors.remove_all(session, caller, user)
    return user


def reset_by_operator(session: Session, caller: Caller, user_id: UUID) -> User:
    """Remove all second factors of any user, also of an operator or a last administrator.

    Raises `Forbidden` for callers other than the command line, and `NotFound`.
    """
    caller.require_command_line("Reset these second factors on the command line.")
    # nosemgrep: row-by-id-for-a-caller - only the command line gets here
    user = session.get(User, user_id, with_for_update=True, populate_existing=True)
    if user is None:
        message = "There is no such user."
        raise NotFound(message, "user_not_found")
    own_factors.remove_all(session, caller, user)
    return user


def sign_out(session: Session, caller: Caller, user_id: UUID) -> User:
    """End all sessions of a user whose role the caller could give. Raises as `reset`."""
    user = _lock_changeable(session, caller, user_id)
    count = sessions.end_all_of_user(session, user.id)
    audit.record_change(session, caller, "user.signed_out", user, after={"sessions": count})
    return user


def _lock_changeable(session: Session, caller: Caller, user_id: UUID) -> User:
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    check_grant(caller, user.role)
    if user.id == caller.subject_id:
        message = gettext("Change your own sign-in in your account.")
        raise Forbidden(message, "own_factors")
    return user
