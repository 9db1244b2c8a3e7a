"""Accept a link from a mail: the invitation, or the one for a (new) password."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import UserStatus
from app.models import LinkPurpose, User
from app.services import audit, users
from app.services.auth import (
    attempt_limits,
    one_time_links,
    sessions,
    sign_in,
    sign_in_rules,
    throttle,
)
from app.services.auth.sign_in import SignInOutcome

INVITATION = (LinkPurpose.INVITATION,)
PASSWORD = (LinkPurpose.SET_PASSWORD, LinkPurpose.RESET_PASSWORD)


def user_of_link(
    session: Session, token: str, purposes: tuple[LinkPurpose, ...], partner_id: UUID | None
) -> User:
    """Return the link's user, without using it up.

    Raises `NotFound` (``link_invalid``) if it is used, expired, of another purpose or partner, or
    if its user may not sign in.
    """
    user = one_time_links.look_up(session, token, *purposes)
    _check_usable(session, user, purposes, partner_id)
    return user


def accept(
    session: Session,
    token: str,
    purposes: tuple[LinkPurpose, ...],
    partner_id: UUID | None,
    *,
    password_hash: str,
    name: str | None = None,
    ip: str | None,
    request_id: str | None = None,
    host: str = "",
) -> SignInOutcome:
    """Use the link up: set the password, end every session, and sign in, or begin the second step:
    a mailed link doesn't replace it. It does neither if a company account is required
    (`sign_in_rules.required_provider`). An invitation is accepted by that. Raises as
    `user_of_link`."""
    user = one_time_links.redeem(session, token, *purposes)
    _check_usable(session, user, purposes, partner_id)
    caller = sessions.caller_of(user, ip=ip, request_id=request_id)
    if user.status is UserStatus.INVITED:
        before = {"status": user.status, "name": user.name}
        user.status, user.name = UserStatus.ACTIVE, name or user.name
        after = {"status": user.status, "name": user.name}
        audit.record_version(session, caller, "user.joined", user, before=before, after=after)
    users.set_password(session, caller, user, password_hash)
    throttle.reset_after_success(session, [attempt_limits.of_recovery_mails(user.id)])
    if sign_in_rules.required_provider(session, user):
        return SignInOutcome()
    return sign_in.finish_first_step(session, user, ip, request_id, host=host)


def _check_usable(
    session: Session, user: User, purposes: tuple[LinkPurpose, ...], partner_id: UUID | None
) -> None:
    required_status = UserStatus.INVITED if purposes == INVITATION else UserStatus.ACTIVE
    query = sign_in_rules.of_open_tenants(select(User.id)).where(
        User.id == user.id, User.status == required_status
    )
    if user.partner_id != partner_id or session.scalar(query) is None:
        raise one_time_links.invalid_link_error()
