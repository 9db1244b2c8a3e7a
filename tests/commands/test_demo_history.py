"""The invented past of the demo: each screen counts the same calls."""

import random
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.commands.demo import _close_months
from app.commands.demo_history import add_calls
from app.enums import Role
from app.models import NO_CAMPAIGN, Assistant, Organization, SpendingTotal, Statement, utcnow
from app.policy.caller import system_caller
from app.services import assistants, calls, figure_check, reporting
from app.services.billing import by_plan, margin
from app.services.billing.usage import ModelRate
from app.services.pricing import PlanTerms
from tests.fixtures.clock import SetClock
from tests.fixtures.tenants import Tenant
from tests.services.billing.conftest import publish


def assistant_of(session: Session, organization: Organization) -> Assistant:
    found = assistants.of_organization(
        session, system_caller("demo", organization.partner_id), organization.id
    )[0]
    found.phone_number = "+13035550148"
    return found


def test_the_totals_of_each_past_day_agree_with_calls_that_can_be_opened(
    session: Session, tenant: Tenant
) -> None:
    admin, assistant = tenant.caller(Role.PARTNER_ADMIN), assistant_of(session, tenant.plus)
    add_calls(session, tenant.plus, assistant, 5, 3, random.Random(7))

    today = utcnow().date()
    for age in (1, 2, 3):
        checked = figure_check.compare_day(session, today - timedelta(days=age))
        assert [(each.figure, each.counted > 0, each.total - each.counted) for each in checked] == [
            (figure_check.CONVERSATIONS, True, 0),
            (figure_check.OF_PARTNERS, True, 0),
            (figure_check.ENDED_CALLS, True, 0),
            (figure_check.MINUTES, True, 0),
            (figure_check.SPENDING, True, 0),
        ]
    counted = calls.CallSearch(counted=True)
    assert calls.without_calls(session, admin, counted) == 0
    found = calls.search(session, admin, counted).items
    kinds = [moment.kind for moment in calls.timeline(session, found[0])]
    assert kinds == ["accepted", "dialing", "answered", "ended"]


def test_usage_costs_and_spending_of_the_demo_agree(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    clock.set("2026-11-27T12:00")
    admin, plus, today = tenant.caller(Role.PARTNER_ADMIN), tenant.plus, utcnow().date()
    plus.created_at -= timedelta(days=30)
    add_calls(session, plus, assistant_of(session, plus), 5, 26, random.Random(7))

    month = reporting.this_month(today)
    costs = margin.of_organization(session, admin, plus.id, month.start, ModelRate())
    used = costs.total.used
    assert [row.id for row in costs.campaigns] == [NO_CAMPAIGN]  # none of them was started
    first = datetime(2026, 11, 1, tzinfo=UTC)
    billed = calls.CallSearch(billed=True, organization=plus.id, since=first, before=utcnow())
    assert calls.count(session, admin, billed) == used.calls
    (carrier,) = used.carrier
    assert min(used.calls, used.minutes, carrier.reported, carrier.estimated) > 0
    totals = {
        total.scope.partition(":")[0]: (total.spent_micros, total.spent_seconds)
        for total in session.scalars(
            select(SpendingTotal).where(SpendingTotal.period == f"{today:%Y-%m}")
        )
    }
    spent = carrier.reported + carrier.estimated, 60 * used.minutes
    assert totals == {"organization": spent, "partner": spent}
    by_organization = reporting.by_organization_ids(session, month, [plus.id])[plus.id]
    by_month = [each.cost for each in reporting.by_month(session, admin, month)]
    assert [(cost.currency, cost.micros) for cost in by_organization] == [("USD", carrier.reported)]
    assert by_organization == by_month


def test_the_past_months_of_the_demo_are_closed_each_when_it_ended(
    session: Session, tenant: Tenant, clock: SetClock
) -> None:
    clock.set("2026-11-27T12:00")
    tenant.partner.created_at = tenant.plus.created_at = datetime(2026, 9, 5, tzinfo=UTC)
    tenant.organization.created_at = datetime(2026, 10, 5, tzinfo=UTC)
    publish(session, tenant, tenant.partner.created_at, BASIC=PlanTerms(3_450, "USD"))
    _close_months(session)

    closed = session.execute(select(Statement.month, Statement.closed_at).order_by(Statement.month))
    september, october = date(2026, 9, 1), date(2026, 10, 1)
    assert [(month, at.isoformat()) for month, at in closed] == [
        (september, "2026-10-01T03:00:00+00:00"),
        *[(october, "2026-11-01T03:00:00+00:00")] * 2,
    ]
    admin = tenant.caller(Role.PARTNER_ADMIN)
    assert by_plan.latest_closed(session, admin, tenant.partner.id) == october
