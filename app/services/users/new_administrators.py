"""Mail a partner's administrators about each user who may manage others or the brand."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallerKind, Role, UserStatus
from app.models import MailKind, Organization, User
from app.policy.caller import Caller
from app.services import mail_queue

ROLES = frozenset({Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN, Role.OWNER})


def announce(session: Session, caller: Caller, user: User, *, role_changed: bool = False) -> None:
    """Queue a mail to the administrators and to the caller if the user, who is new or whose
    ``role_changed``, has one of `ROLES` now. The user gets none, and actions of the command line
    send none."""
    if caller.kind is CallerKind.SYSTEM or user.role not in ROLES or user.partner_id is None:
        return
    organization = session.get(Organization, user.organization_id) if user.organization_id else None
    mail_queue.enqueue_to_administrators(
        session,
        MailKind.ADMINISTRATOR_ADDED,
        user.partner_id,
        details={
            "who": user.email,
            "role": user.role.value,
            "invited": user.status is UserStatus.INVITED,
            "role_changed": role_changed,
            "organization": organization.name if organization else None,
            "by": caller.label,
            "userId": str(user.id),
        },
        also=[caller.user_id],
        without=user.id,
    )


def mail_owners(session: Session, caller: Caller, organization_ids: Sequence[UUID]) -> None:
    """Queue one mail about the owners of these new organizations to the administrators and to the
    caller; actions of the command line send none."""
    query = (
        select(User, Organization.name)
        .join(Organization, Organization.id == User.organization_id)
        .where(User.organization_id.in_(organization_ids), User.role == Role.OWNER)
        .order_by(Organization.name, User.email)
    )
    owners = session.execute(query).all()
    if len(owners) == 1:
        announce(session, caller, owners[0][0])
    if len(owners) < 2 or caller.kind is CallerKind.SYSTEM or caller.partner_id is None:
        return
    mail_queue.enqueue_to_administrators(
        session,
        MailKind.ADMINISTRATOR_ADDED,
        caller.partner_id,
        details={"owners": [[name, user.email] for user, name in owners], "by": caller.label},
        also=[caller.user_id],
    )
