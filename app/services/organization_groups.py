"""Groups of organizations, and the admins and API clients that are limited to them.

`app.services.tenancy` decides which rows a limited caller sees.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, delete, func, select
from sqlalchemy import update as update_rows
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import (
    Conflict,
    Forbidden,
    NotFound,
    ValidationFailed,
    check_version,
    content_version,
)
from app.languages import gettext
from app.models import (
    GroupedOrganization,
    GroupLimit,
    ListExport,
    OAuthClient,
    Organization,
    OrganizationGroup,
    User,
    utcnow,
)
from app.models.base import name_key
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit
from app.services.auth import author_check
from app.services.tenancy import (
    fetch,
    get_organization,
    of_tenant,
    organization_not_found,
    visible_organizations,
)
from app.services.uniqueness import unless_taken
from app.validation.texts import trim

MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class GroupInput:
    name: str
    organization_ids: Collection[UUID]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group with the number of its organizations and of the users and clients limited to it."""

    group: OrganizationGroup
    organizations: int
    limited: int


def listing(session: Session, caller: Caller) -> list[GroupRow]:
    """Return the groups of the caller's partner by name. Raises `Forbidden`, and `NotFound` for
    operators, who have none."""
    counts = (
        select(func.count(kind.group_id))
        .where(kind.group_id == OrganizationGroup.id)
        .scalar_subquery()
        for kind in (GroupedOrganization, GroupLimit)
    )
    query = _manageable_groups(caller).order_by(OrganizationGroup.name_key).add_columns(*counts)
    return [GroupRow(row[0], row[1], row[2]) for row in session.execute(query)]


def get(
    session: Session, caller: Caller, group_id: UUID, *, for_change: bool = False
) -> OrganizationGroup:
    """Return a group. Raises `Forbidden` and `NotFound` (``group_not_found``)."""
    query = _manageable_groups(caller).where(OrganizationGroup.id == group_id)
    return fetch(session, query, _group_not_found(), for_change=for_change)


def organizations_of(session: Session, group: OrganizationGroup) -> Sequence[Organization]:
    """Return the organizations of a group that the caller has loaded, by name."""
    query = (
        select(Organization)
        .join(GroupedOrganization, GroupedOrganization.organization_id == Organization.id)
        .where(GroupedOrganization.group_id == group.id)
        .order_by(Organization.name_key, Organization.id)
    )
    return session.scalars(query).all()


def create(session: Session, caller: Caller, data: GroupInput) -> OrganizationGroup:
    """Create a group. Raises `Forbidden`, `NotFound` (``organization_not_found``) and
    `ValidationFailed` (``blank``, ``too_long``, ``name_exists``)."""
    _manageable_groups(caller)
    name = _validate_name(data.name)
    ids = _validate_ids(session, caller, data.organization_ids)
    group = OrganizationGroup(partner_id=caller.partner_id, name=name, name_key=name_key(name))
    _store_name(session, group)
    _store_organizations(session, group, ids)
    after = {"name": name, "organizations": len(ids)}
    audit.record_change(session, caller, "organization_group.created", group, after=after)
    return group


def update(
    session: Session,
    caller: Caller,
    group_id: UUID,
    data: GroupInput,
    *,
    expected_version: int | None = None,
) -> OrganizationGroup:
    """Replace the name and the organizations. Raises as `create`, `NotFound`
    (``group_not_found``) and `Conflict` (``changed_meanwhile``)."""
    group = get(session, caller, group_id, for_change=True)
    check_version(expected_version, group.version, "organization group")
    name = _validate_name(data.name)
    ids = _validate_ids(session, caller, data.organization_ids)
    previous = organizations_of(session, group)
    before = {"name": group.name, "organizations": sorted(each.name for each in previous)}
    group.name, group.name_key = name, name_key(name)
    group.version += 1
    _store_name(session, group)
    if not ids >= {each.id for each in previous}:
        _end_exports(session, _limited_to(group))
    session.execute(delete(GroupedOrganization).where(GroupedOrganization.group_id == group.id))
    _store_organizations(session, group, ids)
    names = sorted(each.name for each in organizations_of(session, group))
    after = {"name": name, "organizations": names}
    action = "organization_group.updated"
    audit.record_change(session, caller, action, group, before=before, after=after)
    return group


def add(session: Session, caller: Caller, group_id: UUID, organization_id: UUID) -> None:
    """Put an organization into a group.

    Raises `Forbidden`, `NotFound` (``group_not_found``, ``organization_not_found``) and `Conflict`
    (``already_in_group``).
    """
    group = get(session, caller, group_id, for_change=True)
    organization = get_organization(session, caller, organization_id)
    if session.get(GroupedOrganization, (group.id, organization.id)) is not None:
        message = gettext("Already in the group.")
        raise Conflict(message, "already_in_group")
    group.version += 1
    _store_organizations(session, group, [organization.id])
    action, after = "organization.grouped", {"group": group.name}
    audit.record_change(session, caller, action, organization, after=after)


def remove(session: Session, caller: Caller, group_id: UUID) -> OrganizationGroup:
    """Remove a group. Users and clients limited to it alone then see no organization. Raises
    `Forbidden` and `NotFound` (``group_not_found``)."""
    group = get(session, caller, group_id, for_change=True)
    audit.record_change(session, caller, "organization_group.removed", group)
    _end_exports(session, _limited_to(group))
    session.delete(group)
    session.flush()
    return group


def groups_of(session: Session, subject: User | OAuthClient) -> Sequence[OrganizationGroup]:
    """Return the groups of a user or client that the caller has loaded, by name."""
    query = (
        select(OrganizationGroup)
        .join(GroupLimit, GroupLimit.group_id == OrganizationGroup.id)
        .where(GroupLimit.subject_id == subject.id)
        .order_by(OrganizationGroup.name_key)
    )
    return session.scalars(query).all()


def limit_version(session: Session, subject: User | OAuthClient) -> int:
    """Return a number that identifies the limit of a user or client that the caller has loaded."""
    group_ids = sorted(group.id for group in groups_of(session, subject))
    return content_version(repr((subject.is_limited, group_ids)).encode())


def limit(
    session: Session,
    caller: Caller,
    subject: User | OAuthClient,
    group_ids: Collection[UUID] | None,
    *,
    expected_version: int | None = None,
) -> None:
    """Limit a user or client with the role admin, locked before, to groups from the
    next request on; None ends the limit. Exports of the user end.

    ``expected_version`` is the `limit_version` that the caller has seen. Raises `Forbidden`,
    `NotFound` (``group_not_found``; for other roles too), `Conflict` (``changed_meanwhile``) and
    `ValidationFailed` (``group_required``).
    """
    if subject.role is not Role.ADMIN:
        raise NotFound
    check_version(expected_version, limit_version(session, subject), "access")
    names_by_id = {each.group.id: each.group.name for each in listing(session, caller)}
    requested_ids = set(group_ids or ())
    if not requested_ids <= names_by_id.keys():
        raise _group_not_found()
    if group_ids is not None and not requested_ids:
        message = gettext("Choose at least one group.")
        raise ValidationFailed.on("groups", "group_required", message)
    before = {"groups": [group.name for group in groups_of(session, subject)] or None}
    if isinstance(subject, User):
        author_check.access_changes(session, subject.id)
        _end_exports(session, select(User.id).where(User.id == subject.id))
    session.execute(delete(GroupLimit).where(GroupLimit.subject_id == subject.id))
    for group_id in sorted(requested_ids):
        row = GroupLimit(subject_id=subject.id, group_id=group_id, partner_id=caller.partner_id)
        session.add(row)
    subject.is_limited = group_ids is not None
    session.flush()
    after = {"groups": sorted(names_by_id[group_id] for group_id in requested_ids) or None}
    kind = "user" if isinstance(subject, User) else "client"
    audit.record_change(session, caller, f"{kind}.limited", subject, before=before, after=after)


def add_created(session: Session, caller: Caller, organization: Organization) -> None:
    """Put an organization that a limited caller has just added into the first of their groups, by
    name. Raises `Forbidden` (``no_group``) if none is left."""
    if not caller.is_limited:
        return
    first = (
        select(OrganizationGroup.id)
        .join(GroupLimit, GroupLimit.group_id == OrganizationGroup.id)
        .where(GroupLimit.subject_id == caller.subject_id)
        .order_by(OrganizationGroup.name_key)
        .limit(1)
    )
    group_id = session.scalar(first)
    if group_id is None:
        message = gettext("You have no group of organizations. Ask a partner admin for one.")
        raise Forbidden(message, "no_group")
    row = GroupedOrganization(group_id=group_id, organization_id=organization.id)
    row.partner_id = organization.partner_id
    session.add(row)
    session.flush()


def _validate_name(name: str) -> str:
    name = trim(name)
    if not name or len(name) > MAX_NAME:
        message = gettext("Enter a name of 1 to 200 characters.")
        raise ValidationFailed.on("name", "too_long" if name else "blank", message)
    return name


def _validate_ids(session: Session, caller: Caller, ids: Collection[UUID]) -> set[UUID]:
    query = visible_organizations(caller).where(Organization.id.in_(ids))
    known_ids = set(session.scalars(query.with_only_columns(Organization.id)))
    if known_ids != set(ids):
        raise organization_not_found()
    return known_ids


def _limited_to(group: OrganizationGroup) -> Select[UUID]:
    return select(GroupLimit.subject_id).where(GroupLimit.group_id == group.id)


def _end_exports(session: Session, user_ids: Select[UUID]) -> None:
    """End the exports of users whose access shrinks, including unfinished ones."""
    statement = update_rows(ListExport).where(ListExport.user_id.in_(user_ids))
    session.execute(
        statement.values(expires_at=utcnow()).execution_options(synchronize_session=False)
    )


def _store_name(session: Session, group: OrganizationGroup) -> None:
    message = gettext("Another group has this name.")
    with unless_taken(session, ValidationFailed.on("name", "name_exists", message)):
        session.add(group)


def _store_organizations(session: Session, group: OrganizationGroup, ids: Collection[UUID]) -> None:
    for organization_id in sorted(ids):
        row = GroupedOrganization(group_id=group.id, organization_id=organization_id)
        row.partner_id = group.partner_id
        session.add(row)
    session.flush()


def _manageable_groups(caller: Caller) -> Select[OrganizationGroup]:
    caller.require(Permission.CREDENTIALS_MANAGE)
    if caller.partner_id is None:
        raise _group_not_found()
    return of_tenant(select(OrganizationGroup), caller, OrganizationGroup.partner_id)


def _group_not_found() -> NotFound:
    return NotFound(gettext("There is no such group."), "group_not_found")
