"""What months earned: prices, costs and margin of the partner or of one organization."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import Organization, Statement
from app.policy import Permission
from app.policy.caller import Caller
from app.services.billing import margin, usage
from app.services.billing.margin import Earned
from app.services.billing.months import end_of, month_of, previous_month
from app.services.billing.rating import in_micros
from app.services.billing.usage import ModelRate, Used
from app.services.reporting.by_organization import can_rank
from app.services.spending import rates
from app.services.tenancy import get_organization

MOST_SUMMED = 500
"""Of more organizations no totals are made: they need the price of each."""
MONTHS = 12


@dataclass(frozen=True, slots=True)
class MonthEarned:
    """What all organizations of a page earned in a month; ``total`` is None if their prices are in
    several currencies."""

    month: date
    total: Earned | None


@dataclass(frozen=True, slots=True)
class Earnings:
    """A month, the one before it, and the last months of a chart."""

    total: Earned | None
    last: Earned | None
    by_month: Sequence[MonthEarned]


def earnings(
    session: Session, caller: Caller, month: date, today: date, model: ModelRate
) -> Earnings:
    """Return what the partner earned, each month rated once. Raises `Forbidden`."""
    total, before = earned(session, caller, month, model), previous_month(month)
    by_month = earned_by_month(session, caller, today, model, known={month: total})
    if any(each.month == before for each in by_month):
        return Earnings(total, total_of(by_month, before), by_month)
    return Earnings(total, earned(session, caller, before, model), by_month)


def total_of(by_month: Sequence[MonthEarned], month: date) -> Earned | None:
    return next((each.total for each in by_month if each.month == month), None)


def earned(
    session: Session,
    caller: Caller,
    month: date,
    model: ModelRate,
    organization_id: UUID | None = None,
) -> Earned | None:
    """Return what an organization earned, or the sum of the partner's organizations; None if there
    are none or too many of them, or if their prices are in several currencies. Raises `Forbidden`
    and `NotFound`."""
    if organization_id is not None:
        return margin.of_organization(session, caller, organization_id, month, model).total
    if not can_rank(session, caller, MOST_SUMMED):
        return None
    found = margin.all_organizations(session, caller, month, model)
    return margin.total(found) if found else None


def earned_by_month(
    session: Session,
    caller: Caller,
    today: date,
    model: ModelRate,
    organization_id: UUID | None = None,
    *,
    known: Mapping[date, Earned | None] | None = None,
) -> Sequence[MonthEarned]:
    """Return the last `MONTHS` months, this one last, from that of the first organization on: as
    `earned` counts them. Closed months are summed up from their statements, in two queries for all;
    months whose sums are ``known`` aren't rated again; nothing for too many organizations. Raises
    `Forbidden` and `NotFound`."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    if organization_id is not None:
        found: Sequence[Organization] = [get_organization(session, caller, organization_id)]
    elif can_rank(session, caller, MOST_SUMMED):
        found = session.scalars(margin.of_partner(caller)).all()
    else:
        return []
    months = _months(found, today)
    if not months:
        return []
    ids = [each.id for each in found]
    closed = _closed(session, ids, months[0])
    used = usage.of_months(session, ids, months[0], months[-1])
    currency = rates.currency_of(session)
    sums = dict(known or {})
    for month in months:
        existing = [each for each in found if each.created_at < end_of(month)]
        totals = closed.get(month, _Totals(0, {}))
        if month in sums:
            continue
        if totals.statements < len(existing):
            sums[month] = margin.total(margin.rows_of(session, existing, month, model))
        else:
            sums[month] = totals.earned(used.get(month, Used()), model, currency)
    return [MonthEarned(month, sums[month]) for month in months]


@dataclass(frozen=True, slots=True)
class _Totals:
    """The number of statements of a month, and their sums by currency in its smallest unit."""

    statements: int
    sums: Mapping[str, int]

    def earned(self, used: Used, model: ModelRate, model_currency: str) -> Earned | None:
        """Return the sum as `margin.total` makes it."""
        currencies = {each for each, amount in self.sums.items() if amount} or self.sums.keys()
        if len(currencies) != 1:
            return None
        (currency,) = currencies
        return Earned(
            *(UUID(int=0), "", used, in_micros(self.sums[currency], currency), currency),
            *(used.model_micros(model), model_currency),
        )


def _months(found: Sequence[Organization], today: date) -> list[date]:
    """Return the months to show, the first one first; none without organizations."""
    if not found:
        return []
    first = month_of(min(each.created_at for each in found).astimezone(UTC).date())
    months = [month_of(today)]
    while len(months) < MONTHS and months[0] > first:
        months.insert(0, previous_month(months[0]))
    return months


def _closed(session: Session, ids: Sequence[UUID], first: date) -> Mapping[date, _Totals]:
    rows = session.execute(
        select(Statement.month, Statement.currency, func.count(), func.sum(Statement.total))
        .where(Statement.organization_id.in_(ids), Statement.month >= first)
        .group_by(Statement.month, Statement.currency)
    )
    counts: defaultdict[date, int] = defaultdict(int)
    sums: defaultdict[date, dict[str, int]] = defaultdict(dict)
    for month, currency, count, amount in rows:
        counts[month] += count
        sums[month][currency] = int(amount)
    return {month: _Totals(counts[month], sums[month]) for month in counts}
