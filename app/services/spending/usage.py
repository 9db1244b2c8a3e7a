"""The usage of limits, its forecast for the end of the month, and the cost of the calls of each
organization in this month."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from app.calendar_months import last_day_of
from app.models import Organization, SpendingTotal, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import forecasting
from app.services.forecasting import HISTORY, DailyForecast, MonthEnd
from app.services.spending.scopes import ORGANIZATION, day_period, month_period, scope_key
from app.services.tenancy import of_tenant


@dataclass(frozen=True, slots=True)
class LimitUsage:
    """The use of a limit of a day or a month, with the ``limit``; ``reserved`` is the additional
    reservation of calls that have not ended."""

    spent: int
    reserved: int
    limit: int | None

    @property
    def used(self) -> int:
        return self.spent + self.reserved


@dataclass(frozen=True, slots=True)
class SpendingForecast:
    """The forecast of each day from today to the end of the month, of spending in millionths and of
    call time in seconds; None if too few days are known."""

    today: date
    money: DailyForecast | None
    time: DailyForecast | None


def outlook(session: Session, condition: ColumnElement[bool], now: datetime) -> SpendingForecast:
    """Return the forecast of the totals that ``condition`` selects together, in one query."""
    total, first = SpendingTotal, now.date() - HISTORY
    rows = session.execute(
        select(total.period, func.sum(total.spent_micros), func.sum(total.spent_seconds))
        .where(condition, total.period.between(day_period(now - HISTORY), day_period(now)))
        .group_by(total.period)
    )
    # The totals of months are among them, but no day matches one.
    days = {period: (int(micros), int(seconds)) for period, micros, seconds in rows}
    history = [
        days.get((first + timedelta(days=age)).isoformat(), (0, 0)) for age in range(HISTORY.days)
    ]
    count = (last_day_of(now.date()) - now.date()).days + 1
    return SpendingForecast(
        now.date(), *(forecasting.forecast(each, count) for each in zip(*history, strict=True))
    )


def month_end(ahead: SpendingForecast, month: int, today: int) -> MonthEnd | None:
    """Return the forecast of the month's spending, of which ``today`` is today's."""
    if ahead.money is None:
        return None
    return forecasting.month_end(ahead.money, ahead.today, month - today, today)


def day_of_limit(
    expected: DailyForecast | None, month: LimitUsage, today: LimitUsage, first: date
) -> date | None:
    """Return the day of this month, from the ``first`` on, on which the month reaches its limit;
    None if it reached it already, isn't expected to reach it, or too few days are known."""
    if month.limit is None or month.used >= month.limit or expected is None:
        return None
    used = month.used - today.used
    for position, amount in enumerate(expected.with_today(today.used).days):
        used += round(amount)
        if used >= month.limit:
            return first + timedelta(days=position)
    return None


@dataclass(frozen=True, slots=True)
class OrganizationSpending:
    """The spending of an organization in this month, in millionths and seconds."""

    organization: Organization
    micros: int
    seconds: int


def by_organization(session: Session, caller: Caller, limit: int) -> Sequence[OrganizationSpending]:
    """Return at most so many organizations that spent something this month (UTC), those that spent
    the most first, in one query. Raises `Forbidden`."""
    caller.require(Permission.ORGANIZATIONS_READ)
    total = SpendingTotal
    query = (
        of_tenant(select(Organization), caller, total.partner_id, total.organization_id)
        .add_columns(total.spent_micros, total.spent_seconds)
        .join(total, total.organization_id == Organization.id)
        .where(
            total.period == month_period(utcnow()),
            total.scope.startswith(scope_key(ORGANIZATION, "")),
            total.spent_micros > 0,
        )
        .order_by(total.spent_micros.desc(), Organization.name, Organization.id)
        .limit(limit)
    )
    return [OrganizationSpending(*row) for row in session.execute(query)]
