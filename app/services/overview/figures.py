"""The overview's figures, from stored totals: they cost the same at any size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.models import Organization, PartnerTier, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners, reporting
from app.services.forecasting import MonthEnd
from app.services.organizations.loading import visible
from app.services.paging import count_up_to


@dataclass(frozen=True, slots=True)
class OverviewMonth:
    """This month until today, and the same days of the previous month; days are UTC."""

    start: date
    today: date
    days: Sequence[reporting.DailyFigures]
    days_before: Sequence[reporting.DailyFigures]
    end: MonthEnd | None

    @property
    def now(self) -> reporting.DailyFigures:
        return reporting.total(self.days)

    @property
    def before(self) -> reporting.DailyFigures:
        return reporting.total(self.days_before)


@dataclass(frozen=True, slots=True)
class OrganizationCounts:
    """A partner's organizations by plan, including those without one, and how many are new this
    month, up to the limit of `count_up_to`."""

    by_tier: dict[str, int]
    added: int

    @property
    def organizations(self) -> int:
        return sum(self.by_tier.values())


def month(session: Session, caller: Caller) -> OverviewMonth:
    """Return the figures of the month for the caller's partner or organization: one query."""
    span = reporting.this_month(utcnow().date())
    found = reporting.compared(session, caller, span, span.end)
    return OverviewMonth(span.start, span.end, found.days, found.before, found.end)


def customers(session: Session, caller: Caller) -> OrganizationCounts:
    """Return the customers of the caller's partner: two queries. Raises `Forbidden`."""
    caller.require(Permission.ORGANIZATIONS_READ)
    partner_id = partners.own(caller)
    if caller.is_limited:
        tier = func.coalesce(Organization.payment_tier, Tier.FREE)
        rows = visible(caller).with_only_columns(tier, func.count()).group_by(tier)
        counted = {row[0].value: row[1] for row in session.execute(rows)}
    else:
        plans = session.scalars(select(PartnerTier).where(PartnerTier.partner_id == partner_id))
        counted = {plan.tier.value: plan.organizations for plan in plans}
    first = datetime.combine(utcnow().date().replace(day=1), time(), UTC)
    added = visible(caller).where(Organization.created_at >= first)
    return OrganizationCounts(
        {tier.value: counted.get(tier.value, 0) for tier in Tier},
        count_up_to(session, added.with_only_columns(Organization.id)),
    )
