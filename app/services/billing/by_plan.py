"""What the customers on each plan paid for a closed month."""

from collections.abc import Mapping
from datetime import date
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.models import Statement
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners
from app.services.billing.rating import in_micros


def paid_by_plan(
    session: Session, caller: Caller, partner_id: UUID, month: date
) -> Mapping[Tier, list[tuple[int, str]]]:
    """Return the sums of the month's statements by plan: millionths with their currency. One query.

    Raises `Forbidden`, `NotFound`.
    """
    caller.require(Permission.ORGANIZATIONS_WRITE)
    partners.check(session, caller, partner_id)
    query = (
        select(Statement.tier, Statement.currency, func.sum(Statement.total))
        .where(Statement.partner_id == partner_id, Statement.month == month)
        .group_by(Statement.tier, Statement.currency)
        .order_by(Statement.currency)
    )
    found: dict[Tier, list[tuple[int, str]]] = {}
    for tier, currency, total in session.execute(query):
        found.setdefault(tier, []).append((in_micros(int(total), currency), currency))
    return found
