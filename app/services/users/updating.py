"""Change a user's email address, plan and external id; turn a user of the partner's own staff who
has never signed in into a member."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import Conflict, ValidationFailed, check_length, check_version
from app.languages import gettext
from app.models import MailKind, User
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.users import UpdateUserInput
from app.services import audit, mail_queue, organizations, rollup
from app.services.auth import author_check, one_time_links, sessions
from app.services.organizations.updating import change
from app.services.uniqueness import unless_taken
from app.services.users import new_administrators
from app.services.users.email_changes import change_email
from app.services.users.loading import MEMBERS, check_grant, check_type, get
from app.validation.texts import trim
from app.validation.uuids import as_hyphenated_uuid

MAX_NAME = 200
RESERVED_IDS = frozenset({"usage", "subscription", "partial"})
"""Words that can't be external ids, because URLs of the contract use them."""


def update(
    session: Session,
    caller: Caller,
    external_user_id: str | UUID,
    changes: UpdateUserInput,
    *,
    name: str | None = None,
    expected_version: int | None = None,
) -> User:
    """Change the address, and the plan of the user's organization; null changes nothing. The new
    address of a user who has signed in before waits until it is confirmed.

    ``name`` renames if it is given, blank removes the name. Raises `NotFound` (``user_not_found``),
    `Forbidden`, `ValidationFailed` (``email_exists``, ``no_organization``, ``too_long``) and
    `Conflict` (``changed_meanwhile``); nothing is saved then.
    """
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, external_user_id, expected_version)
    if changes.payment_tier is not None and user.organization_id is None:
        message = gettext("This user has no organization, so there is no plan to change.")
        raise ValidationFailed.on("paymentTier", "no_organization", message)
    if changes.email is not None and changes.email != user.email:
        change_email(session, caller, user, changes.email)
    if name is not None:
        _rename(session, caller, user, trim(name) or None)
    if changes.payment_tier is not None and user.organization_id is not None:
        organization = organizations.get(session, caller, user.organization_id, for_change=True)
        change(session, caller, organization, {"payment_tier": changes.payment_tier})
    return user


def set_external_id(session: Session, caller: Caller, user_id: UUID, idp_uid: str | None) -> User:
    """Set the id that single sign-on or the partner's scripts use for the user; None removes it.

    Raises `NotFound`, and `ValidationFailed` (``reserved``, ``invalid``, ``external_id_exists``).
    """
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    if idp_uid is not None:
        _check_external_id(session, user, idp_uid)
    before, after = {"idpUid": user.idp_uid}, {"idpUid": idp_uid}
    if before == after:
        return user
    with unless_taken(session, _external_id_exists()):
        user.idp_uid = idp_uid
        audit.record_version(session, caller, "user.updated", user, before=before, after=after)
    return user


def lock_user(
    session: Session,
    caller: Caller,
    external_user_id: str | UUID,
    expected_version: int | None = None,
) -> User:
    """Return the user, locked for a change, if the caller may change users of that type. Raises
    `NotFound`, `Forbidden`, and `Conflict` (``changed_meanwhile``)."""
    user = get(session, caller, external_user_id, for_change=True)
    check_type(caller, user.role)
    check_version(expected_version, user.version, "user")
    return user


def check_name(name: str | None) -> None:
    """Raise `ValidationFailed` (``too_long``) for a name that is too long."""
    check_length("name", name, MAX_NAME)


def _rename(session: Session, caller: Caller, user: User, name: str | None) -> None:
    check_name(name)
    before = user.name
    if before == name:
        return
    user.name = name
    audit.record_version(
        session, caller, "user.updated", user, before={"name": before}, after={"name": name}
    )


def _check_external_id(session: Session, user: User, idp_uid: str) -> None:
    if idp_uid in RESERVED_IDS:
        message = gettext("“%(id)s” is a reserved word and can't be an external id.", id=idp_uid)
        raise ValidationFailed.on("idpUid", "reserved", message)
    fits = idp_uid.strip() and len(idp_uid) <= 200 and idp_uid.isprintable()
    if not fits or "/" in idp_uid or idp_uid in {".", ".."}:
        message = gettext(
            "An external id has 1 to 200 characters, none of them a slash, and isn't “.” or “..”."
        )
        raise ValidationFailed.on("idpUid", "invalid", message)
    same = User.idp_uid == idp_uid
    identifier = as_hyphenated_uuid(idp_uid)
    if identifier is not None:  # it must not collide with another user's own id
        same |= User.id == identifier
    query = select(User.id).where(User.partner_id == user.partner_id, User.id != user.id, same)
    if session.scalar(query) is not None:
        raise _external_id_exists()


def _external_id_exists() -> ValidationFailed:
    message = gettext("Another user has this external id.")
    return ValidationFailed.on("idpUid", "external_id_exists", message)


def set_password(session: Session, caller: Caller, user: User, password_hash: str) -> None:
    """Replace the password (hash it before the transaction), end every session of the user and
    every recovery link, and send a mail if there was a password before.

    The user must come from its loader.
    """
    if user.password_hash is not None:
        mail_queue.enqueue_to_user(session, caller, MailKind.PASSWORD_CHANGED, user)
    user.password_hash = password_hash
    sessions.end_all_of_user(session, user.id)
    one_time_links.end_all(session, user.id)
    session.flush()
    audit.record_change(session, caller, "user.password_set", user)


def make_member(
    session: Session, caller: Caller, user_id: UUID, role: Role, organization_id: UUID
) -> User:
    """Give a user without an organization a member's role in one. Nothing belongs to them yet, so
    nothing is handed over; links mailed before end.

    Raises `NotFound`, `Forbidden` (``role_too_low``), `ValidationFailed` (``user_limit_reached``,
    ``role_needs_organization``) and `Conflict` (``signed_in_before``).
    """
    caller.require(Permission.USERS_WRITE)
    user = lock_user(session, caller, user_id)
    check_grant(caller, role)
    if role not in MEMBERS or user.organization_id is not None:
        message = gettext("Members have an organization, all others have none.")
        raise ValidationFailed.on("userType", "role_needs_organization", message)
    if user.last_sign_in is not None or user.password_hash is not None:
        message = gettext(
            "%(email)s has signed in before and can’t move to an organization or out of one.",
            email=user.email,
        )
        raise Conflict(message, "signed_in_before")
    organization = organizations.get(session, caller, organization_id)
    if user.status is not UserStatus.DEACTIVATED:
        organizations.claim_seat(session, caller, organization.id)
    author_check.access_changes(session, user.id)
    one_time_links.end_all(session, user.id)
    before = {"userType": user.role, "organization": None}
    user.role = role
    user.admin_owned = False
    user.organization_id = organization.id
    after = {"userType": role, "organization": organization.name}
    audit.record_version(session, caller, "user.role_changed", user, before=before, after=after)
    rollup.add_user(session, organization.partner_id, organization.id, user.created_at)
    new_administrators.announce(session, caller, user)
    return user
