"""Create users: with an organization of their own, invited into one, or of a partner's
own staff."""

from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Role, Tier, UserStatus
from app.errors import ValidationFailed
from app.languages import gettext
from app.models import MailKind, User, new_id
from app.models.base import NAME_LENGTH
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.fields import can_be_seen
from app.schemas.users import CreateAdminInput, CreatePartialUserInput, CreateUserInput
from app.services import assistants, audit, mail_queue, organizations, partners, rollup
from app.services.organizations.creating import NewOrganization
from app.services.organizations.creating import add as add_organization
from app.services.tenancy import (
    ARCHIVED,
    ORGANIZATION_SUSPENDED,
    archived_message,
    suspended_message,
)
from app.services.uniqueness import unless_taken
from app.services.users import new_administrators
from app.services.users.loading import MEMBERS, check_grant
from app.validation.emails import is_email

MAX_KEY = 254


def create(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    data: CreateUserInput,
    *,
    in_trial: bool = True,
) -> User:
    """Create an active user. A standard one gets an organization on ``tier`` and one assistant;
    ``in_trial`` is as for `organizations.create`.

    Raises `Forbidden` (``role_too_low``, ``insufficient_scope``), `NotFound` for the partner, and
    `ValidationFailed` (``email_exists``).
    """
    caller.require(Permission.USERS_WRITE)
    partner = partners.get(session, caller, partner_id)
    check_grant(caller, data.user_type)
    refuse_known_address(session, partner.id, data.email)
    if data.user_type is not Role.STANDARD:
        return _add_user(session, caller, partner.id, email=data.email, user_type=data.user_type)
    name = (data.business_name or "").strip()
    if not can_be_seen(name):
        name = data.email.partition("@")[0][:NAME_LENGTH]
    organization = add_organization(
        session,
        caller,
        partner,
        NewOrganization(name, data.tier or Tier.FREE),
        in_trial=in_trial,
    )
    user = _add_user(
        session,
        caller,
        partner.id,
        email=data.email,
        user_type=Role.STANDARD,
        organization_id=organization.id,
    )
    assistants.add_assistant(
        session,
        caller,
        organization,
        name=partner.default_assistant_name,
        service=data.service or partner.default_service,
        timezone=data.assistant_timezone,
    )
    return user


def create_partial(session: Session, caller: Caller, data: CreatePartialUserInput) -> User:
    """Create an invited standard user of an existing organization of the caller's own partner.

    Raises `NotFound` (``organization_not_found``) and `ValidationFailed` (``email_exists``,
    ``user_limit_reached``, ``archived``).
    """
    partners.own_partner_id(caller)
    return invite(
        session,
        caller,
        email=data.email,
        user_type=Role.STANDARD,
        organization_id=data.org_id,
        name=data.name,
    )


def create_admin(session: Session, caller: Caller, data: CreateAdminInput) -> User:
    """Create an active user of type admin of the caller's own partner.

    Raises `Forbidden` and `ValidationFailed` (``email_exists``).
    """
    caller.require(Permission.ADMINS_CREATE)
    partner_id = partners.own_partner_id(caller)
    check_grant(caller, Role.ADMIN)
    refuse_known_address(session, partner_id, data.email)
    return _add_user(session, caller, partner_id, email=data.email, user_type=Role.ADMIN)


def invite(
    session: Session,
    caller: Caller,
    *,
    email: str,
    user_type: Role,
    organization_id: UUID | None = None,
    partner_id: UUID | None = None,
    name: str | None = None,
    with_mail: bool = True,
    with_notice: bool = True,
    refuse_suspended: bool = False,
) -> User:
    """Create a user who is ``invited`` until they accept. Members need an organization, others
    need ``partner_id`` if an operator invites. ``with_mail`` queues the invitation, ``with_notice``
    the mail to administrators (`new_administrators`). ``refuse_suspended`` refuses to invite to a
    suspended organization, where the invitation couldn't be accepted.

    Raises `Forbidden` (``role_too_low``, ``insufficient_scope``), `NotFound`, and
    `ValidationFailed` (``email_exists``, ``user_limit_reached``, ``archived``,
    ``organization_suspended``).
    """
    caller.require(Permission.USERS_WRITE)
    check_grant(caller, user_type)
    if user_type in MEMBERS and organization_id is not None:
        organization = organizations.get(session, caller, organization_id)
        partner_id = organization.partner_id
        if organization.status is OrganizationStatus.ARCHIVED:
            raise ValidationFailed.on("orgId", ARCHIVED, archived_message())
        if refuse_suspended and organization.status is OrganizationStatus.SUSPENDED:
            message = suspended_message(organization.name)
            raise ValidationFailed.on("orgId", ORGANIZATION_SUSPENDED, message)
        organizations.claim_seat(session, caller, organization.id)
    elif user_type not in MEMBERS and organization_id is None:
        partner_id = partners.check(session, caller, partner_id or partners.own_partner_id(caller))
    else:
        message = gettext("Members have an organization, all others have none.")
        raise ValidationFailed.on("organizationId", "organization_mismatch", message)
    refuse_known_address(session, partner_id, email)
    return _add_user(
        session,
        caller,
        partner_id,
        email=email,
        user_type=user_type,
        organization_id=organization_id,
        with_mail=with_mail,
        with_notice=with_notice,
        name=name,
        status=UserStatus.INVITED,
    )


def email_key(email: str) -> str:
    """Return the form in which addresses are compared: lower case, which can be longer than the
    address."""
    key = email.lower()
    if len(key) > MAX_KEY:
        message = gettext(
            "This address is too long. Use at most %(most)s characters.", most=MAX_KEY
        )
        raise ValidationFailed.on("email", "too_long", message)
    return key


def refuse_no_email(text: str, field: str = "email") -> None:
    """Raise `ValidationFailed` (``invalid_email``) for a text that isn't an email address."""
    if not is_email(text):
        message = gettext("Enter an email like name@example.com.")
        raise ValidationFailed.on(field, "invalid_email", message)


def email_exists() -> ValidationFailed:
    message = gettext("A user with this email address exists already.")
    return ValidationFailed.on("email", "email_exists", message)


def refuse_known_address(session: Session, partner_id: UUID, email: str) -> None:
    """Raise `ValidationFailed` (``email_exists``)."""
    existing = select(User.id).where(
        User.partner_id == partner_id, User.email_key == email_key(email)
    )
    if session.scalar(existing) is not None:
        raise email_exists()


def _add_user(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    *,
    email: str,
    user_type: Role,
    organization_id: UUID | None = None,
    with_mail: bool = True,
    with_notice: bool = True,
    **more: Any,
) -> User:
    user = User(
        id=new_id(),
        partner_id=partner_id,
        organization_id=organization_id,
        email=email,
        email_key=email_key(email),
        role=user_type,
        admin_owned=user_type is Role.ADMIN,
        invited_by_id=caller.subject_id,
        **more,
    )
    with unless_taken(session, email_exists()):
        session.add(user)
    if organization_id is not None:
        rollup.add_user(session, partner_id, organization_id, user.created_at)
    audit.record_change(
        session,
        caller,
        "user.invited" if user.status is UserStatus.INVITED else "user.created",
        user,
        after={"email": email, "userType": user_type, "status": user.status, "name": user.name},
    )
    if with_notice:
        new_administrators.announce(session, caller, user)
    if with_mail:
        invited = user.status is UserStatus.INVITED
        kind = MailKind.INVITATION if invited else MailKind.SET_PASSWORD
        mail_queue.enqueue_to_user(session, caller, kind, user)
    return user
