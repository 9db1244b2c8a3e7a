"""What a partner's plans allow every organization on them."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.caller import Caller
from app.enums import Tier
from app.errors import ValidationFailed
from app.models import PlanLimit
from app.policy import Permission
from app.services import audit
from app.services.partners.loading import get

MOST_AT_ONCE = 1000
MOST_A_DAY = 1_000_000


def set_plan_limit(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    tier: Tier,
    *,
    calls_at_once: int | None,
    calls_a_day: int | None,
) -> PlanLimit:
    """Sets both limits of a plan, None for none; they count from the next call on.

    Raises `Forbidden` for all but operators, `NotFound`, and `ValidationFailed`
    (``out_of_range``).
    """
    caller.require(Permission.PARTNER_CREATE)
    partner = get(session, caller, partner_id, for_change=True)
    for value, most in ((calls_at_once, MOST_AT_ONCE), (calls_a_day, MOST_A_DAY)):
        if value is not None and not 1 <= value <= most:
            message = f"A limit is a whole number from 1 to {most:,}."
            raise ValidationFailed.on("limit", "out_of_range", message)
    query = select(PlanLimit).where(PlanLimit.partner_id == partner.id, PlanLimit.tier == tier)
    limit = session.scalars(query).one_or_none()
    if limit is None:
        limit = PlanLimit(partner_id=partner.id, tier=tier)
        session.add(limit)
    before = {"maxCallsAtOnce": limit.max_calls_at_once, "maxCallsADay": limit.max_calls_a_day}
    limit.max_calls_at_once, limit.max_calls_a_day = calls_at_once, calls_a_day
    session.flush()
    audit.record(
        session,
        caller,
        action="partner.plan_limited",
        target_type="partner",
        target_id=partner.id,
        partner_id=partner.id,
        target=partner.name,
        before=before,
        after={"paymentTier": tier, "maxCallsAtOnce": calls_at_once, "maxCallsADay": calls_a_day},
    )
    return limit
