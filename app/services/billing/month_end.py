"""The usage of an organization in this month so far, and the forecast of its usage and price at the
end of the month."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.calendar_months import last_day_of, month_of
from app.enums import UsageUnit
from app.models import BillingDay, Organization
from app.policy import Permission
from app.policy.caller import Caller
from app.services import forecasting
from app.services.billing import statements
from app.services.billing.rating import BilledDay, StatementLine, with_use
from app.services.billing.statements import Bill
from app.services.billing.usage import CallUsage
from app.services.forecasting import HISTORY
from app.services.pricing import versions
from app.services.pricing.plans import EditedPlan
from app.services.tenancy import get_organization, visible_organizations


@dataclass(frozen=True, slots=True)
class MonthForecast:
    """The usage until ``last_day``, within 80 % of cases from ``low`` to ``high``, and what the
    month then costs, in the smallest unit of the currency. ``used_up_on`` is the day on which more
    is used than the plan includes, if that is expected."""

    last_day: date
    used: int
    low: int
    high: int
    total: int
    used_up_on: date | None


def _month_ends(
    bills: Collection[Bill], days: Mapping[UUID, Sequence[BilledDay]], today: date
) -> Mapping[UUID, MonthForecast]:
    """Return the forecasts of this month's previews: none for plans that don't count usage or
    aren't charged yet, nor after too few days."""
    ends = {
        bill.organization_id: _forecast(bill, bill.usage, days[bill.organization_id], today)
        for bill in bills
        if bill.usage and bill.charged_from <= today
    }
    return {key: end for key, end in ends.items() if end is not None}


def _forecast(
    bill: Bill, line: StatementLine, days: Sequence[BilledDay], today: date
) -> MonthForecast | None:
    *past, so_far = _daily_amounts(line, days, today)
    forecast = forecasting.forecast(past, (last_day_of(today) - today).days + 1)
    if forecast is None:
        return None
    before = line.used - so_far
    end = forecasting.month_end(forecast, today, before, so_far)
    charged = with_use(line, end.expected, bill.currency).amount
    return MonthForecast(
        end.last_day,
        end.expected,
        end.low,
        end.high,
        bill.total - line.amount + charged,
        _used_up_on(line, before, forecast.with_today(so_far).days, today),
    )


def _load_days(
    session: Session, organization_ids: Collection[UUID], today: date
) -> Mapping[UUID, Sequence[BilledDay]]:
    """Return the days of `HISTORY` up to today that have calls."""
    days = defaultdict[UUID, list[BilledDay]](list)
    if not organization_ids:  # PostgreSQL would read the whole table under its policy
        return days
    key = (BillingDay.organization_id, BillingDay.day)
    rows = session.execute(
        select(*key, func.sum(BillingDay.calls), func.sum(BillingDay.minutes))
        .where(
            BillingDay.organization_id.in_(organization_ids),
            BillingDay.day.between(today - HISTORY, today),
        )
        .group_by(*key)
    )
    for organization_id, day, calls, minutes in rows:
        days[organization_id].append(BilledDay(day, int(calls), int(minutes)))
    return days


def _daily_amounts(line: StatementLine, days: Sequence[BilledDay], today: date) -> list[int]:
    """Return the minutes or calls of each day of `HISTORY` up to today."""
    used = {
        each.day: each.minutes if line.unit == UsageUnit.MINUTE else each.calls for each in days
    }
    first = today - HISTORY
    return [used.get(first + timedelta(days=each), 0) for each in range(HISTORY.days + 1)]


def _used_up_on(
    line: StatementLine, before: int, days: tuple[float, ...], today: date
) -> date | None:
    if not line.included or line.used > line.included:
        return None
    used = float(before)
    for ahead, expected in enumerate(days):
        used += expected
        if used > line.included:
            return today + timedelta(days=ahead)
    return None


@dataclass(frozen=True, slots=True)
class MonthSoFar:
    """``plan`` is the one that rates the month, in the current language; ``end`` is the forecast,
    if there is one."""

    bill: Bill
    plan: EditedPlan
    end: MonthForecast | None


@dataclass(frozen=True, slots=True)
class IncludedUse:
    """The minutes or calls that were used of those that a plan includes in the month. ``expected``
    is the forecast, if there is one; ``used_up_on`` is the day on which all were used."""

    used: int
    included: int
    unit: UsageUnit
    expected: MonthForecast | None
    used_up_on: date | None = None


def included_use(
    session: Session, caller: Caller, organization_ids: Collection[UUID], today: date
) -> Mapping[UUID, IncludedUse]:
    """Return the use this month of those of a partner's organizations that the caller may see and
    whose plan includes some: a fixed number of queries. Raises `Forbidden`."""
    caller.require(Permission.USAGE_READ)
    plans = versions.published(session, caller.partner_id) if caller.partner_id else []
    if not organization_ids or not any(plan.terms.unit and plan.terms.included for plan in plans):
        return {}
    query = visible_organizations(caller).where(Organization.id.in_(organization_ids))
    organizations = session.scalars(query).all()
    days = _load_days(session, [each.id for each in organizations], today)
    bills = _bills(session, organizations, days, today)
    ends = _month_ends(bills.values(), days, today)
    return {
        key: IncludedUse(
            line.used,
            line.included,
            UsageUnit(line.unit),
            ends.get(key),
            _day_of_last_included(bill, line, days.get(key, ()), today),
        )
        for key, bill in bills.items()
        if (line := bill.usage) and line.included
    }


def _bills(
    session: Session,
    organizations: Sequence[Organization],
    days: Mapping[UUID, Sequence[BilledDay]],
    today: date,
) -> Mapping[UUID, Bill]:
    """Return the previews of this month, which is part of the ``days``."""
    month = month_of(today)
    used = {
        key: CallUsage(
            sum(each.calls for each in of_one if each.day >= month),
            sum(each.minutes for each in of_one if each.day >= month),
        )
        for key, of_one in days.items()
    }
    return statements.bills(session, organizations, month, used=used)


def _day_of_last_included(
    bill: Bill, line: StatementLine, days: Sequence[BilledDay], today: date
) -> date | None:
    """Return the day of this month on which the use reached what is included; None if the days
    don't say."""
    first = max(month_of(today), bill.charged_from)
    used = 0
    for each in sorted(days, key=lambda day: day.day):
        if each.day >= first:
            used += each.minutes if line.unit == UsageUnit.MINUTE else each.calls
        if used >= line.included:
            return each.day
    return None


def month_so_far(
    session: Session, caller: Caller, organization_id: UUID, today: date
) -> MonthSoFar:
    """Return the used part of what the plan includes, and the price. Raises `Forbidden`,
    `NotFound`."""
    caller.require(Permission.USAGE_READ)
    organization = get_organization(session, caller, organization_id)
    days = _load_days(session, [organization_id], today)
    bill = _bills(session, [organization], days, today)[organization_id]
    plans = versions.published(session, organization.partner_id)
    plan = next(plan for plan in plans if plan.tier is bill.tier).localized()
    return MonthSoFar(bill, plan, _month_ends([bill], days, today).get(organization_id))
