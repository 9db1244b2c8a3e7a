"""Queue mails: a row and its place in the queue, in the transaction of the change that they report.

Nothing is sent here; the worker renders and sends each mail (`app.services.mails`).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallerKind, Role
from app.errors import Problem
from app.gateways.job_queue import enqueue_mail
from app.languages import gettext, language
from app.models import Mail, MailKind, User, new_id
from app.policy.caller import Caller
from app.services.partner_users import active_users
from app.validation.emails import is_email

MAX_RECIPIENTS = 20
INVITED_IN = "invitedIn"
"""The detail with the language of the page on which a user was invited."""
_TO_NEW_USERS = frozenset({MailKind.INVITATION, MailKind.SET_PASSWORD})


def enqueue_to_user(
    session: Session,
    caller: Caller,
    kind: MailKind,
    user: User,
    *,
    to: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Queue a mail to the user about an action of ``caller``; ``to`` replaces the user's current
    address. Mails about users' own actions are in the language of their page. Actions of the
    command line send no mail."""
    if caller.kind is CallerKind.SYSTEM:
        return
    if caller.user_id == user.id:
        details = {**(details or {}), "language": language()}
    enqueue(session, kind, partner_id=user.partner_id, user_id=user.id, to=to, details=details)


def enqueue(
    session: Session,
    kind: MailKind,
    *,
    partner_id: UUID | None,
    user_id: UUID | None = None,
    to: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> Mail:
    """Queue a mail. It needs ``user_id`` or ``to``. A new user without a known language gets it in
    the language of the inviting user."""
    hints = {INVITED_IN: language()} if kind in _TO_NEW_USERS else {}
    mail = Mail(
        id=new_id(),
        partner_id=partner_id,
        user_id=user_id,
        kind=kind.value,
        to=to,
        details={**hints, **(details or {})},
    )
    session.add(mail)
    session.flush()
    enqueue_mail(session, mail.id, attempt=1, delay_seconds=0)
    return mail


def enqueue_to_administrators(
    session: Session,
    kind: MailKind,
    partner_id: UUID,
    *,
    details: Mapping[str, Any],
    also: Iterable[UUID | None] = (),
    without: UUID | None = None,
) -> None:
    """Queue a mail to each active partnerAdmin of the partner and to the active users ``also``,
    once each."""
    ids = [user_id for user_id in also if user_id is not None]
    chosen = (User.user_type == Role.PARTNER_ADMIN) | User.id.in_(ids)
    for user in session.scalars(active_users(partner_id).where(chosen)).all():
        if user.id != without:
            enqueue(session, kind, partner_id=partner_id, user_id=user.id, details=details)


def users_at(session: Session, partner_id: UUID, addresses: Iterable[str]) -> dict[str, User]:
    """Return the active users of a partner with these addresses, by the addresses in lower case."""
    keys = {address.lower() for address in addresses}
    if not keys:
        return {}
    query = active_users(partner_id).where(User.email_key.in_(keys))
    return {user.email_key: user for user in session.scalars(query)}


def enqueue_to_address(
    session: Session,
    kind: MailKind,
    partner_id: UUID,
    address: str,
    user: User | None,
    *,
    details: Mapping[str, Any],
) -> Mail:
    """Queue a mail to an address that someone entered; if it is a user's, to that user, and so in
    the user's own language."""
    target: dict[str, Any] = {"user_id": user.id} if user else {"to": address}
    return enqueue(session, kind, partner_id=partner_id, details=details, **target)


def latest(session: Session, user_id: UUID, kind: MailKind) -> Mail | None:
    """Return the last mail of a kind to a user that the caller has loaded."""
    query = select(Mail).where(Mail.user_id == user_id, Mail.kind == kind.value)
    return session.scalar(query.order_by(Mail.id.desc()).limit(1))


def problems_of_recipients(addresses: Collection[str]) -> list[Problem]:
    """Return what is wrong with addresses that a user entered (``too_many_recipients``,
    ``invalid_email``)."""
    problems = []
    if len(addresses) > MAX_RECIPIENTS:
        message = gettext("Enter at most %(num)s addresses.", num=MAX_RECIPIENTS)
        problems.append(Problem("recipients", "too_many_recipients", message))
    return problems + [
        Problem(
            "recipients",
            "invalid_email",
            gettext("“%(address)s” isn’t an email address.", address=address),
        )
        for address in addresses
        if not is_email(address)
    ]
