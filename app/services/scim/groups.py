"""Groups of a partner's directory, and the role that a partner admin gives to each."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Conflict, NotFound, ValidationFailed, check_length, check_version
from app.languages import gettext
from app.models import ScimGroup, ScimMember, User, new_id
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit, organizations, partners
from app.services.scim import access, users
from app.services.tenancy import fetch, of_tenant
from app.services.uniqueness import unless_taken
from app.services.users.loading import MEMBERS, check_grant

MAX_TEXT_LENGTH = 200
"""Maximum characters of a name or an external id."""
MAX_CHANGES = 1000
"""Maximum members that one request adds and removes."""


@dataclass(frozen=True, slots=True)
class ScimGroupFields:
    """The directory's data about a group. ``member_ids`` None leaves the members."""

    display_name: str
    external_id: str | None = None
    member_ids: frozenset[UUID] | None = field(default=frozenset())


def rows(caller: Caller) -> Select[ScimGroup]:
    """Return the groups of the caller's partner. Raises `Forbidden`."""
    caller.require(Permission.USERS_READ)
    return of_tenant(select(ScimGroup), caller, ScimGroup.partner_id)


def get(session: Session, caller: Caller, group_id: UUID, *, for_change: bool = False) -> ScimGroup:
    """Return a group. ``for_change`` locks the row. Raises `NotFound` (``group_not_found``)."""
    query = rows(caller).where(ScimGroup.id == group_id)
    return fetch(session, query, not_found(), for_change=for_change)


def not_found() -> NotFound:
    return NotFound(gettext("There is no such group."), "group_not_found")


def listing(session: Session, caller: Caller) -> Sequence[ScimGroup]:
    """Return all groups of the caller's partner, by name. Raises `Forbidden`."""
    return session.scalars(rows(caller).order_by(ScimGroup.display_key, ScimGroup.id)).all()


def sizes(session: Session, groups: Collection[ScimGroup]) -> dict[UUID, int]:
    """Return the number of members of groups that the caller has loaded."""
    if not groups:
        return {}
    ids = [group.id for group in groups]
    query = select(ScimMember.group_id, func.count().label("members")).where(
        ScimMember.group_id.in_(ids)
    )
    counts = session.execute(query.group_by(ScimMember.group_id))
    return {row.group_id: row.members for row in counts}


def member_ids_of(session: Session, group_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """Return the ids of the members of groups that the caller has loaded."""
    pairs = session.execute(
        select(ScimMember.group_id, ScimMember.user_id)
        .where(ScimMember.group_id.in_(group_ids))
        .order_by(ScimMember.user_id)
    )
    members: dict[UUID, list[UUID]] = {}
    for group_id, user_id in pairs:
        members.setdefault(group_id, []).append(user_id)
    return members


def create(session: Session, caller: Caller, fields: ScimGroupFields) -> ScimGroup:
    """Create a group without a role.

    Raises `Forbidden`, `Conflict` (``group_exists``) and `ValidationFailed` (``blank``,
    ``too_long``, ``user_not_found``, ``too_many_members``).
    """
    caller.require(Permission.USERS_WRITE)
    _validate(fields)
    group = ScimGroup(
        id=new_id(), partner_id=partners.own_partner_id(caller), **_column_values(fields)
    )
    with unless_taken(session, _exists_error()):
        session.add(group)
    audit.record_change(
        session, caller, "scim_group.created", group, after={"name": group.display_name}
    )
    _set_members(session, caller, group, fields.member_ids)
    return group


def change(session: Session, caller: Caller, group: ScimGroup, fields: ScimGroupFields) -> None:
    """Store the fields of a group that was loaded for a change; added and removed users get the
    access of their groups.

    Raises as `create` and `access.apply`; nothing is saved then.
    """
    caller.require(Permission.USERS_WRITE)
    _validate(fields)
    before = {"name": group.display_name, "externalId": group.external_id}
    with unless_taken(session, _exists_error()):
        for name, value in _column_values(fields).items():
            setattr(group, name, value)
    after = {"name": group.display_name, "externalId": group.external_id}
    if before != after:
        audit.record_version(
            session, caller, "scim_group.updated", group, before=before, after=after
        )
    _set_members(session, caller, group, fields.member_ids)


def remove(session: Session, caller: Caller, group: ScimGroup) -> None:
    """Delete a group that was loaded for a change; its members lose its access.

    Raises as `access.apply`.
    """
    caller.require(Permission.USERS_WRITE)
    audit.record_change(
        session, caller, "scim_group.removed", group, before={"name": group.display_name}
    )
    gives_role, member_ids = group.role is not None, _member_ids(session, group)
    session.delete(group)
    session.flush()
    if gives_role:
        access.apply_to(session, caller, member_ids)


def map_to(
    session: Session,
    caller: Caller,
    group_id: UUID,
    role: Role | None,
    organization_id: UUID | None,
    *,
    expected_version: int | None,
) -> ScimGroup:
    """Choose the role that a group gives, and the organization of its members; they get it now.

    Raises `Forbidden`, `NotFound` (``group_not_found``, ``organization_not_found``),
    `ValidationFailed` (``required``, ``unknown_role``), `Conflict` (``changed_meanwhile``), and as
    `access.apply`.
    """
    caller.require(Permission.CREDENTIALS_MANAGE)
    group = get(session, caller, group_id, for_change=True)
    if role is not None and role not in access.HIGHEST_FIRST:
        raise ValidationFailed.on("role", "unknown_role", gettext("Choose one of the roles."))
    if role is not None:
        check_grant(caller, role)
    if role not in MEMBERS:
        organization_id = None
    elif organization_id is None:
        message = gettext("Enter the organization of these members.")
        raise ValidationFailed.on("organizationId", "required", message)
    else:
        organization_id = organizations.get(session, caller, organization_id).id
    check_version(expected_version, group.version, "directory group")
    before = {"role": group.role, "organizationId": group.organization_id}
    after = {"role": role, "organizationId": organization_id}
    if before == after:
        return group
    group.role, group.organization_id = role, organization_id
    audit.record_version(session, caller, "scim_group.mapped", group, before=before, after=after)
    access.apply_to(session, caller, _member_ids(session, group))
    return group


def _set_members(
    session: Session, caller: Caller, group: ScimGroup, member_ids: frozenset[UUID] | None
) -> None:
    if member_ids is None:
        return
    current_ids = _member_ids(session, group)
    added, removed = member_ids - current_ids, current_ids - member_ids
    if len(added) + len(removed) > MAX_CHANGES:
        message = gettext(
            "Add and remove at most %(most)s members in one request.", most=MAX_CHANGES
        )
        raise ValidationFailed.on("members", "too_many_members", message)
    if added - users.members_among(session, caller, added):
        message = gettext("A member is not a user of this directory.")
        raise ValidationFailed.on("members", "user_not_found", message)
    if not added | removed:
        return
    # Locked before their rows here are changed, in the same order as when the directory deletes a
    # user.
    locked = select(User.id).where(User.id.in_(added | removed)).order_by(User.id)
    session.execute(locked.with_for_update())
    for member in session.scalars(
        select(ScimMember).where(ScimMember.group_id == group.id, ScimMember.user_id.in_(removed))
    ).all():
        session.delete(member)
    session.add_all(
        ScimMember(group_id=group.id, user_id=user_id, partner_id=group.partner_id)
        for user_id in sorted(added)
    )
    audit.record_version(
        session,
        caller,
        "scim_group.members_changed",
        group,
        after={"added": _emails_of(session, added), "removed": _emails_of(session, removed)},
    )
    if group.role is not None:
        access.apply_to(session, caller, added | removed)


def _member_ids(session: Session, group: ScimGroup) -> frozenset[UUID]:
    return frozenset(member_ids_of(session, [group.id]).get(group.id, []))


def _emails_of(session: Session, user_ids: Collection[UUID]) -> list[str]:
    query = select(User.email).where(User.id.in_(user_ids)).order_by(User.email_key)
    return list(session.scalars(query))


def _column_values(fields: ScimGroupFields) -> dict[str, str | None]:
    name = fields.display_name.strip()
    return {"display_name": name, "display_key": name.lower(), "external_id": fields.external_id}


def _validate(fields: ScimGroupFields) -> None:
    name = fields.display_name.strip()
    if not name:
        raise ValidationFailed.on("displayName", "blank", gettext("Enter a value."))
    for field_name, text in (
        ("displayName", name.lower()),
        ("displayName", name),
        ("externalId", fields.external_id),
    ):
        check_length(field_name, text, MAX_TEXT_LENGTH)


def _exists_error() -> Conflict:
    return Conflict(gettext("A group with this name exists already."), "group_exists")
