"""What an organization used in a range of days."""

from datetime import UTC, date, datetime, time
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.caller import Caller
from app.models import Agent, ConversationDay, Organization, User
from app.policy import Permission
from app.schemas.figures import DateRange, Usage, UsageInfo, UsageQuery
from app.services import organizations
from app.services.reporting.selecting import by_query

LAST_MOMENT = time(23, 59, 59, 999_000, UTC)


def usage(session: Session, caller: Caller, query: UsageQuery) -> UsageInfo:
    """The answer to a script: the organization is named by its id, a user's address or both.

    Raises `NotFound` and `ValidationFailed`, see `selecting.by_query`.
    """
    caller.require(Permission.USAGE_READ)
    user, organization = by_query(session, caller, query)
    return _counted(session, user, organization, query.start_date, query.end_date)


def usage_of(
    session: Session, caller: Caller, organization_id: UUID, start: date, end: date
) -> UsageInfo:
    """The same figures for a screen. Days are UTC, both ends counted. Raises `NotFound`."""
    caller.require(Permission.USAGE_READ)
    organization = organizations.get(session, caller, organization_id)
    return _counted(session, None, organization, start, end)


def _counted(
    session: Session, user: User | None, organization: Organization, start: date, end: date
) -> UsageInfo:
    agents = select(func.count()).where(Agent.organization_id == organization.id)
    members = select(func.count()).where(User.organization_id == organization.id)
    conversations, changed, agent_count, member_count = session.execute(
        select(
            func.coalesce(func.sum(ConversationDay.conversations), 0),
            func.max(ConversationDay.updated_at),
            agents.scalar_subquery(),
            members.scalar_subquery(),
        ).where(
            ConversationDay.organization_id == organization.id,
            ConversationDay.day.between(start, end),
        )
    ).one()
    asked = DateRange.model_construct(
        start=datetime.combine(start, time(0, tzinfo=UTC)), end=datetime.combine(end, LAST_MOMENT)
    )
    return UsageInfo.model_construct(
        user_id=user.id if user else None,
        user_email=user.email if user else None,
        organization_id=organization.id,
        total_agents_created=agent_count,
        total_users_created=member_count,
        usage=Usage.model_construct(
            conversations=int(conversations), last_updated_date=changed, requested_date_range=asked
        ),
    )
