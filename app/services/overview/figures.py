"""The overview's figures, from stored totals: they cost the same at any size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.models import Organization, Partner, PartnerTier, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners, reporting
from app.services.forecasting import MonthEnd
from app.services.organizations.loading import visible
from app.services.paging import counting_up_to


@dataclass(frozen=True, slots=True)
class OverviewMonth:
    """This month until today, and the same days of the previous month; days are UTC. ``updated`` is
    when the data last changed."""

    start: date
    today: date
    days: Sequence[reporting.DailyFigures]
    days_before: Sequence[reporting.DailyFigures]
    end: MonthEnd | None
    updated: datetime | None

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
    return OverviewMonth(span.start, span.end, found.days, found.before, found.end, found.updated)


def customers(session: Session, caller: Caller) -> OrganizationCounts:
    """Return the customers of the caller's partner: one query; two for a caller limited to groups.
    Raises `Forbidden`."""
    caller.require(Permission.ORGANIZATIONS_READ)
    partner_id = partners.own(caller)
    first = datetime.combine(utcnow().date().replace(day=1), time(), UTC)
    added = visible(caller).where(Organization.created_at >= first)
    adding = counting_up_to(added.with_only_columns(Organization.id))
    if caller.is_limited:
        tier = func.coalesce(Organization.payment_tier, Tier.FREE)
        rows = visible(caller).with_only_columns(tier, func.count()).group_by(tier)
        counted = {row[0]: row[1] for row in session.execute(rows)}
        new = session.scalar(adding) or 0
    else:
        found = session.execute(
            select(PartnerTier.tier, PartnerTier.organizations, adding.scalar_subquery())
            .select_from(Partner)
            .outerjoin(PartnerTier, PartnerTier.partner_id == Partner.id)
            .where(Partner.id == partner_id)
        ).all()
        counted = {tier: organizations for tier, organizations, _ in found}
        new = found[0][2] if found else 0
    return OrganizationCounts({tier.value: counted.get(tier, 0) for tier in Tier}, new)
