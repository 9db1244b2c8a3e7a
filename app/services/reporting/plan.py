"""The plan of an organization, with its limits."""

from sqlalchemy.orm import Session

from app.enums import TIER_NAMES, Tier
from app.models import Organization, User
from app.policy import Permission
from app.policy.caller import Caller
from app.schemas.figures import SubscriptionInfo, SubscriptionPlan, SubscriptionQuery, UserLimit
from app.services import organizations
from app.services.reporting.selecting import by_query, by_user


def subscription(session: Session, caller: Caller, query: SubscriptionQuery) -> SubscriptionInfo:
    """Return the response of the API: the organization is named by its id, a user's email or both.

    Raises `NotFound` and `ValidationFailed`, see `selecting.by_query`.
    """
    caller.require(Permission.SUBSCRIPTION_READ)
    user, organization_id = by_query(session, caller, query)
    return _subscription_info(user, organizations.get(session, caller, organization_id))


def subscription_of_user(
    session: Session, caller: Caller, external_user_id: str
) -> SubscriptionInfo:
    """As `subscription`, for the user's external id or id."""
    caller.require(Permission.SUBSCRIPTION_READ)
    user, organization_id = by_user(session, caller, external_user_id)
    return _subscription_info(user, organizations.get(session, caller, organization_id))


def _subscription_info(user: User | None, organization: Organization) -> SubscriptionInfo:
    limit = organization.user_limit
    return SubscriptionInfo.model_construct(
        user_email=user.email if user else None,
        organization_id=organization.id,
        subscription_plan=SubscriptionPlan.model_construct(
            name=TIER_NAMES[organization.payment_tier or Tier.FREE],
            start_date=organization.tier_since,
            assistant_limit=organization.assistant_limit,
            user_limit=UserLimit.model_construct(value=limit, is_unlimited=limit == 0),
        ),
    )
