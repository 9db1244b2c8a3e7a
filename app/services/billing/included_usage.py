"""Notices about included usage that is nearly or fully used, and what happens beyond it."""

from dataclasses import dataclass
from datetime import date, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, case, false, func, literal, or_, select
from sqlalchemy.orm import Session

from app.calendar_months import midnight, month_of, next_month
from app.enums import OrganizationStatus, UsageUnit
from app.languages import gettext, ngettext
from app.languages.numbers import localize_number
from app.models import PLAN, BillingDay, Organization, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services.billing import statements
from app.services.billing.statements import Bill
from app.services.billing.usage import in_month
from app.services.money_format import exact_micros
from app.services.pricing import versions
from app.services.pricing.plans import PlanTerms
from app.services.tenancy import visible_organizations

NEAR = 80
"""Percentage from which included usage is nearly used."""


@dataclass(frozen=True, slots=True)
class UsageNotice:
    """The usage of an organization compared with the included usage of its plan, and the
    consequence of exceeding it."""

    organization_id: UUID
    name: str
    title: str
    beyond: str
    is_reached: bool


def usage_notice(bill: Bill) -> UsageNotice | None:
    """Return the notice about the month of a statement; None while less than `NEAR` percent of
    what is included are used."""
    line = bill.usage
    if line is None or not line.included or 100 * line.used < NEAR * line.included:
        return None
    used = localize_number(line.used)
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
    message = priced if line.unit_micros else free
    is_reached = line.used >= line.included
    return UsageNotice(bill.organization_id, bill.name, title, message, is_reached)


def usage_notices(session: Session, caller: Caller, limit: int) -> list[UsageNotice]:
    """Return at most this many of the caller's active organizations that have used `NEAR` percent
    or more of what this month includes, those with the most usage first: a fixed number of queries.

    Raises `Forbidden`.
    """
    caller.require(Permission.USAGE_READ)
    if caller.partner_id is None:
        return []
    month = month_of(utcnow().date())
    used = _query_used(session, caller.partner_id, NEAR, month)
    if used is None:
        return []
    if caller.organization_id is not None:
        used = used.where(Organization.id == caller.organization_id)
    totals = used.subquery()
    query = (
        visible_organizations(caller)
        .join(totals, totals.c.organization_id == Organization.id)
        .where(Organization.status == OrganizationStatus.ACTIVE)
        .order_by(totals.c.minutes.desc(), Organization.id)
        .limit(limit)
    )
    organizations = session.scalars(query).all()
    bills = statements.bills(session, organizations, month)
    usages = (usage_notice(bills[each.id]) for each in organizations)
    return [each for each in usages if each is not None]


def have_used(session: Session, partner_id: UUID, percent: int) -> ColumnElement[bool]:
    """Return the organizations of a partner that have used this percentage of what this month
    includes."""
    used = _query_used(session, partner_id, percent, month_of(utcnow().date()))
    if used is None:
        return false()
    return Organization.id.in_(used.with_only_columns(BillingDay.organization_id))


def _query_used(
    session: Session, partner_id: UUID, percent: int, month: date
) -> Select[UUID, int] | None:
    """Return the organizations that have used this percentage of what their plan includes, with
    their minutes; None if no plan includes anything."""
    conditions = [
        and_(PLAN.in_([plan.tier]), _charged_usage(plan.terms, month) * 100 >= percent * included)
        for plan in versions.published(session, partner_id)
        if plan.terms.unit and (included := plan.terms.included)
    ]
    if not conditions:
        return None
    return (
        select(BillingDay.organization_id, func.sum(BillingDay.minutes).label("minutes"))
        .join(Organization, Organization.id == BillingDay.organization_id)
        .where(BillingDay.partner_id == partner_id, in_month(month))
        .group_by(BillingDay.organization_id, Organization.id)
        .having(or_(*conditions))
    )


def _charged_usage(terms: PlanTerms, month: date) -> ColumnElement[int]:
    """Return the minutes or calls of an organization from `rating.charged_from` on."""
    amount = BillingDay.minutes if terms.unit is UsageUnit.MINUTE else BillingDay.calls
    if not terms.trial_days:
        return func.sum(amount)
    created_before = {}
    day = month
    while day < next_month(month):
        latest = day - timedelta(days=terms.trial_days - 1)
        moment = midnight(latest)
        created_before[day] = literal(moment, Organization.created_at.type)
        day += timedelta(days=1)
    is_charged = Organization.created_at < case(created_before, value=BillingDay.day)
    return func.sum(case((is_charged, amount), else_=0))
