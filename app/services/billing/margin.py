"""Costs and margin of organizations and their campaigns in a month."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from app.calendar_months import end_of, month_of
from app.enums import OrganizationStatus
from app.models import NO_CAMPAIGN, Campaign, Organization
from app.policy import Permission
from app.policy.caller import Caller
from app.services import name_search, partners
from app.services.billing import statements, usage
from app.services.billing.rating import in_micros
from app.services.billing.summing import are_adjusted, rounded_parts
from app.services.billing.usage import CallUsage, CarrierCost, ModelRate
from app.services.paging import Page, SortOrder, keyset_page
from app.services.spending import rates
from app.services.tenancy import get_organization, visible_organizations
from app.validation.texts import whole_number

BY_NAME = SortOrder(Organization.name_key)
NAME = "name"


@dataclass(frozen=True, slots=True)
class MonthMargin:
    """The usage, costs and price of an organization or a campaign in a month; money in millionths.

    ``price`` is in ``currency``, ``model`` in ``model_currency``. ``trial_price`` is the part of
    the price that ``in_trial`` organizations in trial mode pay. ``margin`` is None if not all of
    them are in one currency.
    """

    id: UUID
    name: str
    used: CallUsage
    price: int
    currency: str
    model: int
    model_currency: str
    plan_name: str = ""
    number: int | None = None
    trial_price: int = 0
    in_trial: int = 0
    is_adjusted: bool = False
    """Whether a cost differs from its own rounding, so that the rows add up."""
    status: OrganizationStatus | None = None
    """The present status of an organization."""

    @property
    def carrier(self) -> Sequence[CarrierCost]:
        return self.used.carrier

    @property
    def carrier_micros(self) -> int:
        """The carrier costs; a sum only for those in one currency."""
        return sum(cost.reported + cost.estimated for cost in self.carrier)

    @property
    def is_estimated(self) -> bool:
        return any(cost.estimated for cost in self.carrier)

    @property
    def costs(self) -> Mapping[str, int]:
        """The carrier and model costs by their currencies."""
        costs = {cost.currency: cost.reported + cost.estimated for cost in self.carrier}
        costs[self.model_currency] = costs.get(self.model_currency, 0) + self.model
        return costs

    @property
    def margin(self) -> int | None:
        costs = self.costs
        if any(micros for currency, micros in costs.items() if currency != self.currency):
            return None
        return self.price - costs.get(self.currency, 0)


@dataclass(frozen=True, slots=True)
class MonthOfOrganization:
    """An organization in a month, and its campaigns, the most expensive first; ``since`` is the
    month in which it was added."""

    total: MonthMargin
    campaigns: Sequence[MonthMargin]
    since: date

    @property
    def rounded(self) -> "MonthOfOrganization":
        """The same with amounts that add up."""
        return replace(
            self, total=round_to_total([self.total])[0], campaigns=round_to_total(self.campaigns)
        )


_AMOUNTS: Mapping[str, Callable[[MonthMargin], int | None]] = {
    "price": lambda row: row.price,
    "carrier": lambda row: row.carrier_micros,
    "model": lambda row: row.model,
    "margin": lambda row: row.margin,
}
ORDERS = frozenset(f"{way}{name}" for name in (NAME, *_AMOUNTS) for way in ("", "-"))
"""The sort orders. By an amount, or reversed by name, each page reads all organizations."""


def by_organization(
    session: Session,
    caller: Caller,
    month: date,
    model: ModelRate,
    *,
    sort: str = NAME,
    query: str | None = None,
    known: Sequence[MonthMargin] | None = None,
    cursor: str | None = None,
    limit: int = 25,
) -> Page[MonthMargin]:
    """Return a page of the partner's organizations that were there in the month, in one of
    `ORDERS`; ``query`` searches names. ``known`` are all of them by name, if they are rated
    already.

    Raises `Forbidden` and `ValidationFailed` (``invalid_cursor``, ``operator_without_partner``).
    """
    if known is not None and not query:
        return _page_of(_sort_margins(known, sort), cursor, limit)
    if sort != NAME:
        margins = all_organizations(session, caller, month, model, query=query)
        return _page_of(_sort_margins(margins, sort), cursor, limit)
    rows = of_partner(caller).where(Organization.created_at < end_of(month))
    if query:
        condition = name_search.organizations_by_name(session, query)
        rows = rows.where(Organization.named(query), *([] if condition is None else [condition]))
    page = keyset_page(session, rows, BY_NAME, cursor=cursor, limit=limit)
    return Page(rows_of(session, page.items, month, model), page.next_cursor)


def first_month(session: Session, caller: Caller) -> date | None:
    """Return the month in which the partner's first organization was added; None without one.
    Raises `Forbidden`."""
    earliest = of_partner(caller).with_only_columns(func.min(Organization.created_at))
    created_at = session.scalar(earliest)
    return None if created_at is None else month_of(created_at.astimezone(UTC).date())


def all_organizations(
    session: Session, caller: Caller, month: date, model: ModelRate, *, query: str | None = None
) -> list[MonthMargin]:
    """Return all of them, rounded by `round_to_total`. Raises as `by_organization`."""
    margins: list[MonthMargin] = []
    cursor: str | None = None
    while True:
        page = by_organization(
            session, caller, month, model, query=query, cursor=cursor, limit=1000
        )
        margins += page.items
        cursor = page.next_cursor
        if cursor is None:
            return round_to_total(margins)


def of_organization(
    session: Session, caller: Caller, organization_id: UUID, month: date, model: ModelRate
) -> MonthOfOrganization:
    """Return an organization and its campaigns: each has the part of the price that its minutes are
    of all minutes, or its calls for a plan that counts calls. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    organization = get_organization(session, caller, organization_id)
    total = rows_of(session, [organization], month, model)[0]
    bill = statements.bills(session, [organization], month)[organization.id]
    by_campaign = usage.of_campaigns(session, organization.id, month)
    query = select(Campaign.id, Campaign.name).where(Campaign.id.in_(by_campaign))
    names = {row.id: row.name for row in session.execute(query)}
    by_calls = bill.usage is not None and bill.usage.unit == "call"
    units = {key: used.calls if by_calls else used.minutes for key, used in by_campaign.items()}
    prices = _share_out(bill.total, units)
    campaigns = [
        MonthMargin(
            key,
            names.get(key, "" if key == NO_CAMPAIGN else str(key)),
            used,
            in_micros(prices[key], bill.currency),
            total.currency,
            used.model_micros(model),
            total.model_currency,
        )
        for key, used in by_campaign.items()
    ]
    return MonthOfOrganization(
        total,
        sorted(campaigns, key=lambda each: -each.used.minutes),
        month_of(organization.created_at.astimezone(UTC).date()),
    )


def round_to_total(rows: Sequence[MonthMargin]) -> list[MonthMargin]:
    """Return the rows with costs in whole units of their currencies, such as cents, that add up to
    the rounded sum: so do the margins."""
    adjusted: set[int] = set()
    amounts = [
        (index, cost.currency, cost) for index, row in enumerate(rows) for cost in row.carrier
    ]
    carrier: dict[int, list[CarrierCost]] = {index: [] for index in range(len(rows))}
    for currency in sorted({currency for _index, currency, _cost in amounts}):
        costs_of_currency = [
            (index, cost) for index, cost_currency, cost in amounts if cost_currency == currency
        ]
        costs = rounded_parts(
            [cost.reported + cost.estimated for _index, cost in costs_of_currency], currency
        )
        for (index, cost), whole in zip(costs_of_currency, costs, strict=True):
            if are_adjusted([cost.reported + cost.estimated], [whole], currency):
                adjusted.add(index)
            [estimated] = rounded_parts([cost.estimated], currency)
            estimated = min(estimated, whole)
            carrier[index].append(CarrierCost(currency, whole - estimated, estimated))
    models = dict(enumerate(row.model for row in rows))
    for currency in {row.model_currency for row in rows}:
        of_model = [index for index, row in enumerate(rows) if row.model_currency == currency]
        rounded = rounded_parts([models[index] for index in of_model], currency)
        adjusted |= {
            index
            for index, rounded_amount in zip(of_model, rounded, strict=True)
            if are_adjusted([models[index]], [rounded_amount], currency)
        }
        models |= dict(zip(of_model, rounded, strict=True))
    return [
        replace(
            row,
            used=replace(row.used, carrier=tuple(carrier[index])),
            model=models[index],
            is_adjusted=index in adjusted,
        )
        for index, row in enumerate(rows)
    ]


def total(rows: Sequence[MonthMargin]) -> MonthMargin | None:
    """Return the sum of all; None if their prices are in several currencies."""
    currencies = {row.currency for row in rows if row.price} or {row.currency for row in rows}
    if len(currencies) != 1:
        return None
    carrier: dict[str, CarrierCost] = {}
    for cost in (cost for row in rows for cost in row.carrier):
        subtotal = carrier.get(cost.currency, CarrierCost(cost.currency, 0, 0))
        carrier[cost.currency] = CarrierCost(
            cost.currency, subtotal.reported + cost.reported, subtotal.estimated + cost.estimated
        )
    used = CallUsage(
        sum(row.used.calls for row in rows),
        sum(row.used.minutes for row in rows),
        tuple(carrier[currency] for currency in sorted(carrier)),
    )
    return replace(
        rows[0],
        used=used,
        price=sum(row.price for row in rows),
        currency=currencies.pop(),
        model=sum(row.model for row in rows),
        trial_price=sum(row.trial_price for row in rows),
        in_trial=sum(row.in_trial for row in rows),
    )


def of_partner(caller: Caller) -> Select[Organization]:
    """Select the organizations of the caller's partner that the caller sees. Raises as
    `by_organization`."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    return visible_organizations(caller).where(
        Organization.partner_id == partners.own_partner_id(caller)
    )


def _sort_margins(rows: Sequence[MonthMargin], sort: str) -> list[MonthMargin]:
    """Sort rows that are in the order of their names; those without a margin come last."""
    name, descending = sort.removeprefix("-"), sort.startswith("-")
    if name == NAME:
        return list(reversed(rows) if descending else rows)
    amount = _AMOUNTS[name]
    with_margin = [row for row in rows if amount(row) is not None]
    with_margin.sort(key=lambda row: amount(row) or 0, reverse=descending)
    return with_margin + [row for row in rows if amount(row) is None]


def _page_of(rows: Sequence[MonthMargin], cursor: str | None, limit: int) -> Page[MonthMargin]:
    """Return a page of rows; the cursor is the number of rows before it."""
    start = whole_number(cursor, 9) or 0
    end = start + limit
    return Page(rows[start:end], str(end) if end < len(rows) else None)


def rows_of(
    session: Session, organizations: Sequence[Organization], month: date, model: ModelRate
) -> list[MonthMargin]:
    """Return what organizations of one partner that came from their loader earned in a month."""
    if not organizations:
        return []
    used = usage.of_organizations(session, [each.id for each in organizations], month)
    bills = statements.bills(session, organizations, month, used=used)
    currency = rates.currency_of(session)
    margins = []
    for each in organizations:
        bill, organization_use = bills[each.id], used.get(each.id, CallUsage())
        price, in_trial = in_micros(bill.total, bill.currency), each.trial_ended_at is None
        margins.append(
            MonthMargin(
                each.id,
                each.name,
                organization_use,
                price,
                bill.currency,
                organization_use.model_micros(model),
                currency,
                bill.plan_label,
                bill.number,
                price if in_trial else 0,
                int(in_trial),
                status=each.status,
            )
        )
    return margins


def _share_out(amount: int, units: dict[UUID, int]) -> dict[UUID, int]:
    """Divide an amount in the smallest unit by units; the rounded parts add up to it, unless there
    aren't units."""
    total_units, before, shares = sum(units.values()), 0, {}
    for key, count in units.items():
        start, end = (
            (2 * amount * cumulative + total_units) // (2 * total_units) if total_units else 0
            for cumulative in (before, before + count)
        )
        shares[key], before = end - start, before + count
    return shares
