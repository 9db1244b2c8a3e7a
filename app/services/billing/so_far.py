"""This month of an organization so far, as *Plan* and *Usage* show it."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from sqlalchemy.orm import Session

from app.policy.caller import Caller
from app.services.billing import statements
from app.services.billing.month_end import MonthForecast, month_end
from app.services.billing.statements import Bill
from app.services.pricing import versions
from app.services.pricing.plans import EditedPlan
from app.services.tenancy import get_organization


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
