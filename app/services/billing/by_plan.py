"""The revenue of each plan in the latest closed month."""

from collections.abc import Mapping
from datetime import date
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import Tier
from app.models import Organization, Statement
from app.policy import Permission
from app.policy.caller import Caller
from app.services import partners
from app.services.billing.closing import is_open
from app.services.billing.rating import in_micros


def latest_closed(session: Session, caller: Caller, partner_id: UUID) -> date | None:
    """Return the latest month of which each of the partner's organizations has its statement; None
    if there is none yet. Two queries. Raises as `paid_by_plan`."""
    caller.require(Permission.ORGANIZATIONS_WRITE)
    partners.check(session, caller, partner_id)
    months = session.scalars(
        select(Statement.month)
        .where(Statement.partner_id == partner_id)
        .distinct()
        .order_by(Statement.month.desc())
        .limit(2)
    ).all()
    if not months:
        return None
    open_organizations = select(Organization.id).where(
        Organization.partner_id == partner_id, is_open(months[0])
    )
    is_closing = session.scalar(open_organizations.limit(1)) is not None
    return next(iter(months[is_closing:]), None)


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
    paid: dict[Tier, list[tuple[int, str]]] = {}
    for tier, currency, total in session.execute(query):
        paid.setdefault(tier, []).append((in_micros(int(total), currency), currency))
    return paid
