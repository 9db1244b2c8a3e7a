"""Notices about included usage that is nearly or fully used, and what happens beyond it."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import ColumnElement, and_, func, or_
from sqlalchemy.orm import Session

from app.enums import OrganizationStatus, Tier, UsageUnit
from app.languages import gettext, ngettext
from app.languages.numbers import written_number
from app.models import PLAN, BillingDay, Organization, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services.billing import statements
from app.services.billing.months import month_of
from app.services.billing.statements import Bill
from app.services.billing.usage import in_month
from app.services.money_words import exact_micros
from app.services.pricing import versions
from app.services.tenancy import visible_organizations

NEAR = 80
"""From this percentage on, included usage is nearly used."""


@dataclass(frozen=True, slots=True)
class UsedUp:
    """What an organization has used of what its plan includes, and what happens beyond that."""

    organization_id: UUID
    name: str
    title: str
    beyond: str
    is_reached: bool


def used_up(bill: Bill) -> UsedUp | None:
    """Return the notice about the month of a statement; None while less than `NEAR` percent of
    what is included are used."""
    line = bill.usage
    if line is None or not line.included or 100 * line.used < NEAR * line.included:
        return None
    used = written_number(line.used)
    price = exact_micros(line.unit_micros, bill.currency)
    if line.unit == UsageUnit.MINUTE:
        title = ngettext(
            "%(used)s of %(num)s included minute used",
            "%(used)s of %(num)s included minutes used",
            line.included,
            used=used,
        )
        priced = gettext("Calls continue. Each further minute costs %(price)s.", price=price)
        free = gettext("Calls continue. Further minutes aren’t charged.")
    else:
        title = ngettext(
            "%(used)s of %(num)s included call used",
            "%(used)s of %(num)s included calls used",
            line.included,
            used=used,
        )
        priced = gettext("Calls continue. Each further call costs %(price)s.", price=price)
        free = gettext("Calls continue. Further calls aren’t charged.")
    beyond = priced if line.unit_micros else free
    is_reached = line.used >= line.included
    return UsedUp(bill.organization_id, bill.name, title, beyond, is_reached)


def nearly_used_up(session: Session, caller: Caller, most: int) -> list[UsedUp]:
    """Return at most so many of the caller's active organizations that have used `NEAR` percent or
    more of what this month includes, those with the most usage first: a fixed number of queries.

    Raises `Forbidden`.
    """
    caller.require(Permission.USAGE_READ)
    if caller.partner_id is None:
        return []
    month = month_of(utcnow().date())
    calls, minutes = func.sum(BillingDay.calls), func.sum(BillingDay.minutes)
    plans: list[tuple[Tier, ColumnElement[int], int]] = [
        (plan.tier, minutes if plan.terms.unit is UsageUnit.MINUTE else calls, plan.terms.included)
        for plan in versions.published(session, caller.partner_id)
        if plan.terms.unit and plan.terms.included
    ]
    if not plans:
        return []
    query = (
        visible_organizations(caller)
        .join(BillingDay, BillingDay.organization_id == Organization.id)
        .where(
            BillingDay.partner_id == caller.partner_id,
            in_month(month),
            Organization.status == OrganizationStatus.ACTIVE,
        )
        .group_by(Organization.id)
        .having(
            or_(*(and_(PLAN.in_([tier]), used * 100 >= NEAR * much) for tier, used, much in plans))
        )
        .order_by(minutes.desc(), Organization.id)
        .limit(2 * most)  # usage in a trial doesn't count
    )
    organizations = session.scalars(query).all()
    bills = statements.bills(session, organizations, month)
    found = (used_up(bills[each.id]) for each in organizations)
    return [each for each in found if each is not None][:most]
