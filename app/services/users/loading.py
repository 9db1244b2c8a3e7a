"""Load users: another tenant's user is treated like a missing one."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, or_, select, union_all
from sqlalchemy.orm import Session

from app.database import read_once
from app.enums import Role, UserStatus
from app.errors import Forbidden, NotFound
from app.languages import gettext
from app.models import Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas import users as wire
from app.services import name_search, organizations, partners
from app.services.paging import (
    MAX_COUNTED,
    Listing,
    Page,
    both_ways,
    by_expression,
    count_up_to,
    keyset_page,
    sort_named,
)
from app.services.tenancy import of_tenant, remember_organization
from app.validation.texts import trim
from app.validation.uuids import as_hyphenated_uuid

SORTS = both_ways(
    created=User.created_at,
    email=User.email_key,
    name=User.name,
    status=User.status,
    **{"last-sign-in": User.last_sign_in},
) | by_expression("role", User.role, lambda user: user.role)
"""The sort orders of `search`."""

PARTNER_LEVEL = frozenset({Role.PARTNER_ADMIN, Role.PARTNER_EDITOR, Role.ADMIN})
"""Roles that belong to a partner as a whole, without an organization."""

MEMBERS = frozenset({Role.OWNER, Role.STANDARD})
"""Roles of users of an organization."""

_MAY_GIVE: dict[Role, frozenset[Role]] = {
    Role.OPERATOR: PARTNER_LEVEL | MEMBERS,
    Role.PARTNER_ADMIN: PARTNER_LEVEL | MEMBERS,
    Role.ADMIN: MEMBERS,
    Role.OWNER: MEMBERS,
}


def grantable_roles(role: Role) -> frozenset[Role]:
    """Return the types of user that a caller with this role may create and change."""
    return _MAY_GIVE.get(role, frozenset())


def check_type(caller: Caller, user_type: Role) -> None:
    """Raise `Forbidden` (``role_too_low``) if the caller may not create or change users of this
    type: users can't grant a role above their own, and an admin only a member's."""
    if user_type not in grantable_roles(caller.role):
        message = gettext(
            "Your role may not create or change users of type %(type)s.", type=user_type.value
        )
        raise Forbidden(message, "role_too_low", extra={"userType": user_type.value})


def check_grant(caller: Caller, user_type: Role) -> None:
    """As `check_type`, for actions that grant a user the permissions of this type: the caller's
    credential must have them itself. Raises `Forbidden` (``insufficient_scope`` too)."""
    check_type(caller, user_type)
    caller.require_grant(user_type)


def visible(caller: Caller) -> Select[User]:
    """Return the users that the caller may see; never operators, and for an admin standard users
    only."""
    query = select(User).where(User.user_type != Role.OPERATOR)
    query = of_tenant(query, caller, User.partner_id, User.organization_id)
    if caller.role is Role.ADMIN:
        query = query.where(User.user_type == Role.STANDARD)
    return query


def get(
    session: Session, caller: Caller, external_user_id: str | UUID, *, for_change: bool = False
) -> User:
    """Return the user with this ``idpUid``, otherwise the one with this id, within the caller's
    partner.

    Operators, who have no partner, find users by id alone. ``for_change`` locks the row until the
    transaction ends. A read-only transaction reads it once. Raises `NotFound` (``user_not_found``).
    """
    text = str(external_user_id)
    if for_change:
        return _get(session, caller, text, for_change=True)
    return read_once(session, (User, caller, text), lambda: _get(session, caller, text))


def get_with_organization(
    session: Session, caller: Caller, external_user_id: str | UUID
) -> tuple[User, Organization | None]:
    """As `get`, with the user's organization, in one query."""
    text = str(external_user_id)
    rows = _rows_of(caller, text).outerjoin(Organization, Organization.id == User.organization_id)
    matches = session.execute(rows.add_columns(Organization)).all()
    if not matches:
        raise not_found()
    user, organization = max(matches, key=lambda row: row[0].idp_uid == text)
    if organization is not None:
        remember_organization(session, caller, organization)
    return user, organization


def _get(session: Session, caller: Caller, text: str, *, for_change: bool = False) -> User:
    rows = _rows_of(caller, text)
    if for_change:
        rows = rows.with_for_update().execution_options(populate_existing=True)
    users = session.scalars(rows).all()
    if not users:
        raise not_found()
    return max(users, key=lambda user: user.idp_uid == text)


def _rows_of(caller: Caller, text: str) -> Select[User]:
    """Return the users with this ``idpUid`` or id. Raises `NotFound` if it can't be either."""
    rows, conditions = visible(caller), []
    if caller.partner_id is not None and "\x00" not in text:
        conditions.append(User.idp_uid == text)
    if (identifier := as_hyphenated_uuid(text)) is not None:
        conditions.append(User.id == identifier)
    if not conditions:
        raise not_found()
    # Not a single condition with "or": no index serves it.
    ids = union_all(*(rows.with_only_columns(User.id).where(each) for each in conditions))
    return rows.where(User.id.in_(ids))


def get_by_email(session: Session, caller: Caller, email: str) -> User:
    """Return the user of the caller's partner with this address. Raises `NotFound`."""
    query = visible(caller).where(
        User.partner_id == partners.own_partner_id(caller), User.email_key == email.lower()
    )
    user = session.scalars(query).one_or_none()
    if user is None:
        raise not_found()
    return user


def names_by_email(session: Session, caller: Caller, emails: Collection[str]) -> dict[str, str]:
    """Return the names of the users with these addresses, as far as the caller may see them."""
    names = seen_by_email(session, caller, emails)
    return {email: name for email, name in names.items() if name}


def seen_by_email(
    session: Session, caller: Caller, emails: Collection[str]
) -> dict[str, str | None]:
    """Return the same with those who have no name."""
    rows = session.execute(
        visible(caller)
        .where(User.email_key.in_({email.lower() for email in emails}))
        .with_only_columns(User.email, User.name)
    )
    return {row.email: row.name for row in rows}


def listing(
    session: Session, caller: Caller, partner_id: UUID, organization_id: UUID | None = None
) -> Listing[User, wire.User]:
    """Return the users of a partner, or of one of its organizations. Raises `NotFound`
    for either."""
    caller.require(Permission.USERS_READ)
    if organization_id is None:
        partners.check(session, caller, partner_id)
    else:
        organizations.get_in(session, caller, partner_id, organization_id)
    rows = visible(caller).where(User.partner_id == partner_id)
    if organization_id is not None:
        rows = rows.where(User.organization_id == organization_id)
    return Listing(rows, User.created_at, User.id, to_resource)


@dataclass(frozen=True, slots=True)
class UserFilter:
    """The filters of a user list; ``query`` searches addresses, names and the names of
    organizations, and matches a whole external id. ``organization`` is an id or a part of a name,
    ``partner_id`` narrows an operator's view; ``is_member`` keeps only users of organizations;
    ``has_factor``: whether signing in takes a second step."""

    query: str | None = None
    user_type: Role | None = None
    is_member: bool = False
    status: UserStatus | None = None
    organization: UUID | str | None = None
    partner_id: UUID | None = None
    has_factor: bool | None = None


def search(
    session: Session,
    caller: Caller,
    filters: UserFilter | None = None,
    *,
    sort: str = "-created",
    cursor: str | None = None,
    limit: int = 50,
) -> Page[User]:
    """Return a page of users. Raises `Forbidden` and `ValidationFailed` (``unknown_sort``,
    ``invalid_cursor``)."""
    rows = _filtered_rows(session, caller, filters or UserFilter())
    return keyset_page(session, rows, sort_named(sort, SORTS), cursor=cursor, limit=limit)


def count(session: Session, caller: Caller, filters: UserFilter, *, most: int = MAX_COUNTED) -> int:
    """Return how many match, as `paging.count_up_to`. Raises `Forbidden`."""
    rows = _filtered_rows(session, caller, filters).with_only_columns(User.id)
    return count_up_to(session, rows, most)


def get_many(session: Session, caller: Caller, ids: Collection[UUID]) -> list[User]:
    """Return those of the users that the caller may see, by address. Raises `Forbidden`."""
    caller.require(Permission.USERS_READ)
    if not ids:
        return []
    rows = session.scalars(visible(caller).where(User.id.in_(ids)))
    # Sorted here: to order them SQLite would scan all addresses.
    return sorted(rows, key=lambda user: (user.email_key, user.id))


def types_for(caller: Caller) -> tuple[Role, ...]:
    """Return the types of user that the caller may create and change, the lowest first."""
    return tuple(role for role in reversed(Role) if role in grantable_roles(caller.role))


def _filtered_rows(session: Session, caller: Caller, filters: UserFilter) -> Select[User]:
    caller.require(Permission.USERS_READ)
    rows = visible(caller)
    if filters.partner_id is not None:
        rows = rows.where(User.partner_id == filters.partner_id)
    if filters.organization is not None:
        organization_id = User.organization_id
        rows = rows.where(
            name_search.is_of_organization(session, organization_id, filters.organization)
        )
    query = trim(filters.query)
    if query:
        # A value for each row, because with an "exists" PostgreSQL would first read all names.
        is_theirs = Organization.id == User.organization_id
        of_organization = select(Organization.named(query)).where(is_theirs)
        rows = rows.where(
            or_(
                User.found_by(query),
                User.idp_uid == query,
                of_organization.scalar_subquery(),
            )
        )
        condition = name_search.users_by_name(
            session, filters.partner_id or caller.partner_id, query
        )
        rows = rows if condition is None else rows.where(condition)
    if filters.user_type is not None:
        rows = rows.where(User.has_role(filters.user_type))
    if filters.is_member:
        rows = rows.where(User.user_type == Role.STANDARD)
    if filters.status is not None:
        rows = rows.where(User.status == filters.status)
    if filters.has_factor is not None:
        rows = rows.where(User.second_factor_at.is_not(None) == filters.has_factor)
    return rows


def not_found() -> NotFound:
    return NotFound(gettext("There is no such user."), "user_not_found")


def to_resource(user: User) -> wire.User:
    """Return a user as the contract's resource."""
    return wire.User.model_construct(
        id=user.id,
        email=user.email,
        name=user.name,
        admin_owned=user.admin_owned,
        created_at=user.created_at,
        updated_at=user.updated_at,
        unsubscribe=user.unsubscribe,
        last_session=user.last_session,
        idp_uid=user.idp_uid,
        org_id=user.organization_id,
        last_sign_in=user.last_sign_in,
        status=user.status.value,
        user_type=user.user_type,
    )
