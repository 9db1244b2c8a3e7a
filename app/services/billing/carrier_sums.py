"""Carrier costs of a month, for the pages Usage, Costs and margin, and Spending."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.calendar_months import last_day_of, midnight, month_of
from app.models import BillingDay, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners
from app.services.billing.usage import in_month
from app.services.spending.limits import totals_of
from app.services.spending.scopes import ORGANIZATION, PARTNER, scope_key
from app.services.tenancy import get_organization


@dataclass(frozen=True, slots=True)
class CarrierSums:
    """Amounts in millionths of the currency. Usage shows the ``reported`` costs of carriers,
    ``costs`` adds the ``estimated`` ones not reported yet, ``spending`` adds ``simulated``
    calls."""

    organization_id: UUID | None
    month: date
    currency: str
    reported: int
    estimated: int
    simulated: int

    @property
    def last_day(self) -> date:
        return min(last_day_of(self.month), utcnow().date())

    @property
    def costs(self) -> int:
        return self.reported + self.estimated

    @property
    def spending(self) -> int:
        return self.costs + self.simulated


def carrier_sums(
    session: Session, caller: Caller, month: date, organization_id: UUID | None = None
) -> CarrierSums | None:
    """Return the sums of an organization or of the caller's partner in two queries; None if
    carriers charge in another currency than the call rates, or for a caller of some groups only.

    Raises `Forbidden` and `NotFound`.
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    if organization_id is not None:
        get_organization(session, caller, organization_id)
        scope = scope_key(ORGANIZATION, organization_id)
        condition = BillingDay.organization_id == organization_id
    elif caller.is_limited:
        return None
    else:
        partner_id = partners.own_partner_id(caller)
        scope, condition = scope_key(PARTNER, partner_id), BillingDay.partner_id == partner_id
    sums = (func.sum(BillingDay.reported_micros), func.sum(BillingDay.estimated_micros))
    rows = session.execute(
        select(BillingDay.currency, *sums)
        .where(condition, in_month(month))
        .group_by(BillingDay.currency)
    )
    by_currency = {row[0]: (int(row[1]), int(row[2])) for row in rows if row[1] or row[2]}
    totals = totals_of(session, scope, _moment_in(month))
    reported, estimated = by_currency.pop(totals.currency, (0, 0))
    if by_currency:
        return None
    spent = totals.month.spent_micros if totals.month else 0
    simulated = spent - reported - estimated
    return CarrierSums(organization_id, month, totals.currency, reported, estimated, simulated)


def _moment_in(month: date) -> datetime:
    """Return now for this month: pages show its totals for their limits, too."""
    now = utcnow()
    return now if month_of(now.date()) == month else midnight(month)
