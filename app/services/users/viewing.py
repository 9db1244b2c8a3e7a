"""View-as: an operator sees a partner's portal as one of its users, for half an hour.

Nothing can be changed meanwhile (`Caller.viewed_by`). The view belongs to the operator's session.
"""

from datetime import timedelta
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.errors import Conflict, Forbidden, NotFound, ValidationFailed
from app.languages import gettext
from app.models import MailKind, PortalSession, User, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, mail_queue
from app.services.auth import sign_in_rules
from app.services.auth.tokens import hash_of
from app.services.users.loading import get

LASTS = timedelta(minutes=30)
MAX_REASON_LENGTH = 200


def may_view_as(session: Session, caller: Caller, user: User) -> bool:
    """Return whether the caller may see the portal as this user: operators, as users who can sign
    in."""
    if not caller.may(Permission.PARTNER_CREATE) or caller.user_id is None:
        return False
    if user.partner_id is None:
        return False
    return sign_in_rules.usable_user(session, user.id) is not None


def view_as(
    session: Session, caller: Caller, token: str | None, user_id: UUID, reason: str
) -> User:
    """Show the portal as the user in the session with this token, from its next request on.

    The partner's administrators get a mail and a notification with the reason. Raises `Forbidden`,
    `NotFound`, `ValidationFailed` (``blank``, ``too_long``) and `Conflict` (``not_active``).
    """
    caller.require(Permission.PARTNER_CREATE)
    user = get(session, caller, user_id)
    reason = reason.strip()
    if not reason or len(reason) > MAX_REASON_LENGTH:
        too_long = gettext("Too long. Use at most %(most)s.", most=MAX_REASON_LENGTH)
        message = too_long if reason else gettext("Enter a reason.")
        raise ValidationFailed.on("reason", "too_long" if reason else "blank", message)
    if not may_view_as(session, caller, user):
        message = gettext("This user can’t sign in. Choose an active user of an active partner.")
        raise Conflict(message, "not_active")
    until = utcnow() + LASTS
    _set_viewed_user(session, caller, token, user.id, until)
    after = {"reason": reason, "until": until}
    audit.record_change(session, caller, "user.viewed", user, after=after)
    _record_for_operators(session, caller, "operator.view_started", user, after)
    _mail_admins(session, caller, user, reason)
    return user


def stop(session: Session, operator: Caller, token: str | None) -> None:
    """End the view of the session with this token. Repeating it isn't an error.

    Raises `NotFound` (``session_not_found``) for another user's session.
    """
    query = select(PortalSession.viewed_user_id).where(
        PortalSession.token_hash == hash_of(token or ""),
        PortalSession.user_id == operator.user_id,
    )
    viewed_id = session.scalar(query.with_for_update())
    if viewed_id is None:
        return
    _set_viewed_user(session, operator, token, None, None)
    user = session.get(User, viewed_id)
    if user is not None:
        audit.record_change(session, operator, "user.view_ended", user)
        _record_for_operators(session, operator, "operator.view_ended", user, {})


def _set_viewed_user(
    session: Session, operator: Caller, token: str | None, user_id: UUID | None, until: object
) -> None:
    statement = update(PortalSession).where(
        PortalSession.token_hash == hash_of(token or ""),
        PortalSession.user_id == operator.user_id,
    )
    changed = session.execute(
        statement.values(viewed_user_id=user_id, viewed_until=until)
        .returning(PortalSession.token_hash)
        .execution_options(synchronize_session=False)
    )
    if not changed.all():
        message = gettext("This session has ended. Sign in again.")
        raise NotFound(message, "session_not_found")


def _record_for_operators(
    session: Session, caller: Caller, action: str, user: User, after: dict[str, object]
) -> None:
    """Add the entry of the installation's own history, which no partner sees."""
    if caller.partner_id is not None:
        message = "Only operators view portals as other users."
        raise Forbidden(message, "insufficient_scope")
    audit.record(
        session,
        caller,
        action=action,
        target_type="user",
        target_id=user.id,
        target=user.email,
        after=after,
    )


def _mail_admins(session: Session, caller: Caller, user: User, reason: str) -> None:
    if user.partner_id is not None:
        details = {"operator": caller.label, "as": user.email, "reason": reason}
        mail_queue.enqueue_to_administrators(
            session, MailKind.PORTAL_VIEWED, user.partner_id, details=details
        )
