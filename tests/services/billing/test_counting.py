"""A call counts on the billing day of its campaign, however late its cost is reported."""

from datetime import UTC, date, datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.enums import CallSource, CarrierKind
from app.models import NO_CAMPAIGN, BillingDay, Campaign
from app.services import spending
from app.services.calls.states import lock_attempt
from tests.fixtures.tenants import Tenant
from tests.services.billing.conftest import call, report_cost

NIGHT = datetime(2026, 10, 31, 23, 59, tzinfo=UTC)
DAY = date(2026, 10, 31)
Row = tuple[date, object, str, int, int, int, int]


def counted(session: Session, tenant: Tenant) -> list[Row]:
    """Day, campaign, currency, calls, minutes, reported and estimated costs."""
    day = BillingDay
    columns = (day.day, day.campaign_id, day.currency, day.calls, day.minutes)
    rows = session.execute(
        select(*columns, day.reported_micros, day.estimated_micros)
        .where(day.organization_id == tenant.plus.id)
        .order_by(day.currency)
    )
    return [tuple(row) for row in rows]  # type: ignore[misc]


def test_a_call_counts_in_full_minutes_on_the_day_on_which_it_began(
    session: Session, tenant: Tenant
) -> None:
    campaign = Campaign(
        partner_id=tenant.partner.id, organization_id=tenant.plus.id, name="Renewals"
    )
    session.add(campaign)
    session.flush()
    call(session, tenant.plus, NIGHT, 61, campaign_id=campaign.id)
    call(session, tenant.plus, NIGHT, 0, campaign_id=campaign.id)
    assert counted(session, tenant) == [(DAY, campaign.id, "USD", 2, 3, 0, 90_000)]


def test_a_reported_cost_replaces_the_estimate_once(session: Session, tenant: Tenant) -> None:
    attempt = call(session, tenant.plus, NIGHT, 61)
    assert counted(session, tenant) == [(DAY, NO_CAMPAIGN, "USD", 1, 2, 0, 60_000)]
    report_cost(session, attempt, "0.0142")
    report_cost(session, attempt, "0.0990")
    locked, again = lock_attempt(session, attempt.id)
    spending.settle(session, locked, again)
    assert counted(session, tenant) == [(DAY, NO_CAMPAIGN, "USD", 1, 2, 14_200, 0)]


def test_a_cost_in_another_currency_is_kept_beside_the_usage(
    session: Session, tenant: Tenant
) -> None:
    call(session, tenant.plus, NIGHT, 61, cost="0.02", currency="EUR")
    assert counted(session, tenant) == [
        (DAY, NO_CAMPAIGN, "EUR", 0, 0, 20_000, 0),
        (DAY, NO_CAMPAIGN, "USD", 1, 2, 0, 0),
    ]


def test_an_unanswered_call_is_not_billed_but_its_cost_counts(
    session: Session, tenant: Tenant
) -> None:
    call(session, tenant.plus, NIGHT, None)
    assert counted(session, tenant) == []
    call(session, tenant.plus, NIGHT, None, cost="0.005")
    assert counted(session, tenant) == [(DAY, NO_CAMPAIGN, "USD", 0, 0, 5_000, 0)]


def test_simulated_calls_test_keys_and_verification_calls_are_not_billed(
    session: Session, tenant: Tenant
) -> None:
    call(session, tenant.plus, NIGHT, 61, carrier=CarrierKind.SIMULATOR)
    call(session, tenant.plus, NIGHT, 61, live=False)
    assert counted(session, tenant) == []
    call(session, tenant.plus, NIGHT, 61, source=CallSource.VERIFICATION)
    assert counted(session, tenant) == [(DAY, NO_CAMPAIGN, "USD", 0, 0, 0, 60_000)]
