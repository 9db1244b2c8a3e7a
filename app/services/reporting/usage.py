"""The usage of an organization in a range of days."""

from datetime import UTC, datetime, time

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from app.calendar_months import midnight
from app.models import Assistant, ConversationDay, User
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.figures import DateRange, Usage, UsageInfo, UsageQuery
from app.services.reporting.selecting import by_query

LAST_MOMENT = time(23, 59, 59, 999_000, UTC)


def usage(session: Session, caller: Caller, query: UsageQuery) -> UsageInfo:
    """Return the response of the API: the organization is named by its id, a user's email or both.

    Raises `NotFound` and `ValidationFailed`, see `selecting.by_query`.
    """
    caller.require(Permission.USAGE_READ)
    user, organization_id = by_query(session, caller, query)
    start, end = query.start_date, query.end_date
    params = {"organization": organization_id, "first": start, "last": end}
    conversations, changed, assistants, members = (
        session.connection().execute(_FIGURES, params).one()
    )
    date_range = DateRange.model_construct(
        start=midnight(start), end=datetime.combine(end, LAST_MOMENT)
    )
    return UsageInfo.model_construct(
        user_id=user.id if user else None,
        user_email=user.email if user else None,
        organization_id=organization_id,
        total_assistants_created=assistants,
        total_users_created=members,
        usage=Usage.model_construct(
            conversations=int(conversations),
            last_updated_date=changed,
            requested_date_range=date_range,
        ),
    )


_FIGURES = select(
    func.coalesce(func.sum(ConversationDay.conversations), 0),
    func.max(ConversationDay.updated_at),
    select(func.count())
    .where(Assistant.organization_id == bindparam("organization"))
    .scalar_subquery(),
    select(func.count()).where(User.organization_id == bindparam("organization")).scalar_subquery(),
).where(
    ConversationDay.organization_id == bindparam("organization"),
    ConversationDay.day.between(bindparam("first"), bindparam("last")),
)
"""Built once, because building it takes longer than running it."""
