"""Forgotten passwords: anyone can request a link, and only the holder of the address gets it.

A request does the same work for every address. The worker finds the account, so neither the answer
nor its time reveals whether there is one.
"""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import UserStatus
from app.languages import language
from app.models import Mail, MailKind, User
from app.services import mail_queue
from app.services.auth import attempt_limits, refused_sign_ins, throttle
from app.services.auth.sign_in_rules import of_open_tenants
from app.validation import emails
from app.validation.networks import network_of


def enqueue_recovery(
    session: Session, *, email: str, partner_id: UUID | None, ip: str | None
) -> None:
    """Queue the search for accounts with this address; ``partner_id`` None means all partners.

    Raises `RateLimited` if the network requests too often, whether or not there is an account.
    Requests of others for an account never block its owner's.
    """
    throttle.charge(session, attempt_limits.of_recovery_requests(ip))
    key = email.strip().lower()
    if emails.is_email(key):
        details = {"network": network_of(ip), "language": language()}
        mail_queue.enqueue(
            session, MailKind.RECOVERY, partner_id=partner_id, to=key, details=details
        )


def send_recovery_mails(session: Session, request: Mail) -> None:
    """Queue the resulting mails: a link for a new password, or the invitation again.

    A user gets a few mails an hour. Beyond that, the links of the earlier mails are still valid.
    """
    query = of_open_tenants(select(User)).where(
        User.email_key == request.to, User.status.in_((UserStatus.ACTIVE, UserStatus.INVITED))
    )
    if request.partner_id is not None:
        query = query.where(User.partner_id == request.partner_id)
    for user in session.scalars(query.order_by(User.id)):
        try:
            throttle.charge(session, [attempt_limits.of_recovery_mails(user.id)])
        except throttle.TooManyFailures:
            continue
        invited = user.status is UserStatus.INVITED
        kind = MailKind.INVITATION if invited else MailKind.RESET_PASSWORD
        details = {"language": request.details.get("language")}
        mail_queue.enqueue(
            session, kind, partner_id=user.partner_id, user_id=user.id, details=details
        )
    refused_sign_ins.record_recovery(
        session, request.to or "", request.partner_id, request.details.get("network")
    )
    session.delete(request)  # an address without an account gets no mail and no other answer
    session.flush()
