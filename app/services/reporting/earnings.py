"""What a month earned: prices, costs and margin of the partner or of one organization."""

from datetime import date
from uuid import UUID

from sqlalchemy.orm import Session

from app.policy.caller import Caller
from app.services.billing import margin
from app.services.billing.margin import Earned
from app.services.billing.usage import ModelRate
from app.services.reporting.by_organization import can_rank

MOST_SUMMED = 500
"""Of more organizations no totals are made: they need the price of each."""


def earned(
    session: Session,
    caller: Caller,
    month: date,
    model: ModelRate,
    organization_id: UUID | None = None,
) -> Earned | None:
    """Return what an organization earned, or the sum of the partner's organizations; None if there
    are none or too many of them, or if their prices are in several currencies. Raises `Forbidden`
    and `NotFound`."""
    if organization_id is not None:
        return margin.of_organization(session, caller, organization_id, month, model).total
    if not can_rank(session, caller, MOST_SUMMED):
        return None
    found = margin.all_organizations(session, caller, month, model)
    return margin.total(found) if found else None
