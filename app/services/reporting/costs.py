"""The costs that carriers have reported, by currency, from the daily totals."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.calendar_months import month_of
from app.models import CostDay, Organization, PartnerCostDay
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations, partners
from app.services.billing.summing import are_adjusted, rounded_parts
from app.services.reporting.by_organization import can_rank, few_to_rank
from app.services.reporting.span import DaySpan
from app.services.tenancy import in_groups

BATCH_SIZE = 1000


@dataclass(frozen=True, slots=True)
class CurrencyCost:
    """``attempts`` have cost ``micros`` millionths of the currency."""

    currency: str
    attempts: int
    micros: int

    @property
    def amount(self) -> str:
        """The amount in units of the currency, exact, with at least two decimals."""
        whole = Decimal(self.micros).scaleb(-6)
        short = whole.quantize(Decimal("0.01"))
        return str(short) if short == whole else f"{whole:f}".rstrip("0")


@dataclass(frozen=True, slots=True)
class MonthCost:
    """The costs of those days of a month, which begins at ``month``, that are in the range."""

    month: date
    cost: CurrencyCost


@dataclass(frozen=True, slots=True)
class CostLine:
    """The cost of an organization's attempts of a month in one currency."""

    organization_id: UUID
    name: str
    month: date
    cost: CurrencyCost


def by_month(
    session: Session, caller: Caller, span: DaySpan, organization_id: UUID | None = None
) -> list[MonthCost]:
    """Return the costs by month and currency, latest month first: of one organization, otherwise of
    the caller's partner. One query. Empty for owners and members: carriers' charges are for the
    partner only (docs/decisions/rating.md#costs-and-margin). Raises as `daily.daily` does."""
    table, condition = _costs_of(session, caller, organization_id)
    if caller.organization_id is not None:
        return []
    columns = (table.day, table.currency, table.attempts, table.micros)
    rows = select(*columns).where(condition, table.day.between(span.start, span.end))
    return _by_month(session.execute(rows))


def by_month_and_can_rank(
    session: Session, caller: Caller, span: DaySpan
) -> tuple[list[MonthCost], bool]:
    """As `by_month` of the caller's partner, with `can_rank`: one query."""
    table, condition = _costs_of(session, caller, None)
    if caller.organization_id is not None:
        return [], can_rank(session, caller)
    can_rank_query = select(few_to_rank(caller).label("few")).subquery()
    in_span = condition & table.day.between(span.start, span.end)
    columns = (table.day, table.currency, table.attempts, table.micros)
    rows = session.execute(
        select(can_rank_query.c.few, *columns).select_from(can_rank_query.outerjoin(table, in_span))
    )
    cost_rows = rows.all()
    return _by_month(row[1:] for row in cost_rows if row.day), bool(cost_rows[0].few)


def _costs_of(
    session: Session, caller: Caller, organization_id: UUID | None
) -> tuple[type[CostDay | PartnerCostDay], ColumnElement[bool]]:
    """Return the table of the days, and which of its rows count. Raises as `by_month`."""
    caller.require(Permission.USAGE_READ)
    organization = organizations.get(session, caller, organization_id) if organization_id else None
    if organization is not None:
        return CostDay, CostDay.organization_id == organization.id
    if caller.is_limited:
        return CostDay, _of_groups(session, caller)
    partner_id = partners.check(session, caller, partners.own_partner_id(caller))
    return PartnerCostDay, PartnerCostDay.partner_id == partner_id


def _by_month(rows: Iterable[Sequence[Any]]) -> list[MonthCost]:
    months: dict[tuple[date, str], list[CurrencyCost]] = {}
    for day, currency, attempts, micros in rows:
        months.setdefault((month_of(day), currency), []).append(
            CurrencyCost(currency, attempts, micros)
        )
    ordered = sorted(months, key=lambda key: (-key[0].toordinal(), key[1]))
    return [MonthCost(key[0], total) for key in ordered for total in totals(months[key])]


def totals(costs: Iterable[CurrencyCost]) -> list[CurrencyCost]:
    """Return the totals, one for each currency, sorted by its code."""
    sums: dict[str, tuple[int, int]] = {}
    for cost in costs:
        attempts, micros = sums.get(cost.currency, (0, 0))
        sums[cost.currency] = (attempts + cost.attempts, micros + cost.micros)
    return [CurrencyCost(currency, *sums[currency]) for currency in sorted(sums)]


def subtract_costs(
    whole: Iterable[CurrencyCost], part: Iterable[CurrencyCost]
) -> list[CurrencyCost]:
    """Return the totals without a part of them; currencies that the part covers wholly
    are dropped."""
    negated = [CurrencyCost(cost.currency, -cost.attempts, -cost.micros) for cost in part]
    return [cost for cost in totals([*whole, *negated]) if cost.attempts]


def round_to_total(rows: Sequence[Sequence[CurrencyCost]]) -> tuple[list[list[CurrencyCost]], bool]:
    """Return the costs of the rows in whole units of their currencies, such as cents, that add up
    to the rounded sum, and whether one differs from its own rounding."""
    result = [list(costs) for costs in rows]
    is_adjusted = False
    for currency in {cost.currency for costs in rows for cost in costs}:
        positions = [
            (row, index)
            for row, costs in enumerate(rows)
            for index, cost in enumerate(costs)
            if cost.currency == currency
        ]
        amounts = [rows[row][index].micros for row, index in positions]
        rounded = rounded_parts(amounts, currency)
        is_adjusted |= are_adjusted(amounts, rounded, currency)
        for (row, index), micros in zip(positions, rounded, strict=True):
            result[row][index] = replace(rows[row][index], micros=micros)
    return result, is_adjusted


def by_organization_ids(
    session: Session, span: DaySpan, ids: Collection[UUID]
) -> dict[UUID, list[CurrencyCost]]:
    """Return the costs of organizations that came from their loader, without those that have none.
    One query."""
    rows = session.execute(
        select(
            CostDay.organization_id,
            CostDay.currency,
            func.sum(CostDay.attempts),
            func.sum(CostDay.micros),
        )
        .where(CostDay.organization_id.in_(ids), CostDay.day.between(span.start, span.end))
        .group_by(CostDay.organization_id, CostDay.currency)
        .order_by(CostDay.currency)
    )
    costs: dict[UUID, list[CurrencyCost]] = {}
    for organization_id, currency, attempts, micros in rows:
        costs.setdefault(organization_id, []).append(
            CurrencyCost(currency, int(attempts), int(micros))
        )
    return costs


def cost_lines(
    session: Session, caller: Caller, span: DaySpan, organization_id: UUID | None = None
) -> Iterator[Sequence[CostLine]]:
    """Yield the costs of `by_month` by organization, for a file: in batches, latest month first,
    then by name. Raises as it does."""
    caller.require(Permission.USAGE_READ)
    organization = organizations.get(session, caller, organization_id) if organization_id else None
    if caller.organization_id is not None:
        return
    condition = (
        CostDay.organization_id == organization.id
        if organization is not None
        else _of_groups(session, caller)
    )
    for month in _split_by_month(span):
        rows = session.execute(
            select(
                Organization.id,
                Organization.name,
                CostDay.currency,
                func.sum(CostDay.attempts),
                func.sum(CostDay.micros),
            )
            .join(CostDay, CostDay.organization_id == Organization.id)
            .where(condition, CostDay.day.between(month.start, month.end))
            .group_by(Organization.id, Organization.name, Organization.name_key, CostDay.currency)
            .order_by(Organization.name_key, Organization.id, CostDay.currency)
        )
        first = month_of(month.start)
        for batch in rows.partitions(BATCH_SIZE):
            yield [
                CostLine(row[0], row[1], first, CurrencyCost(row[2], int(row[3]), int(row[4])))
                for row in batch
            ]


def _of_groups(session: Session, caller: Caller) -> ColumnElement[bool]:
    """Return the days of the caller's partner, or of the organizations in the caller's groups."""
    partner_id = partners.check(session, caller, partners.own_partner_id(caller))
    return (CostDay.partner_id == partner_id) & in_groups(caller, CostDay.organization_id)


def _split_by_month(span: DaySpan) -> Iterator[DaySpan]:
    """Return the parts of the range by month, the latest first."""
    end = span.end
    while True:
        start = max(month_of(end), span.start)
        yield DaySpan(start, end)
        if start == span.start:
            return
        end = start - timedelta(days=1)
