"""What an organization has used so far, and is expected to have used and to pay at the end of the
month."""

from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import UsageUnit
from app.models import BillingDay
from app.policy.caller import Caller
from app.services import forecasting
from app.services.billing import statements
from app.services.billing.rating import StatementLine, with_use
from app.services.billing.statements import Bill
from app.services.forecasting import HISTORY
from app.services.pricing import versions
from app.services.pricing.plans import EditedPlan
from app.services.tenancy import get_organization


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


def month_end(session: Session, bill: Bill, today: date) -> MonthForecast | None:
    """Return the forecast of this month's preview, in one query; None if the plan doesn't count
    usage or isn't charged yet, or if there were too few days."""
    line = bill.usage
    if line is None or bill.charged_from > today:
        return None
    *known, so_far = _daily(session, bill, line, today)
    found = forecasting.forecast(known, (forecasting.last_day_of(today) - today).days + 1)
    if found is None:
        return None
    before = line.used - so_far
    end = forecasting.month_end(found, today, before, so_far)
    charged = with_use(line, end.expected, bill.currency).amount
    return MonthForecast(
        end.last_day,
        end.expected,
        end.low,
        end.high,
        bill.total - line.amount + charged,
        _used_up_on(line, before, found.with_today(so_far).days, today),
    )


def _daily(session: Session, bill: Bill, line: StatementLine, today: date) -> list[int]:
    """Return the minutes or calls of each day up to today."""
    amount = BillingDay.minutes if line.unit == UsageUnit.MINUTE else BillingDay.calls
    first = today - HISTORY
    rows = session.execute(
        select(BillingDay.day, func.sum(amount))
        .where(
            BillingDay.organization_id == bill.organization_id,
            BillingDay.day.between(first, today),
        )
        .group_by(BillingDay.day)
    )
    used = {day: int(count) for day, count in rows}
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
    """``plan`` is the one that the month is rated by, in the current language; ``end`` is the
    forecast, if there is one."""

    bill: Bill
    plan: EditedPlan
    end: MonthForecast | None


def month_so_far(
    session: Session, caller: Caller, organization_id: UUID, today: date
) -> MonthSoFar:
    """Return what is used of what the plan includes, and the price. Raises `Forbidden`,
    `NotFound`."""
    bill = statements.current_month(session, caller, organization_id)
    partner_id = get_organization(session, caller, organization_id).partner_id
    plans = versions.published(session, partner_id)
    plan = next(plan for plan in plans if plan.tier is bill.tier).shown()
    return MonthSoFar(bill, plan, month_end(session, bill, today))
