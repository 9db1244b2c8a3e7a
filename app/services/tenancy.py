"""The tenant filter: which rows a caller may see. Every loader of tenant rows uses it.

It is a layer below all other services, so that they can load organizations without a cycle.
"""

from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Select, false, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session, joinedload

from app.database import read_once
from app.enums import OrganizationStatus
from app.errors import Conflict, NotFound
from app.languages import gettext
from app.models import GroupedOrganization, GroupLimit, Organization, Partner, User
from app.policy.caller import Caller

T = TypeVar("T")
ARCHIVED = "archived"
"""The code of `refuse_archived`."""
ORGANIZATION_SUSPENDED = "organization_suspended"


def of_tenant(
    query: Select[T],
    caller: Caller,
    partner_id: InstrumentedAttribute[Any],
    organization_id: InstrumentedAttribute[Any] | None = None,
) -> Select[T]:
    """Filter the rows of the caller's partner and organization; an operator without a partner sees
    all.

    A caller with neither sees none. ``organization_id`` is None for rows that belong to a partner.
    A limited caller sees the rows of the organizations in its groups.
    """
    if caller.partner_id is not None:
        query = query.where(partner_id == caller.partner_id)
    elif not caller.is_operator:
        query = query.where(false())
    if caller.organization_id is not None and organization_id is not None:
        query = query.where(organization_id == caller.organization_id)
    if caller.is_limited and organization_id is not None:
        query = query.where(in_groups(caller, organization_id))
    return query


def in_groups(
    caller: Caller, organization_id: InstrumentedAttribute[Any] | ColumnElement[Any]
) -> ColumnElement[bool]:
    """Return the condition that the organization is in a limited caller's groups; true for all
    others."""
    if not caller.is_limited:
        return true()
    return organization_id.in_(
        select(GroupedOrganization.organization_id)
        .join(GroupLimit, GroupLimit.group_id == GroupedOrganization.group_id)
        .where(GroupLimit.subject_id == caller.subject_id)
    )


def fetch(
    session: Session,
    query: Select[T],
    missing: NotFound,
    *,
    for_change: bool = False,
    key: tuple[Any, ...] | None = None,
) -> T:
    """Return the one row of a query that `of_tenant` has filtered. Raises ``missing`` if there is
    none.

    ``for_change`` locks the row until the transaction ends; rows that refer to it can be written
    meanwhile. Otherwise a read-only transaction reads the row of a ``key`` once.
    """
    if for_change:
        query = query.with_for_update(key_share=True)
        query = query.execution_options(populate_existing=True)
    elif key:
        return read_once(session, key, lambda: fetch(session, query, missing))
    row = session.scalars(query).one_or_none()
    if row is None:
        raise missing
    return row


def lock_owner(session: Session, partner_id: UUID, organization_id: UUID | None = None) -> None:
    """Lock the row of the organization, or that of the partner, until the transaction ends: others
    that count or change what it has wait. Rows that refer to it can be written meanwhile."""
    owner = Organization if organization_id else Partner
    query = select(owner.id).where(owner.id == (organization_id or partner_id))
    session.execute(query.with_for_update(key_share=True))


def lock_own_user(session: Session, caller: Caller) -> User:
    """Return the caller's own row, locked as by `lock_owner`. Raises `NotFound` for callers that
    are not users."""
    query = select(User).where(User.id == caller.user_id)
    return fetch(session, query, NotFound(), for_change=True)


def visible_organizations(caller: Caller) -> Select[Organization]:
    """Return the caller's organization, those of the caller's partner, or all for an operator."""
    return of_tenant(select(Organization), caller, Organization.partner_id, Organization.id)


def get_organization(
    session: Session, caller: Caller, organization_id: UUID, *, for_change: bool = False
) -> Organization:
    """Return the organization. Raises `NotFound` (``organization_not_found``) if the caller may not
    see it.

    ``for_change`` locks the row until the transaction ends. A read-only transaction reads it once.
    """
    query = visible_organizations(caller).where(Organization.id == organization_id)
    key = (Organization, caller, organization_id)
    return fetch(session, query, organization_not_found(), for_change=for_change, key=key)


def fetch_with_organization(
    session: Session,
    caller: Caller,
    query: Select[T],
    organization_id: InstrumentedAttribute[UUID],
    missing: NotFound,
) -> tuple[T, Organization]:
    """Return the one row of a query that `of_tenant` has filtered, and its organization: one query.
    Raises ``missing`` if there is none."""
    both = query.add_columns(Organization).join(Organization, Organization.id == organization_id)
    row = session.execute(both).one_or_none()
    if row is None:
        raise missing
    remember_with_organization(session, caller, row[0], row[1])
    return row[0], row[1]


def remember_with_organization(
    session: Session, caller: Caller, row: Any, organization: Organization
) -> None:
    """Let loaders, which `fetch` by class, caller and id, find a row that the caller may see and
    its organization, which were read together, in a read-only transaction."""
    read_once(session, (type(row), caller, row.id), lambda: row)
    remember_organization(session, caller, organization)


def remember_organization(session: Session, caller: Caller, organization: Organization) -> None:
    """Let `get_organization` find an organization that the caller may see, in a read-only
    transaction."""
    read_once(session, (Organization, caller, organization.id), lambda: organization)


def get_organization_with_limits(
    session: Session, caller: Caller, organization_id: UUID
) -> Organization:
    """As `get_organization`, with the limits of its plan."""
    query = visible_organizations(caller).where(Organization.id == organization_id)
    limits = joinedload(Organization.plan_limit)
    key = ("organization with limits", caller, organization_id)
    return fetch(session, query.options(limits), organization_not_found(), key=key)


def refuse_archived(organization: Organization) -> None:
    """Raise `Conflict` (``archived``) if the organization is archived."""
    if organization.status is OrganizationStatus.ARCHIVED:
        extra = {"organizationId": str(organization.id)}
        raise Conflict(archived_message(), ARCHIVED, extra=extra)


def archived_message() -> str:
    return gettext("The organization is archived. Restore it first.")


def inactive_message(organization: Organization, suspended_partner: str | None) -> str | None:
    """Return why an organization places no calls; None if it may. ``suspended_partner`` is the name
    of its partner if that is suspended."""
    if organization.status is OrganizationStatus.ARCHIVED:
        return gettext("The organization is archived.")
    if organization.status is OrganizationStatus.SUSPENDED:
        return gettext("The organization is suspended.")
    if suspended_partner:
        return gettext("The partner %(partner)s is suspended.", partner=suspended_partner)
    return None


def no_calls_message() -> str:
    """Return what the suspension of an organization means for its calls."""
    return gettext("The organization is suspended: it places no calls.")


def suspended_message(name: str) -> str:
    """``name`` is that of an organization or partner."""
    return gettext("%(name)s is suspended. Reactivate it first.", name=name)


def organization_not_found() -> NotFound:
    return NotFound(gettext("There is no such organization."), "organization_not_found")
