"""Users as a partner's directory reads and writes them.

It sees the partner's own staff, and the members that it has created, but no other users of
customers. Users that it deletes are deactivated here, and no longer exist for it, nor do erased
ones.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from app.enums import Role, UserStatus
from app.errors import check_length
from app.models import ERASED_DOMAIN, ScimGroup, ScimMember, ScimUser, User, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.users import UpdateUserInput
from app.services import partners, users
from app.services.scim import access
from app.services.tenancy import of_tenant
from app.services.users.creating import email_exists, email_key, refuse_no_email
from app.services.users.loading import PARTNER_LEVEL, not_found, visible

MAX_TEXT_LENGTH = 200
"""Maximum characters of a name or an external id."""


@dataclass(frozen=True, slots=True)
class ScimAccount:
    """A user, the directory's data about them, and their groups by name."""

    user: User
    stored: ScimUser | None
    groups: Sequence[ScimGroup] = ()

    @property
    def is_active(self) -> bool:
        return access.is_active(self.user, self.stored)


@dataclass(frozen=True, slots=True)
class ScimUserFields:
    """The directory's data about a user. ``active`` None leaves it."""

    email: str
    name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    external_id: str | None = None
    active: bool | None = None


def rows(caller: Caller) -> Select[User, ScimUser | None]:
    """Return the users that the directory sees. Raises `Forbidden`."""
    caller.require(Permission.USERS_READ)
    query: Select[User, ScimUser | None] = (
        visible(caller)
        .outerjoin(ScimUser, ScimUser.user_id == User.id)
        .where(
            User.partner_id == partners.own_partner_id(caller),
            or_(User.user_type.in_(PARTNER_LEVEL), ScimUser.user_id.is_not(None)),
            ScimUser.removed_at.is_(None),
            ~User.email_key.endswith(f"@{ERASED_DOMAIN}"),
        )
        .add_columns(ScimUser)
    )
    return query


def get(
    session: Session, caller: Caller, user_id: UUID, *, for_change: bool = False
) -> ScimAccount:
    """Return a user. ``for_change`` locks the row until the transaction ends. Raises `NotFound`
    (``user_not_found``)."""
    if for_change:
        users.get(session, caller, user_id, for_change=True)
    query = rows(caller).where(User.id == user_id).execution_options(populate_existing=True)
    row = session.execute(query).one_or_none()
    if row is None:
        raise not_found()
    user, stored = row
    return ScimAccount(user, stored, groups_of(session, [user.id]).get(user.id, []))


def groups_of(session: Session, user_ids: Collection[UUID]) -> dict[UUID, list[ScimGroup]]:
    """Return the groups of users that the caller has loaded, by name."""
    memberships = session.execute(
        select(ScimMember.user_id, ScimGroup)
        .join(ScimGroup, ScimGroup.id == ScimMember.group_id)
        .where(ScimMember.user_id.in_(user_ids))
        .order_by(ScimGroup.display_key, ScimGroup.id)
    )
    groups: dict[UUID, list[ScimGroup]] = {}
    for user_id, group in memberships:
        groups.setdefault(user_id, []).append(group)
    return groups


def create(session: Session, caller: Caller, fields: ScimUserFields) -> ScimAccount:
    """Create a user with the default access, or bring back one that the directory has deleted.

    Raises `Forbidden`, and `ValidationFailed` (``invalid_email``, ``too_long``, ``email_exists``).
    """
    caller.require(Permission.USERS_WRITE)
    _validate(fields)
    partner_id = partners.own_partner_id(caller)
    same = select(User.id).where(
        User.partner_id == partner_id, User.email_key == email_key(fields.email)
    )
    known_id = session.scalar(same)
    if known_id is not None:
        user = users.get(session, caller, known_id, for_change=True)
        stored = session.get(ScimUser, user.id, populate_existing=True)
        if stored is None or stored.removed_at is None:
            raise email_exists()
        stored.removed_at = None
    else:
        assignment = access.default_assignment(session, partner_id)
        role = assignment.role if assignment else Role.PARTNER_EDITOR
        user = users.invite(
            session, caller, email=fields.email, user_type=role, name=fields.name, with_mail=False
        )
        stored = access.row_of(session, user)
        if assignment is not None and fields.active is not False:
            access.invite(session, caller, user)
    return _store(session, caller, user, stored, fields, active=fields.active is not False)


def change(
    session: Session, caller: Caller, account: ScimAccount, fields: ScimUserFields
) -> ScimAccount:
    """Store all fields of a user who was loaded for a change. A new address of a user who has
    signed in waits until it is confirmed.

    Raises `Forbidden`, `ValidationFailed` (``invalid_email``, ``too_long``, ``email_exists``,
    ``user_limit_reached``) and `Conflict` (``last_partner_admin``, ``other_organization``).
    """
    caller.require(Permission.USERS_WRITE)
    _validate(fields)
    stored = access.row_of(session, account.user)
    active = None if fields.active is account.is_active else fields.active
    return _store(session, caller, account.user, stored, fields, active=active)


def lock_groups(session: Session, caller: Caller, user_id: UUID) -> None:
    """Lock the groups of a user to `remove`, before the user: so do changes of members."""
    groups = (
        of_tenant(select(ScimGroup.id), caller, ScimGroup.partner_id)
        .join(ScimMember, ScimMember.group_id == ScimGroup.id)
        .where(ScimMember.user_id == user_id)
    )
    session.execute(groups.order_by(ScimGroup.id).with_for_update(of=ScimGroup))


def remove(session: Session, caller: Caller, account: ScimAccount) -> None:
    """Deactivate a user who was loaded for a change, after `lock_groups`; for the directory they
    are gone.

    Raises `Forbidden` and `Conflict` (``last_partner_admin``, ``account_in_use``).
    """
    caller.require(Permission.USERS_WRITE)
    user = account.user
    if user.status is not UserStatus.DEACTIVATED:
        users.deactivate(session, caller, user.id)
    stored = access.row_of(session, user)
    stored.removed_at, stored.waits_for_role = utcnow(), False
    of_user = ScimMember.user_id == user.id
    for group in groups_of(session, [user.id]).get(user.id, []):
        group.version += 1
    for member in session.scalars(select(ScimMember).where(of_user)).all():
        session.delete(member)
    session.flush()


def members_among(session: Session, caller: Caller, user_ids: Collection[UUID]) -> set[UUID]:
    """Return those of the users that the directory sees."""
    if not user_ids:
        return set()
    query = rows(caller).where(User.id.in_(user_ids)).with_only_columns(User.id)
    return set(session.scalars(query))


def _store(
    session: Session,
    caller: Caller,
    user: User,
    stored: ScimUser,
    fields: ScimUserFields,
    *,
    active: bool | None,
) -> ScimAccount:
    changes = UpdateUserInput.model_construct(email=fields.email, payment_tier=None)
    users.update(session, caller, user.id, changes, name=fields.name or "")
    stored.external_id = fields.external_id
    stored.given_name, stored.family_name = fields.given_name, fields.family_name
    session.flush()
    if active is True:
        access.activate(session, caller, user, stored)
    elif active is False:
        access.deactivate(session, caller, user, stored)
    return get(session, caller, user.id)


def _validate(fields: ScimUserFields) -> None:
    refuse_no_email(fields.email, "userName")
    for name, text in (
        ("displayName", fields.name),
        ("name.givenName", fields.given_name),
        ("name.familyName", fields.family_name),
        ("externalId", fields.external_id),
    ):
        check_length(name, text, MAX_TEXT_LENGTH)
