"""The overview's figures, from stored totals: they cost the same at any size."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, func, select, true
from sqlalchemy.orm import Session, aliased

from app.calendar_months import midnight, month_of
from app.enums import OrganizationStatus, Tier
from app.models import Organization, PartnerTier, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners, reporting
from app.services.forecasting import MonthEnd
from app.services.organizations.loading import visible
from app.services.organizations.usage import OrganizationUsage, newest_with_usage
from app.services.paging import counting_up_to


@dataclass(frozen=True, slots=True)
class OverviewMonth:
    """This month until today, the same days of the previous month, and all of that month; days are
    UTC. ``whole_day_before`` is that of `DaySpan`, ``updated`` when the data last changed."""

    start: date
    today: date
    days: Sequence[reporting.DailyFigures]
    days_before: Sequence[reporting.DailyFigures]
    month_before: Sequence[reporting.DailyFigures]
    whole_day_before: date | None
    end: MonthEnd | None
    updated: datetime | None

    @property
    def now(self) -> reporting.DailyFigures:
        return reporting.total(self.days)

    @property
    def before(self) -> reporting.DailyFigures:
        return reporting.total(self.days_before)


@dataclass(frozen=True, slots=True)
class OrganizationFigures:
    """A partner's organizations that are not archived: by plan, including those without one, how
    many are new this month, up to the limit of `count_up_to`, and the newest."""

    by_tier: dict[str, int]
    added: int
    newest: Sequence[tuple[Organization, OrganizationUsage]]

    @property
    def total(self) -> int:
        return sum(self.by_tier.values())


def month(session: Session, caller: Caller) -> OverviewMonth:
    """Return the figures of the month for the caller's partner or organization: one query."""
    span = reporting.this_month(utcnow().date())
    compared = reporting.compare_days(session, caller, span, span.end)
    return OverviewMonth(
        span.start,
        span.end,
        compared.days,
        compared.before,
        reporting.within(compared.read, reporting.last_month(span.start)),
        span.whole_day_before(span.end),
        compared.end,
        compared.updated,
    )


def organization_figures(session: Session, caller: Caller, limit: int) -> OrganizationFigures:
    """Return the figures of the caller's partner, with at most so many of its newest organizations:
    one query. Raises `Forbidden`."""
    caller.require(Permission.ORGANIZATIONS_READ)
    cacheable_caller = replace(
        caller, ip=None, request_id=None
    )  # the same for all requests of a user
    rows = session.execute(_organizations_query(cacheable_caller, utcnow().date(), limit)).all()
    *by_tier, new = map(int, rows[0][: len(Tier) + 1])
    return OrganizationFigures(
        {tier.value: number for tier, number in zip(Tier, by_tier, strict=True)},
        new,
        [
            (each, OrganizationUsage(*map(int, used)))
            for each, *used in (row[len(Tier) + 1 :] for row in rows)
            if each is not None
        ],
    )


@lru_cache(200)
def _organizations_query(caller: Caller, today: date, limit: int) -> Select[*tuple[Any, ...]]:
    """Return the statement: a row for each of the newest organizations with its use, or one without
    any, beside the counts in each. Making it takes longer than running it."""
    first = midnight(month_of(today))
    added = _present(caller).where(Organization.created_at >= first)
    adding = counting_up_to(added.with_only_columns(Organization.id)).scalar_subquery()
    counts = _by_tier(caller).add_columns(adding).subquery()
    newest = newest_with_usage(caller, limit).subquery()
    row, used = aliased(Organization, newest), list(newest.c)[-len(fields(OrganizationUsage)) :]
    query = select(*counts.c, row, *used).select_from(counts).outerjoin(newest, true())
    return query.order_by(row.created_at.desc(), row.id.desc())


def _present(caller: Caller) -> Select[Organization]:
    return visible(caller).where(Organization.status != OrganizationStatus.ARCHIVED)


def _by_tier(caller: Caller) -> Select[*tuple[Any, ...]]:
    """Return the query of one row: the organizations of each plan, in the order of `Tier`."""
    if caller.is_limited:
        tier_column = func.coalesce(Organization.payment_tier, Tier.FREE)
        counts = (func.count().filter(tier_column == tier) for tier in Tier)
        return _present(caller).with_only_columns(*counts)
    whole = func.sum(PartnerTier.organizations - PartnerTier.archived)
    sums = (func.coalesce(whole.filter(PartnerTier.tier == tier), 0) for tier in Tier)
    return select(*sums).where(PartnerTier.partner_id == partners.own_partner_id(caller))
