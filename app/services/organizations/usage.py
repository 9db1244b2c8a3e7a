"""The usage of organizations, counted for many at once by a fixed number of queries."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, OrganizationStatus, UserStatus
from app.languages import gettext
from app.models import (
    Assistant,
    Campaign,
    ConversationDay,
    DoNotCallEntry,
    Organization,
    User,
    utcnow,
)
from app.models.organization import ROOMY
from app.policy.caller import Caller
from app.services.organizations.loading import LimitCloseness, close_to_limit, is_close, visible
from app.services.tenancy import organization_not_found, remember_organization

RECENT_DAYS = 30


@dataclass(frozen=True, slots=True)
class OrganizationUsage:
    """Assistants, users with a seat, conversations of the last 30 days (UTC)."""

    assistants: int = 0
    users: int = 0
    recent_conversations: int = 0


def usage_of(session: Session, organization_ids: Collection[UUID]) -> dict[UUID, OrganizationUsage]:
    """Return the use of each organization; they must come from a loader."""
    if not organization_ids:  # PostgreSQL would read the whole tables under their policies
        return {}
    counts = (query.scalar_subquery() for query in _count_queries())
    query = select(Organization.id, *counts).where(Organization.id.in_(organization_ids))
    return {key: OrganizationUsage(*map(int, values)) for key, *values in session.execute(query)}


def get_with_usage(
    session: Session, caller: Caller, organization_id: UUID
) -> tuple[Organization, OrganizationUsage]:
    """Return an organization and its use, in one query. Raises as `get_organization`."""
    counts = (query.scalar_subquery() for query in _count_queries())
    query = visible(caller).where(Organization.id == organization_id).add_columns(*counts)
    row = session.execute(query).one_or_none()
    if row is None:
        raise organization_not_found()
    organization, *counted = row
    remember_organization(session, caller, organization)
    return organization, OrganizationUsage(*map(int, counted))


def newest_with_usage(caller: Caller, limit: int) -> Select[Organization, int, int, int]:
    """Return the query of the newest organizations that are not archived, each with the fields of
    its `OrganizationUsage`."""
    assistants, users, conversations = (query.scalar_subquery() for query in _count_queries())
    rows = visible(caller).where(Organization.status != OrganizationStatus.ARCHIVED)
    newest = rows.order_by(Organization.created_at.desc(), Organization.id.desc()).limit(limit)
    return newest.add_columns(assistants, users, conversations)


def _count_queries() -> tuple[Select[int], Select[int], Select[int]]:
    """Return the queries of the fields of `OrganizationUsage`, within a query of organizations."""
    since = (utcnow() - timedelta(days=RECENT_DAYS - 1)).date()
    conversations = func.coalesce(func.sum(ConversationDay.conversations), 0)
    return (
        select(func.count()).where(Assistant.organization_id == Organization.id),
        select(func.count()).where(
            User.organization_id == Organization.id, User.status != UserStatus.DEACTIVATED
        ),
        select(conversations).where(
            ConversationDay.organization_id == Organization.id, ConversationDay.day >= since
        ),
    )


@dataclass(frozen=True, slots=True)
class OrganizationNearLimit:
    """An organization close to a limit; ``message`` names the limits."""

    organization: Organization
    message: str


def near_limits(session: Session, caller: Caller, limit: int) -> list[OrganizationNearLimit]:
    """Return active organizations with limits above one for users or assistants that have nearly
    used one up, newest first: at most four queries. A limit of 1 that is reached is normal."""
    rows = _near_limit(caller).order_by(Organization.created_at.desc(), Organization.id.desc())
    organizations = list(session.scalars(rows.limit(limit)).all())
    use = (
        usage_of(session, [organization.id for organization in organizations])
        if organizations
        else {}
    )
    return [
        OrganizationNearLimit(
            organization, " ".join(_near_messages(organization, use[organization.id]))
        )
        for organization in organizations
    ]


def any_near_limit(caller: Caller) -> ColumnElement[bool]:
    """Return whether `near_limits` finds any."""
    return _near_limit(caller).exists()


def _near_limit(caller: Caller) -> Select[Organization]:
    return visible(caller).where(
        ROOMY,
        Organization.status == OrganizationStatus.ACTIVE,
        close_to_limit(LimitCloseness.NEAR, above=1),
    )


def _near_messages(organization: Organization, use: OrganizationUsage) -> Iterator[str]:
    """Return which limits are nearly used."""
    assistants, users = organization.assistant_limit, organization.user_limit
    if assistants > 1 and is_close(use.assistants, assistants, LimitCloseness.NEAR):
        yield gettext(
            "%(used)s of %(limit)s assistants in use.", used=use.assistants, limit=assistants
        )
    if users > 1 and is_close(use.users, users, LimitCloseness.NEAR):
        yield gettext("%(used)s of %(limit)s seats in use.", used=use.users, limit=users)


@dataclass(frozen=True, slots=True)
class OrganizationContents:
    """Campaigns that are not archived, numbers on the do-not-call list, and the use of the
    organization."""

    campaigns: int
    do_not_call: int
    use: OrganizationUsage


def contents_counts() -> tuple[Select[int], ...]:
    """Return the queries of `contents_from`, within a query of organizations."""
    campaigns = select(func.count()).where(
        Campaign.organization_id == Organization.id, Campaign.status != CampaignStatus.ARCHIVED
    )
    numbers = select(func.count()).where(DoNotCallEntry.organization_id == Organization.id)
    return campaigns, numbers, *_count_queries()


def contents_from(counts: Iterable[int]) -> OrganizationContents:
    campaigns, numbers, *used = map(int, counts)
    return OrganizationContents(campaigns, numbers, OrganizationUsage(*used))


def names_of(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of those organizations that the caller may see."""
    if not ids:
        return {}
    query = visible(caller).with_only_columns(Organization.id, Organization.name)
    rows = session.execute(query.where(Organization.id.in_(ids)))
    return {row.id: row.name for row in rows}


def use_and_first_users_of(
    session: Session, ids: Collection[UUID]
) -> dict[UUID, tuple[OrganizationUsage, str | None]]:
    """As `usage_of`, with the email of the first user of each organization, if there is one."""
    if not ids:
        return {}
    first = (
        select(User.email)
        .where(User.organization_id == Organization.id, User.status != UserStatus.DEACTIVATED)
        .order_by(User.created_at, User.id)
        .limit(1)
        .scalar_subquery()
    )
    counts = (query.scalar_subquery() for query in _count_queries())
    rows = session.execute(select(Organization.id, first, *counts).where(Organization.id.in_(ids)))
    return {key: (OrganizationUsage(*map(int, used)), email) for key, email, *used in rows}
