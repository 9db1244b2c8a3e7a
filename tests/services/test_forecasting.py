"""The forecast of a month is close to what was held back, and says how far off it may be."""

import random
from collections.abc import Iterator
from datetime import date
from statistics import median

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import ConversationDay, SpendingTotal
from app.services import reporting, spending
from app.services.forecasting import MIN_DAYS, DailyForecast, MonthEnd, forecast, month_end
from app.services.spending import LimitSubject, SpendingLimits
from tests.fixtures.tenants import OPERATOR, Tenant, make_tenant

TODAY = date(2026, 10, 15)


def talked(session: Session, tenant: Tenant, day: date, conversations: int) -> None:
    whose = {"organization_id": tenant.organization.id, "partner_id": tenant.partner.id}
    session.add(ConversationDay(**whose, day=day, conversations=conversations))
    session.flush()


def months() -> Iterator[list[int]]:
    """Synthetic days of 12 weeks and a month: weekdays, growth or decline, noise."""
    for seed in range(1000, 1200):  # the parameters were chosen on others
        rng = random.Random(seed)
        pace, growth = rng.choice([5, 20, 80, 300]), rng.uniform(-0.002, 0.006)
        week = [rng.uniform(0.8, 1.2) for _ in range(5)] + [0.3, 0.2]
        expected = [pace * week[day % 7] * (1 + growth) ** day for day in range(114)]
        yield [max(0, round(rng.gauss(each, max(1, each) ** 0.5 * 1.3))) for each in expected]


def test_the_error_over_held_back_months_is_what_the_page_of_decisions_says() -> None:
    errors, within = [], 0
    for days in months():
        for held_back in (25, 20, 10):
            found = forecast(days[:-held_back], held_back)
            assert found is not None
            off = abs(found.total - sum(days[-held_back:]))
            errors.append(off / sum(days[-30:]))
            within += off <= found.margin
    errors.sort()
    shown = (median(errors), errors[int(0.9 * len(errors))], within / len(errors))
    assert tuple(round(100 * each, 1) for each in shown) == (3.3, 14.5, 84.7)


def test_a_steady_week_is_continued_exactly() -> None:
    found = forecast([10, 10, 10, 10, 10, 2, 0] * 5, 9)
    assert found is not None
    assert [round(day, 6) for day in found.days] == [10, 10, 10, 10, 10, 2, 0, 10, 10]
    assert round(found.margin, 6) == 0


@pytest.mark.parametrize("days", [[], [0] * 90, [0] * 90 + [5] * (MIN_DAYS - 1)])
def test_too_few_days_are_no_basis(days: list[int]) -> None:
    assert forecast(days, 10) is None


def test_a_day_busier_than_expected_takes_nothing_from_the_days_after_it() -> None:
    found = DailyForecast((10.0, 12.0), margin=2.0)
    last_day = date(2026, 10, 31)
    today = date(2026, 10, 30)
    assert month_end(found, today, 100, 40) == MonthEnd(last_day, 152, 150, 154)
    assert month_end(found, today, 100, 3) == MonthEnd(last_day, 122, 120, 124)


@pytest.mark.usefixtures("clock")
def test_the_forecast_adds_known_and_expected_days(session: Session) -> None:
    tenant = make_tenant(session)
    for age in range(1, 60):
        day = date.fromordinal(TODAY.toordinal() - age)
        talked(session, tenant, day, 10)
    talked(session, tenant, TODAY, 3)
    caller = tenant.caller(Role.ADMIN)
    week = reporting.last_days(TODAY, 7)
    found = reporting.compare_days(session, caller, week, TODAY, tenant.organization.id)
    assert found.end == MonthEnd(date(2026, 10, 31), 310, 310, 310)
    assert [day.conversations for day in found.days] == [*[10] * 6, 3]
    assert [day.conversations for day in found.before] == [10] * 7
    assert reporting.compare_days(session, caller, week, TODAY, tenant.plus.id).end is None
    earlier = reporting.compare_days(session, caller, week.before(), TODAY, tenant.organization.id)
    assert earlier.end is None, "a range that has ended has no forecast"
    assert earlier.days == found.before


@pytest.mark.usefixtures("clock")
def test_spending_says_on_which_day_the_month_reaches_its_limit(session: Session) -> None:
    tenant = make_tenant(session)
    scope, subject = f"partner:{tenant.partner.id}", LimitSubject(partner_id=tenant.partner.id)
    ages = [(date.fromordinal(TODAY.toordinal() - age).isoformat(), 600) for age in range(1, 60)]
    for period, seconds in [*ages, ("2026-10", 14 * 600)]:
        session.add(
            SpendingTotal(
                scope=scope, period=period, partner_id=tenant.partner.id, spent_seconds=seconds
            )
        )
    expected = []
    for minutes in (140, 195, 205, 310, 320):
        spending.change(session, OPERATOR, subject, SpendingLimits(month_minutes=minutes))
        expected.append(spending.spending_of(session, OPERATOR, subject, ahead=True).passed_on)
    assert expected == [
        (None, None),  # reached already
        (None, date(2026, 10, 20)),
        (None, date(2026, 10, 21)),
        (None, date(2026, 10, 31)),
        (None, None),
    ]
