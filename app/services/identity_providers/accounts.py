"""The user of a company account: found by the link, linked by a proven address, or created."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import Conflict, DomainError, NotFound, ValidationFailed
from app.languages import gettext
from app.models import IdentityProvider, MailKind, Partner, User, UserIdentity, new_id, utcnow
from app.policy.caller import Caller, system_caller
from app.schemas.parsing import read
from app.schemas.users import CreateUserInput
from app.services import audit, mail_queue, users
from app.services.auth import refused_sign_ins, sessions, sign_in, sign_in_rules
from app.services.identity_providers.providers import NEW_ROLES, provable_domains
from app.services.uniqueness import unless_taken
from app.validation.emails import is_email

MAX_NAME = 200


class NotAdmitted(Exception):
    """``reason`` is ``not_active`` (the user may not sign in) or ``not_linked`` (no user is linked,
    and none may be linked or created)."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ProviderLink:
    """A provider as a user sees it; ``identity`` is None if it isn't linked."""

    provider: IdentityProvider
    identity: UserIdentity | None


@dataclass(frozen=True, slots=True)
class AdmittedUser:
    """The user of a company account; ``linked_now`` if this sign-in linked it."""

    user: User
    linked_now: bool


def find_or_create_user(
    session: Session,
    provider: IdentityProvider,
    claims: Mapping[str, Any],
    *,
    ip: str | None,
    request_id: str | None,
) -> AdmittedUser:
    """Return the user of these checked claims and record the sign-in. Raises `NotAdmitted`."""
    linked = _linked_user(session, provider, claims["sub"])
    user = linked or _by_address(session, provider, claims, ip, request_id)
    allowed = sign_in_rules.usable_user(session, user.id)
    if allowed is None:
        raise NotAdmitted("not_active")
    session.execute(
        UserIdentity.__table__.update()  # type: ignore[attr-defined]  # a table
        .where(
            UserIdentity.provider_id == provider.id,
            UserIdentity.subject == claims["sub"],
        )
        .values(used_at=utcnow())
    )
    user = sign_in.record_sign_in(session, allowed, ip, request_id)
    return AdmittedUser(user, linked_now=linked is None)


def record_refused(
    session: Session, provider: IdentityProvider, ip: str | None, request_id: str | None
) -> None:
    """Record in the partner's history that a company account wasn't accepted."""
    refused_sign_ins.record_company_account(session, provider.partner_id, ip, request_id)


def link(
    session: Session, provider: IdentityProvider, caller: Caller, claims: Mapping[str, Any]
) -> None:
    """Link the company account of these checked claims to the caller. Raises `NotFound`, and
    `Conflict` (``linked_elsewhere``) if another user has linked it."""
    user = session.get(User, caller.subject_id) if caller.subject_id else None
    if user is None or user.partner_id != provider.partner_id:
        raise NotFound
    linked_user = _linked_user(session, provider, claims["sub"])
    if linked_user is not None and linked_user.id == user.id:
        return
    if linked_user is not None:
        message = gettext("Another user has linked this company account.")
        raise Conflict(message, "linked_elsewhere")
    _add_link(session, provider, user, claims["sub"], caller)


def links_of(session: Session, caller: Caller) -> list[ProviderLink]:
    """Return the providers of the caller's partner, with the caller's links."""
    if caller.partner_id is None or caller.user_id is None:
        return []
    query = (
        select(IdentityProvider, UserIdentity)
        .outerjoin(
            UserIdentity,
            (UserIdentity.provider_id == IdentityProvider.id)
            & (UserIdentity.user_id == caller.user_id),
        )
        .where(IdentityProvider.partner_id == caller.partner_id)
        .order_by(IdentityProvider.name, IdentityProvider.id)
    )
    return [ProviderLink(provider, identity) for provider, identity in session.execute(query)]


def unlink(session: Session, caller: Caller, provider_id: UUID) -> None:
    """Remove the caller's link; repeating it isn't an error. Raises `Conflict` (``no_password``) if
    the caller could not sign in any more."""
    user = session.get_one(User, caller.subject_id)
    query = select(UserIdentity).where(
        UserIdentity.user_id == user.id, UserIdentity.provider_id == provider_id
    )
    identity = session.scalars(query).one_or_none()
    if identity is None:
        return
    if user.password_hash is None:
        message = gettext("Set a password first: use “Forgot your password?” on the sign-in page.")
        raise Conflict(message, "no_password")
    provider = session.get_one(IdentityProvider, provider_id)
    session.delete(identity)
    session.flush()
    audit.record_change(
        session, caller, "user.identity_unlinked", user, before={"companyAccount": provider.name}
    )


def _linked_user(session: Session, provider: IdentityProvider, subject: str) -> User | None:
    query = (
        select(User)
        .join(UserIdentity, UserIdentity.user_id == User.id)
        .where(UserIdentity.provider_id == provider.id, UserIdentity.subject == subject)
    )
    return session.scalars(query).one_or_none()


def _by_address(
    session: Session,
    provider: IdentityProvider,
    claims: Mapping[str, Any],
    ip: str | None,
    request_id: str | None,
) -> User:
    """Return a user with the verified address of a proven domain, linked or created now."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        raise NotAdmitted("not_linked")
    partner = session.get_one(Partner, provider.partner_id)
    domain = email.rpartition("@")[2].lower()
    proven_domains = set(provider.domains) & set(provable_domains(partner))
    if not is_email(email) or domain not in proven_domains:
        raise NotAdmitted("not_linked")
    query = select(User).where(User.partner_id == partner.id, User.email_key == email.lower())
    user = session.scalars(query.with_for_update()).one_or_none()
    if user is None:
        user = _create_user(session, provider, claims, email)
    elif user.organization_id is not None:
        raise NotAdmitted("not_linked")  # a customer's user isn't in the partner's domain
    elif user.status is UserStatus.INVITED:
        user.status = UserStatus.ACTIVE
        new_caller = sessions.caller_of(user, ip=ip, request_id=request_id)
        before, after = {"status": UserStatus.INVITED}, {"status": UserStatus.ACTIVE}
        audit.record_version(session, new_caller, "user.joined", user, before=before, after=after)
    elif user.status is not UserStatus.ACTIVE:
        raise NotAdmitted("not_active")
    caller = sessions.caller_of(user, ip=ip, request_id=request_id)
    try:
        _add_link(session, provider, user, claims["sub"], caller)
    except Conflict:  # the user has linked another account of this provider
        raise NotAdmitted("not_linked") from None
    return user


def _create_user(
    session: Session, provider: IdentityProvider, claims: Mapping[str, Any], email: str
) -> User:
    role = role_of(provider, claims)
    if not provider.creates_users or role is None:
        raise NotAdmitted("not_linked")
    caller = system_caller(provider.name, provider.partner_id)
    try:
        data = read(CreateUserInput, {"email": email, "userType": role.value})
        user = users.create(session, caller, provider.partner_id, data)
    except DomainError:
        raise NotAdmitted("not_linked") from None
    name = claims.get("name")
    if isinstance(name, str) and name.isprintable() and 0 < len(name.strip()) <= MAX_NAME:
        user.name = name.strip()
        session.flush()
    return user


def role_of(provider: IdentityProvider, claims: Mapping[str, Any]) -> Role | None:
    """Return the role of a new user: by the claim, else the default; never one outside
    `NEW_ROLES`."""
    claim = claims.get(provider.role_claim) if provider.role_claim else None
    values = claim if isinstance(claim, list) else [claim]
    for role in NEW_ROLES:
        if provider.role_values.get(role) and provider.role_values[role] in values:
            return role
    return next((role for role in NEW_ROLES if role == provider.default_role), None)


def _add_link(
    session: Session, provider: IdentityProvider, user: User, subject: str, caller: Caller
) -> None:
    message = gettext("You have linked another account of %(name)s.", name=provider.name)
    with unless_taken(session, Conflict(message, "linked_elsewhere")):
        session.add(
            UserIdentity(id=new_id(), provider_id=provider.id, user_id=user.id, subject=subject)
        )
    audit.record_change(
        session, caller, "user.identity_linked", user, after={"companyAccount": provider.name}
    )
    _store_subject(session, provider, user, subject)
    details = {"provider": provider.name}
    mail_queue.enqueue_to_user(session, caller, MailKind.IDENTITY_LINKED, user, details=details)


def _store_subject(session: Session, provider: IdentityProvider, user: User, subject: str) -> None:
    """The subject becomes the user's ``idpUid``, unless they have one or it can't be one: what
    signs in is the link, which belongs to one provider."""
    if user.idp_uid is not None:
        return
    caller = system_caller(provider.name, provider.partner_id)
    try:
        users.set_external_id(session, caller, user.id, subject)
    except ValidationFailed:
        return
