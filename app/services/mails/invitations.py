"""Send a user's invitation, or the link for their first password, again."""

from uuid import UUID

from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, UserStatus
from app.errors import Conflict
from app.languages import gettext
from app.models import MailKind, Organization, Partner, User, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, mail_queue, organizations
from app.services.tenancy import ORGANIZATION_SUSPENDED, refuse_archived, suspended_message
from app.services.users.loading import check_grant
from app.services.users.updating import lock_user


def send_invitation(session: Session, caller: Caller, user_id: UUID) -> User:
    """Send a new link to a user who has not signed in yet; earlier links work until one is used.

    While the last mail waits for its first attempt, nothing more is sent; one that waits for a
    further attempt is replaced. Raises `Forbidden` (``role_too_low``, ``insufficient_scope``),
    `NotFound` and `Conflict` (``partner_suspended``, ``organization_suspended``,
    ``archived``, ``already_joined``, ``not_active``).
    """
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    check_grant(caller, user.role)
    partner = session.get(Partner, user.partner_id) if user.partner_id else None
    if partner is not None and partner.suspended_at is not None:
        raise Conflict(suspended_message(partner.name), "partner_suspended")
    if user.organization_id is not None:
        _refuse_closed(organizations.get(session, caller, user.organization_id))
    if user.status in (UserStatus.SUSPENDED, UserStatus.DEACTIVATED):
        message = gettext("This user can't sign in. Reactivate the account first.")
        raise Conflict(message, "not_active")
    if user.status is UserStatus.ACTIVE and user.password_hash is not None:
        message = gettext("This user already has a password. No invitation is needed.")
        raise Conflict(message, "already_joined")
    kind = MailKind.SET_PASSWORD if user.status is UserStatus.ACTIVE else MailKind.INVITATION
    last = mail_queue.latest(session, user.id, kind)
    if last is not None and not last.is_over:
        if last.failure is None:
            return user
        last.failed_at, last.failure = utcnow(), "replaced by a newer one"
    user.invited_by_id = caller.subject_id
    mail_queue.enqueue(session, kind, partner_id=user.partner_id, user_id=user.id)
    audit.record_change(session, caller, "user.invitation_sent", user, after={"email": user.email})
    return user


def _refuse_closed(organization: Organization) -> None:
    """Raise `Conflict` (``organization_suspended``, ``archived``)."""
    refuse_archived(organization)
    if organization.status is OrganizationStatus.SUSPENDED:
        raise Conflict(suspended_message(organization.name), ORGANIZATION_SUSPENDED)
