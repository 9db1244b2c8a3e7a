"""The platform's operators: users without a partner, created only on the command line."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import NotFound, ValidationFailed
from app.models import User
from app.policy.caller import Caller
from app.services import audit
from app.services.users import email_changes, factor_reset
from app.services.users.creating import email_key, refuse_no_email


def create(
    session: Session, caller: Caller, *, email: str, name: str | None, password_hash: str
) -> User:
    """Create an active operator.

    Raises `Forbidden` for callers other than the command line, and `ValidationFailed`
    (``invalid_email``, ``email_exists``).
    """
    caller.require_command_line("Create operators on the command line.")
    refuse_no_email(email)
    key = email_key(email)
    existing = select(User.id).where(User.partner_id.is_(None), User.email_key == key)
    if session.scalar(existing) is not None:
        message = "An operator with this email address exists already."
        raise ValidationFailed.on("email", "email_exists", message)
    user = User(
        email=email,
        email_key=key,
        name=name,
        user_type=Role.OPERATOR,
        password_hash=password_hash,
    )
    session.add(user)
    session.flush()
    audit.record_change(session, caller, "operator.created", user)
    return user


def reset_email(session: Session, caller: Caller, email: str, new_email: str) -> User:
    """Give an operator whose mailbox is lost a new address at once.

    Raises as `email_changes.reset`, and `NotFound` (``operator_not_found``).
    """
    return email_changes.reset_of(session, caller, _lock_operator(session, email), new_email)


def reset_factors(session: Session, caller: Caller, email: str) -> User:
    """Remove the second factors of an operator who lost them.

    Raises as `factor_reset.reset_by_operator`, and `NotFound` (``operator_not_found``).
    """
    return factor_reset.reset_by_operator(session, caller, _lock_operator(session, email).id)


def _lock_operator(session: Session, email: str) -> User:
    """Return the operator, locked. Raises `NotFound` (``operator_not_found``)."""
    query = select(User).where(User.partner_id.is_(None), User.email_key == email_key(email))
    locking = query.with_for_update().execution_options(populate_existing=True)
    user = session.scalars(locking).one_or_none()
    if user is None:
        message = "There is no such operator."
        raise NotFound(message, "operator_not_found")
    return user
