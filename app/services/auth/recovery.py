"""A forgotten password: asked for by anybody, answered to the holder of the address alone.

Asking does the same work for every address. Whose it is finds out the worker, so neither the
answer nor its time tells whether there is an account.
"""

from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, UserStatus
from app.models import Mail, MailKind, Organization, Partner, User
from app.services import mail_queue
from app.services.auth import throttle
from app.validation import emails

MOST_FROM_ONE_PLACE = 5
"""Requests for one address from one place within the window of `throttle`."""
MOST_FOR_AN_ADDRESS = 10
"""From wherever they come: nobody's mailbox can be flooded."""


def ask(session: Session, *, email: str, partner_id: UUID | None, ip: str | None) -> None:
    """Hands in the search for accounts with this address; ``partner_id`` None means all partners.

    Raises `RateLimited`, whether or not there is an account.
    """
    key = email.strip().lower()
    here = throttle.subject("recovery", key, ip)
    throttle.record_failure(session, here, MOST_FROM_ONE_PLACE)
    anywhere = throttle.subject("recovery", key, None)
    throttle.record_failure(session, anywhere, MOST_FOR_AN_ADDRESS)
    if emails.is_email(key):
        mail_queue.hand_in(session, MailKind.RECOVERY, partner_id=partner_id, to=key)


def answer(session: Session, request: Mail) -> None:
    """Asks for the mails that follow: a link for a new password, or the invitation once more."""
    query = (
        select(User)
        .outerjoin(Partner, Partner.id == User.partner_id)
        .outerjoin(Organization, Organization.id == User.organization_id)
        .where(
            User.email_key == request.to,
            User.status.in_((UserStatus.ACTIVE, UserStatus.INVITED)),
            Partner.suspended_at.is_(None),
            or_(Organization.id.is_(None), Organization.status == OrganizationStatus.ACTIVE),
        )
    )
    if request.partner_id is not None:
        query = query.where(User.partner_id == request.partner_id)
    for user in session.scalars(query):
        invited = user.status is UserStatus.INVITED
        kind = MailKind.INVITATION if invited else MailKind.RESET_PASSWORD
        mail_queue.hand_in(session, kind, partner_id=user.partner_id, user_id=user.id)
    session.delete(request)  # the address may be nobody's here, and is nobody's business
    session.flush()
