"""The billable usage and the costs of organizations, from the totals of their days."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Date, extract, func, literal, select
from sqlalchemy.orm import Session

from app.calendar_months import last_day_of
from app.config import Settings
from app.database import read_once
from app.models import BillingDay
from app.services.billing.rating import BilledDay
from app.services.spending.rates import MICROS


@dataclass(frozen=True, slots=True)
class ModelRate:
    """The costs of voice and text generation, in millionths of the call rates' currency."""

    micros_per_minute: int = 0
    micros_per_call: int = 0


def model_rate(settings: Settings) -> ModelRate:
    """Return the operator's costs of voice and text generation."""
    return ModelRate(
        int(settings.spending_model_per_minute * MICROS),
        int(settings.spending_model_per_call * MICROS),
    )


@dataclass(frozen=True, slots=True)
class CarrierCost:
    """The carrier costs in one currency, in millionths; ``estimated`` are those that the carrier
    hasn't reported."""

    currency: str
    reported: int
    estimated: int


@dataclass(frozen=True, slots=True)
class CallUsage:
    """Answered calls, their full minutes, and what carriers charge for them."""

    calls: int = 0
    minutes: int = 0
    carrier: tuple[CarrierCost, ...] = ()

    def as_day(self, day: date) -> BilledDay:
        return BilledDay(day, self.calls, self.minutes)

    def model_micros(self, rate: ModelRate) -> int:
        return self.minutes * rate.micros_per_minute + self.calls * rate.micros_per_call


def days_of(
    session: Session, organization_ids: Collection[UUID], month: date, *, as_one: bool = False
) -> Mapping[UUID, Sequence[BilledDay]]:
    """Return the days with calls of organizations that came from their loader, or the whole month
    ``as_one`` day. One query, run once in a read-only transaction."""
    if not organization_ids:
        return {}
    key = (BillingDay, frozenset(organization_ids), month, as_one)
    return read_once(session, key, lambda: _days_of(session, organization_ids, month, as_one))


def _days_of(
    session: Session, organization_ids: Collection[UUID], month: date, as_one: bool
) -> Mapping[UUID, Sequence[BilledDay]]:
    columns: list[Any] = [BillingDay.organization_id]
    columns += [] if as_one else [BillingDay.day]
    rows = session.execute(
        select(
            BillingDay.organization_id,
            literal(month, Date) if as_one else BillingDay.day,
            func.sum(BillingDay.calls),
            func.sum(BillingDay.minutes),
        )
        .where(BillingDay.organization_id.in_(organization_ids), in_month(month))
        .group_by(*columns)
        .order_by(*columns)
    )
    days: defaultdict[UUID, list[BilledDay]] = defaultdict(list)
    for organization_id, day, calls, minutes in rows:
        days[organization_id].append(BilledDay(day, int(calls), int(minutes)))
    return days


def of_organizations(
    session: Session, organization_ids: Collection[UUID], month: date
) -> Mapping[UUID, CallUsage]:
    """Return the usage of a month of organizations that came from their loader. One query."""
    column = BillingDay.organization_id
    return _sum_usage(session, column, in_month(month), column.in_(organization_ids))


def of_campaigns(session: Session, organization_id: UUID, month: date) -> Mapping[UUID, CallUsage]:
    """Return the usage of a month of the campaigns of an organization that came from its loader;
    `NO_CAMPAIGN` are calls without one. One query."""
    condition = BillingDay.organization_id == organization_id
    return _sum_usage(session, BillingDay.campaign_id, in_month(month), condition)


def of_months(
    session: Session, organization_ids: Collection[UUID], first: date, last: date
) -> Mapping[date, CallUsage]:
    """Return the total usage of organizations that came from their loader in each month from
    ``first`` to ``last``. One query."""
    key = 12 * extract("year", BillingDay.day) + extract("month", BillingDay.day) - 1
    days = BillingDay.day.between(first, last_day_of(last))
    usage = _sum_usage(session, key, days, BillingDay.organization_id.in_(organization_ids))
    return {
        date(int(month_number) // 12, int(month_number) % 12 + 1, 1): used
        for month_number, used in usage.items()
    }


def _sum_usage(
    session: Session, key: Any, days: ColumnElement[bool], condition: ColumnElement[bool]
) -> dict[Any, CallUsage]:
    amounts = ("calls", "minutes", "reported_micros", "estimated_micros")
    rows = session.execute(
        select(key, BillingDay.currency, *(func.sum(getattr(BillingDay, each)) for each in amounts))
        .where(days, condition)
        .group_by(key, BillingDay.currency)
        .order_by(BillingDay.currency)
    )
    usage: dict[Any, CallUsage] = {}
    for identifier, currency, *sums in rows:
        calls, minutes, reported, estimated = map(int, sums)
        subtotal = usage.get(identifier, CallUsage())
        cost = (CarrierCost(currency, reported, estimated),) if reported or estimated else ()
        usage[identifier] = CallUsage(
            subtotal.calls + calls, subtotal.minutes + minutes, subtotal.carrier + cost
        )
    return usage


def in_month(month: date) -> ColumnElement[bool]:
    return BillingDay.day.between(month, last_day_of(month))
