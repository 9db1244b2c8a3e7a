"""Change a user's email address.

The address gives access by recovery. So if the user has signed in before, a new address waits until
it is confirmed at both the old and the new one.
"""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallerKind, UserStatus
from app.errors import NotFound, ValidationFailed
from app.languages import gettext
from app.models import EmailChange, MailKind, User, is_erased
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, mail_queue
from app.services.auth import email_changes, one_time_links, sessions, sign_in_rules
from app.services.auth.email_changes import AddressSide, EmailChangeLink
from app.services.uniqueness import unless_taken
from app.services.users.creating import (
    email_exists,
    email_key,
    refuse_known_address,
    refuse_no_email,
)
from app.services.users.loading import check_type, get


@dataclass(frozen=True, slots=True)
class EmailChangeView:
    """The content of a link's page: the user with the current address, and the change."""

    user: User
    link: EmailChangeLink


def change_email(session: Session, caller: Caller, user: User, email: str) -> None:
    """Give the user, locked for a change, a new address: at once if the user has never signed in,
    otherwise after both addresses confirm it. The command line changes it at once.

    Raises `Forbidden` (``insufficient_scope``) and `ValidationFailed` (``email_exists``,
    ``erased``).
    """
    caller.require_grant(user.role)  # the new address gives access to the account
    if is_erased(user.email):
        message = gettext("This user was erased. Invite them again with their address.")
        raise ValidationFailed.on("email", "erased", message)
    is_by_command = caller.kind is CallerKind.SYSTEM
    if user.last_sign_in is None or is_by_command:
        sends_mails = not (is_by_command or _is_only_at_provider(session, caller, user))
        _apply_address(session, caller, user, email, sends_mails=sends_mails)
        return
    waiting = email_changes.pending(session, user.id)
    if waiting is not None and waiting.email == email:
        return
    if email_key(email) != user.email_key and user.partner_id is not None:
        refuse_known_address(session, user.partner_id, email)
    change = email_changes.create(
        session, user.id, email, requested_by=caller.label, requested_by_id=caller.subject_id
    )
    before, after = {"email": user.email}, {"email": email}
    audit.record_change(
        session, caller, "user.email_change_requested", user, before=before, after=after
    )
    for side, address in ((AddressSide.OLD, user.email), (AddressSide.NEW, email)):
        details = {
            "changeId": str(change.id),
            "side": side.value,
            "from": user.email,
            "to": email,
            "by": caller.label,
        }
        mail_queue.enqueue_to_user(
            session, caller, MailKind.CONFIRM_EMAIL, user, to=address, details=details
        )


def _is_only_at_provider(session: Session, caller: Caller, user: User) -> bool:
    """Return whether a directory changes a user who signs in with a company account only."""
    by_directory = caller.kind is CallerKind.DIRECTORY
    return by_directory and sign_in_rules.required_provider(session, user) is not None


def reset(session: Session, caller: Caller, user_id: UUID, email: str) -> User:
    """Give a user whose mailbox is lost a new address at once, from the command line.

    The operator has checked the identity outside of the product. Raises `Forbidden`
    (``command_line_only``), `NotFound` and `ValidationFailed` (``invalid_email``,
    ``email_unchanged``, ``email_exists``).
    """
    return reset_of(session, caller, get(session, caller, user_id, for_change=True), email)


def reset_of(session: Session, caller: Caller, user: User, email: str) -> User:
    """As `reset`, for a locked user."""
    caller.require_command_line("Reset email addresses on the command line.")
    refuse_no_email(email)
    if email == user.email:
        message = gettext("The user has this email address already.")
        raise ValidationFailed.on("email", "email_unchanged", message)
    _apply_address(session, caller, user, email, sends_mails=True)
    return user


def cancel(session: Session, caller: Caller, user_id: UUID) -> User:
    """Cancel the waiting change, for an administrator; without one nothing happens.

    Raises `NotFound` and `Forbidden` (``role_too_low``).
    """
    caller.require(Permission.USERS_WRITE)
    user = get(session, caller, user_id, for_change=True)
    check_type(caller, user.role)
    end(session, caller, user)
    return user


def end(session: Session, caller: Caller, user: User) -> None:
    """End the user's waiting change, with a history entry."""
    change = email_changes.pending(session, user.id, for_change=True)
    if change is None:
        return
    email_changes.end(session, user.id)
    before = {"email": change.email}
    audit.record_change(
        session, caller, "user.email_change_cancelled", user, before=before, after={}
    )


def change_of_link(session: Session, token: str, partner_id: UUID) -> EmailChangeView:
    """Return the change of a link, without using it up. Raises `NotFound` (``link_invalid``)."""
    return _load_view(session, token, partner_id, for_change=False)


def confirm(
    session: Session, token: str, partner_id: UUID, *, ip: str | None, request_id: str | None
) -> bool:
    """Confirm the change at the address of the link; return whether the address has changed now,
    which is after the second confirmation.

    Raises `NotFound` (``link_invalid``) and `ValidationFailed` (``email_exists``) if another user
    got the address meanwhile; nothing is saved then.
    """
    holder = _load_view(session, token, partner_id, for_change=True)
    user, change, side = holder.user, holder.link.change, holder.link.side
    if holder.link.is_confirmed:
        return False
    address = user.email if side is AddressSide.OLD else change.email
    caller = replace(sessions.caller_of(user, ip=ip, request_id=request_id), label=address[:200])
    is_confirmed_twice = email_changes.confirm(session, holder.link)
    after = {"confirmedAt": address}
    audit.record_change(
        session, caller, "user.email_change_confirmed", user, before={}, after=after
    )
    if is_confirmed_twice:
        _apply_address(session, caller, user, change.email, sends_mails=True)
    return is_confirmed_twice


def reject(
    session: Session, token: str, partner_id: UUID, *, ip: str | None, request_id: str | None
) -> None:
    """Reject the change, for the holder of either address. Raises `NotFound` (``link_invalid``)."""
    holder = _load_view(session, token, partner_id, for_change=True)
    address = holder.user.email if holder.link.side is AddressSide.OLD else holder.link.change.email
    caller = sessions.caller_of(holder.user, ip=ip, request_id=request_id)
    end(session, replace(caller, label=address[:200]), holder.user)


def pending(session: Session, user: User) -> EmailChange | None:
    """Return the waiting change of a user that the caller has loaded."""
    return email_changes.pending(session, user.id)


def _load_view(
    session: Session, token: str, partner_id: UUID, *, for_change: bool
) -> EmailChangeView:
    link = email_changes.look_up(session, token)
    query = sign_in_rules.able_to_sign_in(select(User)).where(
        User.id == link.change.user_id, User.partner_id == partner_id
    )
    if for_change:  # the user first, as everywhere, then the change
        query = query.with_for_update(of=User).execution_options(populate_existing=True)
    user = session.scalars(query).one_or_none()
    if user is None:
        message = gettext("This link no longer works. Nothing was changed.")
        raise NotFound(message, "link_invalid")
    return EmailChangeView(user, email_changes.look_up(session, token, for_change=for_change))


def _apply_address(
    session: Session, caller: Caller, user: User, email: str, *, sends_mails: bool
) -> None:
    """Store the new address. Everything to which the old one gave access ends: sessions, links,
    offers."""
    old_email = user.email
    before, after = {"email": old_email}, {"email": email}
    with unless_taken(session, email_exists()):
        user.email, user.email_key = email, email_key(email)
        audit.record_version(session, caller, "user.updated", user, before=before, after=after)
    email_changes.end(session, user.id)
    one_time_links.end_all(session, user.id)
    sessions.end_all_of_user(session, user.id)
    if not sends_mails:
        return
    owner_ids = {"partner_id": user.partner_id, "user_id": user.id}
    for kind, address, details in _mails_to_send(user, old_email):
        mail_queue.enqueue(session, kind, **owner_ids, to=address, details=details)


def _mails_to_send(user: User, before: str) -> list[tuple[MailKind, str | None, dict[str, str]]]:
    """Return the mails for a user with a new address: kind, address other than the new one,
    details."""
    if user.status is UserStatus.INVITED:
        return [(MailKind.INVITATION, None, {})]
    if user.status is UserStatus.DEACTIVATED and user.last_sign_in is None:
        return []  # the account was never used
    details = {"from": before, "to": user.email}
    mails: list[tuple[MailKind, str | None, dict[str, str]]] = [
        (MailKind.EMAIL_CHANGED, address, details) for address in (before, user.email)
    ]
    if user.password_hash is None:
        mails.append((MailKind.SET_PASSWORD, None, {}))
    return mails
