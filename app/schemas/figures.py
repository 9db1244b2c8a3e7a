"""Report, pricing option, subscription and usage (contract, section 2.8), and their selectors."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator

from app.languages import gettext, lazy_gettext
from app.schemas.base import Query, Resource
from app.schemas.checks import Omittable, refusal
from app.schemas.fields import Day, Email, Moment, Uuid

MAX_DAYS = 366
"""Longest range of a usage query in days, both ends counted
(docs/decisions/partners.md#usage-and-subscription)."""
END_BEFORE_START = lazy_gettext("The last day is before the first day. Swap them.")

_Email = Annotated[str, Field(json_schema_extra={"format": "email"})]


class ReportUser(Resource):
    """One standard user of the report; ``conversations`` are those of the organization."""

    id: Uuid
    email: _Email
    sign_up_date: Moment
    business_name: list[str]
    payment_tier: str
    conversations: int


class PartnerAdminReport(Resource):
    """All standard users of a partner, over all time."""

    user_count: int
    user_count_by_tier: dict[str, int]
    users: list[ReportUser]


class PricingOption(Resource):
    """What a plan costs, in currency units."""

    cost: float
    currency: str
    payment_tier: str
    name: str


class UserLimit(Resource):
    value: int
    is_unlimited: bool


class SubscriptionPlan(Resource):
    name: str
    start_date: Moment | None = None
    assistant_limit: int
    user_limit: UserLimit


class SubscriptionInfo(Resource):
    """The plan of an organization."""

    user_email: _Email | None = None
    organization_id: Uuid
    subscription_plan: SubscriptionPlan


class DateRange(Resource):
    start: Moment
    end: Moment


class Usage(Resource):
    conversations: int
    last_updated_date: Moment | None = None
    requested_date_range: DateRange


class UsageInfo(Resource):
    """What an organization used in a range of days."""

    user_id: Uuid | None = None
    user_email: _Email | None = None
    organization_id: Uuid
    total_assistants_created: int
    total_users_created: int
    usage: Usage


class SubscriptionQuery(Query):
    """At least one of the two; sent together they must name the same organization."""

    organization_id: Omittable[Uuid] = None
    user_email: Omittable[Email] = None

    @model_validator(mode="after")
    def _name_an_organization(self) -> Self:
        if self.organization_id is None and self.user_email is None:
            sentence = "Name the organization by organizationId or by userEmail."
            raise refusal("selector_required", sentence, "organizationId")
        return self


class DayRange(Query):
    """Days are UTC, both ends counted, at most 366."""

    start_date: Day
    end_date: Day

    @model_validator(mode="after")
    def _span_a_range(self) -> Self:
        if self.end_date < self.start_date:
            raise refusal("end_before_start", END_BEFORE_START, "endDate")
        if self.end_date - self.start_date >= timedelta(days=MAX_DAYS):
            sentence = gettext(
                "The range is longer than %(days)s days, both ends included. Ask in parts.",
                days=MAX_DAYS,
            )
            raise refusal("range_too_long", sentence, "endDate")
        return self


class UsageQuery(DayRange, SubscriptionQuery):
    """Days are UTC, both ends counted, at most 366."""
