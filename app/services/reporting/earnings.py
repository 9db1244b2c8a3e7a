"""The earnings of months: prices, costs and margin of the partner or of one organization."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.calendar_months import end_of, month_of, previous_month
from app.models import Organization, Statement
from app.policy import Permission
from app.policy.caller import Caller
from app.services.billing import margin, statements, usage
from app.services.billing.margin import MonthMargin
from app.services.billing.rating import in_micros
from app.services.billing.statements import Bill
from app.services.billing.usage import CallUsage, ModelRate
from app.services.reporting.by_organization import few_to_rank
from app.services.spending import rates
from app.services.tenancy import get_organization

MAX_SUMMED = 500
"""Maximum organizations for totals, which need the price of each."""
MONTHS = 12


@dataclass(frozen=True, slots=True)
class MonthEarned:
    """The total of all organizations of a page in a month; ``total`` is None if their prices are in
    several currencies."""

    month: date
    total: MonthMargin | None


@dataclass(frozen=True, slots=True)
class PartnerEarnings:
    """A month, the one before it, and the last months of a chart. ``rows`` are the organizations of
    the month by name, None if there are too many; ``since`` is the month of the first one."""

    total: MonthMargin | None
    last: MonthMargin | None
    by_month: Sequence[MonthEarned]
    rows: Sequence[MonthMargin] | None
    since: date | None


def earnings(
    session: Session, caller: Caller, month: date, today: date, model: ModelRate
) -> PartnerEarnings:
    """Return the partner's earnings, each month rated once. Raises `Forbidden`."""
    customers = _few_organizations(session, caller)
    if not customers:
        return PartnerEarnings(None, None, [], None, margin.first_month(session, caller))
    rows = margin.round_to_total(
        margin.rows_of(session, _existing_in(customers, month), month, model)
    )
    total, before = margin.total(rows), previous_month(month)
    currency = rows[0].model_currency if rows else rates.currency_of(session)
    by_month = _by_month(session, customers, today, model, currency, {month: total})
    if any(each.month == before for each in by_month):
        last = total_of(by_month, before)
    else:
        before_it = margin.rows_of(session, _existing_in(customers, before), before, model)
        last = margin.total(margin.round_to_total(before_it))
    return PartnerEarnings(total, last, by_month, rows, _first_month(customers))


def total_of(by_month: Sequence[MonthEarned], month: date) -> MonthMargin | None:
    return next((each.total for each in by_month if each.month == month), None)


def month_earnings(
    session: Session,
    caller: Caller,
    month: date,
    model: ModelRate,
    organization_id: UUID | None = None,
) -> MonthMargin | None:
    """Return an organization's earnings, or the sum of the partner's organizations; None if there
    are none or too many of them, or if their prices are in several currencies. Raises `Forbidden`
    and `NotFound`."""
    if organization_id is not None:
        return margin.of_organization(session, caller, organization_id, month, model).rounded.total
    existing = _existing_in(_few_organizations(session, caller), month)
    margins = margin.round_to_total(margin.rows_of(session, existing, month, model))
    return margin.total(margins) if margins else None


def _few_organizations(session: Session, caller: Caller) -> Sequence[Organization]:
    """Return the partner's organizations by name, and read the currency of their costs with them;
    none if they are more than `MAX_SUMMED`. Raises `Forbidden`."""
    query = (
        margin.of_partner(caller)
        .where(few_to_rank(caller, MAX_SUMMED))
        .add_columns(rates.stored_currency().scalar_subquery())
        .order_by(Organization.name_key, Organization.id)
    )
    rows = session.execute(query).all()
    if rows:
        rates.remember_currency(session, rows[0][1])
    return [row[0] for row in rows]


def earnings_by_month(
    session: Session,
    caller: Caller,
    today: date,
    model: ModelRate,
    organization_id: UUID | None = None,
    *,
    known: Mapping[date, MonthMargin | None] | None = None,
) -> Sequence[MonthEarned]:
    """Return the last `MONTHS` months, this one last, from that of the first organization on: as
    `month_earnings` counts them. Closed months are summed up from their statements, by two queries
    for all; months whose sums are ``known`` aren't rated again; empty for too many organizations.
    Raises `Forbidden` and `NotFound`."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    if organization_id is not None:
        customers: Sequence[Organization] = [get_organization(session, caller, organization_id)]
    else:
        customers = _few_organizations(session, caller)
    return _by_month(session, customers, today, model, rates.currency_of(session), known or {})


def _by_month(
    session: Session,
    customers: Sequence[Organization],
    today: date,
    model: ModelRate,
    currency: str,
    cached: Mapping[date, MonthMargin | None],
) -> Sequence[MonthEarned]:
    months = _months(customers, today)
    if not months:
        return []
    ids = [each.id for each in customers]
    closed = _closed_totals(session, ids, months[0])
    used = usage.of_months(session, ids, months[0], months[-1])
    sums = dict(cached)
    for month in months:
        if month in sums:
            continue
        existing = _existing_in(customers, month)
        totals = closed.get(month, _StatementTotals(0, {}))
        if totals.statements < len(existing):
            known = None if totals.statements else ()
            bills = statements.bills(session, existing, month, known=known)
            totals = _StatementTotals.of(bills.values())
        sums[month] = totals.earned(used.get(month, CallUsage()), model, currency)
    return [MonthEarned(month, sums[month]) for month in months]


def _existing_in(customers: Sequence[Organization], month: date) -> list[Organization]:
    """Return those that were there in the month."""
    return [each for each in customers if each.created_at < end_of(month)]


@dataclass(frozen=True, slots=True)
class _StatementTotals:
    """The number of statements of a month, and their sums by currency in its smallest unit."""

    statements: int
    sums: Mapping[str, int]

    @classmethod
    def of(cls, bills: Collection[Bill]) -> "_StatementTotals":
        sums: defaultdict[str, int] = defaultdict(int)
        for bill in bills:
            sums[bill.currency] += bill.total
        return cls(len(bills), sums)

    def earned(self, used: CallUsage, model: ModelRate, model_currency: str) -> MonthMargin | None:
        """Return the sum as `margin.total` does."""
        currencies = {each for each, amount in self.sums.items() if amount} or self.sums.keys()
        if len(currencies) != 1:
            return None
        (currency,) = currencies
        exact = MonthMargin(
            *(UUID(int=0), "", used, in_micros(self.sums[currency], currency), currency),
            *(used.model_micros(model), model_currency),
        )
        return margin.round_to_total([exact])[0]


def _months(customers: Sequence[Organization], today: date) -> list[date]:
    """Return the months to show, the first one first; none without organizations."""
    first = _first_month(customers)
    if first is None:
        return []
    months = [month_of(today)]
    while len(months) < MONTHS and months[0] > first:
        months.insert(0, previous_month(months[0]))
    return months


def _first_month(customers: Sequence[Organization]) -> date | None:
    created = min((each.created_at for each in customers), default=None)
    return None if created is None else month_of(created.astimezone(UTC).date())


def _closed_totals(
    session: Session, ids: Sequence[UUID], first: date
) -> Mapping[date, _StatementTotals]:
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
    return {month: _StatementTotals(counts[month], sums[month]) for month in counts}
