"""The invented past of the demo: each screen counts the same calls."""

import random
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.commands.demo_history import add_conversations
from app.enums import Role
from app.models import NO_CAMPAIGN, Assistant, SpendingTotal, utcnow
from app.services import reporting
from app.services.billing import margin
from app.services.billing.usage import ModelRate
from tests.fixtures.cast import Tenant
from tests.fixtures.clock import SetClock


def test_usage_costs_and_spending_of_the_demo_agree(
    session: Session, own: Tenant, clock: SetClock
) -> None:
    clock.set("2026-11-27T12:00")
    admin, plus, today = own.caller(Role.PARTNER_ADMIN), own.plus, utcnow().date()
    plus.created_at -= timedelta(days=30)
    whose = select(Assistant).where(Assistant.organization_id == plus.id)
    assistant = session.scalars(whose).first()
    assert assistant is not None
    add_conversations(session, plus, assistant, 5, 26, random.Random(7))  # noqa: S311

    month = reporting.this_month(today)
    costs = margin.of_organization(session, admin, plus.id, month.start, ModelRate())
    used = costs.total.used
    assert [row.id for row in costs.campaigns] == [NO_CAMPAIGN]  # none of them was started
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
