"""What organizations use, counted for many at once: a fixed number of queries."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CampaignStatus, OrganizationStatus, UserStatus
from app.languages import gettext
from app.models import Assistant, Campaign, ConversationDay, Organization, User, utcnow
from app.models.organization import ROOMY
from app.policy.caller import Caller
from app.services.organizations.loading import Closeness, close_to_limit, uses, visible

RECENT_DAYS = 30


@dataclass(frozen=True, slots=True)
class Use:
    """Assistants, users with a seat, conversations of the last 30 days (UTC)."""

    assistants: int = 0
    users: int = 0
    recent_conversations: int = 0


def use_of(session: Session, organization_ids: Collection[UUID]) -> dict[UUID, Use]:
    """Return the use of each organization; they must come from a loader."""
    if not organization_ids:  # PostgreSQL would read the whole tables beneath their policies
        return {}
    assistants = select(Assistant.organization_id, func.count()).group_by(Assistant.organization_id)
    users = (
        select(User.organization_id, func.count())
        .where(User.status != UserStatus.DEACTIVATED)
        .group_by(User.organization_id)
    )
    conversations = (
        select(ConversationDay.organization_id, func.sum(ConversationDay.conversations))
        .where(ConversationDay.day >= (utcnow() - timedelta(days=RECENT_DAYS - 1)).date())
        .group_by(ConversationDay.organization_id)
    )
    counted = [
        {
            key: int(value)
            for key, value in session.execute(query.where(column.in_(organization_ids)))
        }
        for query, column in (
            (assistants, Assistant.organization_id),
            (users, User.organization_id),
            (conversations, ConversationDay.organization_id),
        )
    ]
    return {key: Use(*(count.get(key, 0) for count in counted)) for key in organization_ids}


@dataclass(frozen=True, slots=True)
class NearLimit:
    """An organization that uses nearly all of a limit; ``words`` are the limits concerned."""

    organization: Organization
    words: str


def near_limits(session: Session, caller: Caller, most: int) -> list[NearLimit]:
    """Return active organizations with room for several users or assistants that have used nearly
    all of it, the newest first: at most four queries. A limit of 1 that is reached is how such an
    organization works."""
    rows = (
        visible(caller)
        .where(
            ROOMY,
            Organization.status == OrganizationStatus.ACTIVE,
            close_to_limit(Closeness.NEAR, above=1),
        )
        .order_by(Organization.created_at.desc(), Organization.id.desc())
        .limit(most)
    )
    found = list(session.scalars(rows).all())
    use = use_of(session, [organization.id for organization in found]) if found else {}
    return [
        NearLimit(organization, " ".join(_near_words(organization, use[organization.id])))
        for organization in found
    ]


def _near_words(organization: Organization, use: Use) -> Iterator[str]:
    """Say which limits are nearly used."""
    assistants, users = organization.assistant_limit, organization.user_limit
    if assistants > 1 and uses(use.assistants, assistants, Closeness.NEAR):
        yield gettext(
            "%(used)s of %(limit)s assistants in use.", used=use.assistants, limit=assistants
        )
    if users > 1 and uses(use.users, users, Closeness.NEAR):
        yield gettext("%(used)s of %(limit)s seats in use.", used=use.users, limit=users)


def campaigns_in(session: Session, organization: Organization) -> int:
    """Return its campaigns that are not archived; the organization must come from its loader."""
    query = select(func.count()).where(
        Campaign.organization_id == organization.id, Campaign.status != CampaignStatus.ARCHIVED
    )
    return session.scalar(query) or 0


def names_of(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of those organizations that the caller may see."""
    query = visible(caller).with_only_columns(Organization.id, Organization.name)
    rows = session.execute(query.where(Organization.id.in_(ids)))
    return {row.id: row.name for row in rows}


def first_users_of(session: Session, ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the email of the first user of each organization, if there is one; they must come from
    a loader."""
    place = func.row_number().over(
        partition_by=User.organization_id, order_by=(User.created_at, User.id)
    )
    ranked = (
        select(User.organization_id, User.email, place.label("place"))
        .where(User.organization_id.in_(ids), User.status != UserStatus.DEACTIVATED)
        .subquery()
    )
    rows = session.execute(
        select(ranked.c.organization_id, ranked.c.email).where(ranked.c.place == 1)
    )
    return {row.organization_id: row.email for row in rows}
