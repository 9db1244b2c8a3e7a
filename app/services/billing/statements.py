"""Statements: what an organization pays for a month. That of a closed month is stored and stays."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.calendar_months import end_of, month_of, previous_month
from app.database import read_once
from app.enums import OrganizationStatus, Tier
from app.models import AuditEntry, Organization, Partner, Statement, utcnow
from app.policy import Permission
from app.policy.caller import Caller
from app.services.billing import usage
from app.services.billing.parties import StatementParties, parties_of
from app.services.billing.rating import (
    BilledDay,
    BilledUsage,
    LineKind,
    StatementLine,
    charged_from,
    rate,
)
from app.services.billing.usage import CallUsage
from app.services.pricing import subscriptions, versions
from app.services.pricing.plans import EditedPlan
from app.services.tenancy import get_organization


@dataclass(frozen=True, slots=True)
class StatementCharge:
    """The part of a statement that is added to an invoice of the payment processor, in the smallest
    unit of the currency; the subscription pays for the plan. ``problem`` is why it wasn't added
    yet."""

    amount: int
    is_done: bool
    problem: str


@dataclass(frozen=True, slots=True)
class Bill:
    """A statement as it is shown. ``total`` is in the smallest unit of the currency; ``number`` is
    the invoice number. Without ``closed_at`` it is a preview, which still changes. ``charge`` is
    set if a subscription pays for the plan. ``plan_label`` is the plan's name in the current
    language. ``parties`` are those that a closed month was stored with."""

    organization_id: UUID
    name: str
    month: date
    tier: Tier
    plan_name: str
    plan_label: str
    currency: str
    lines: Sequence[StatementLine]
    total: int
    charged_from: date
    number: int | None = None
    closed_at: datetime | None = None
    charge: StatementCharge | None = None
    parties: StatementParties | None = None

    @property
    def usage(self) -> StatementLine | None:
        """The usage besides the included one; None for a plan that doesn't count it."""
        return next((line for line in self.lines if line.kind is LineKind.USAGE), None)


def bill(session: Session, caller: Caller, organization_id: UUID, month: date) -> Bill:
    """Return the statement of a month, or its preview. Raises `Forbidden`, `NotFound`."""
    caller.require(Permission.USAGE_READ)
    organization = get_organization(session, caller, organization_id)
    return bills(session, [organization], month)[organization.id]


def bill_with_parties(
    session: Session, caller: Caller, organization_id: UUID, month: date
) -> tuple[Bill, StatementParties]:
    """As `bill`, with its seller and its buyer. Months that were closed before these were stored
    have their present names, no addresses and no payment terms. Without an amount to pay, or if
    a subscription pays it, there are no terms either."""
    shown_bill = bill(session, caller, organization_id, month)
    parties = shown_bill.parties or _present_parties(session, shown_bill)
    if shown_bill.total <= 0 or _is_subscribed(session, shown_bill):
        parties = replace(parties, payment=None)
    return shown_bill, parties


def _is_subscribed(session: Session, shown_bill: Bill) -> bool:
    """Return whether a subscription pays the bill."""
    if shown_bill.closed_at is not None or shown_bill.charge is not None:
        return shown_bill.charge is not None
    at = min(end_of(shown_bill.month), utcnow())
    return bool(subscriptions.paying(session, [shown_bill.organization_id], at))


def _present_parties(session: Session, shown_bill: Bill) -> StatementParties:
    organization = session.get_one(Organization, shown_bill.organization_id)
    partner = session.get_one(Partner, organization.partner_id)
    return parties_of(partner, organization, with_addresses=shown_bill.closed_at is None)


def current_month(session: Session, caller: Caller, organization_id: UUID) -> Bill:
    """Return the preview of this month: the plan, and the usage so far. Raises as `bill`."""
    return bill(session, caller, organization_id, month_of(utcnow().date()))


def bills(
    session: Session,
    organizations: Sequence[Organization],
    month: date,
    *,
    known: Iterable[Statement] | None = None,
    ended: Mapping[UUID, Tier] | None = None,
    used: Mapping[UUID, CallUsage] | None = None,
) -> Mapping[UUID, Bill]:
    """Return the statements or previews of organizations of one partner that came from their
    loader, in a fixed number of queries; the stored statements are read unless they are
    ``known``, and the plans of subscriptions that ``ended`` in the month and its usage
    likewise."""
    if not organizations:
        return {}
    if known is None:
        known = _stored(session, [organization.id for organization in organizations], month)
    stored = {row.organization_id: row for row in known}
    open_organizations = [each for each in organizations if each.id not in stored]
    closed = [each for each in organizations if each.id in stored]
    plan_names = _plan_names_at(session, closed[0].partner_id, month) if closed else {}
    stored_bills = {
        each.id: _bill_of_statement(each, stored[each.id], plan_names) for each in closed
    }
    return {**stored_bills, **previews(session, open_organizations, month, ended=ended, used=used)}


def _stored(
    session: Session, organization_ids: Collection[UUID], month: date
) -> Collection[Statement]:
    if month == month_of(utcnow().date()):  # months are closed after their end
        return ()
    of_month = Statement.organization_id.in_(organization_ids) & (Statement.month == month)
    key = (Statement, frozenset(organization_ids), month)
    return read_once(session, key, lambda: session.scalars(select(Statement).where(of_month)).all())


def as_if(
    session: Session,
    organizations: Sequence[Organization],
    *,
    plans: Sequence[EditedPlan] | None = None,
    tier: Tier | None = None,
) -> Mapping[UUID, Bill]:
    """Return the previews of this month of organizations of one partner that came from their
    loader, as if these plans were published, or these organizations on that plan, already."""
    return previews(session, organizations, month_of(utcnow().date()), plans=plans, tier=tier)


def previews(
    session: Session,
    organizations: Sequence[Organization],
    month: date,
    *,
    plans: Sequence[EditedPlan] | None = None,
    tier: Tier | None = None,
    ended: Mapping[UUID, Tier] | None = None,
    used: Mapping[UUID, CallUsage] | None = None,
) -> Mapping[UUID, Bill]:
    """Rate the month by the plans that applied at its end, or apply now, unless others are given.

    If a subscription that ended in the month left the plan Free, its plan counts without the price,
    which it paid. These are read unless they are given as ``ended``, and what was ``used`` of plans
    that are charged for the whole month unless it is given.
    """
    if not organizations:
        return {}
    terms = plans or versions.published(session, organizations[0].partner_id, end_of(month))
    moment = min(end_of(month), utcnow())
    by_tier = {plan.tier: plan for plan in terms}
    tiers = dict(_tiers_at(session, organizations, moment))
    if tier is not None:
        tiers = dict.fromkeys(tiers, tier)
    free = [key for key, tier in tiers.items() if tier is Tier.FREE]
    if ended is None:
        ended = read_once(
            session,
            ("ended subscriptions", frozenset(free), month),
            lambda: subscriptions.ended_between(
                session, free, end_of(previous_month(month)), moment
            ),
        )
    paid = {key: ended[key] for key in free if key in ended}
    tiers |= paid
    begins = {
        each.id: charged_from(by_tier[tiers[each.id]].terms, _created_on(each))
        for each in organizations
    }
    charged = [key for key, begin in begins.items() if begin <= month]
    partly_charged = begins.keys() - set(charged)
    whole_months = (
        usage.days_of(session, charged, month, as_one=True)
        if used is None
        else {key: [used[key].as_day(month)] for key in charged if key in used}
    )
    days = {**whole_months, **usage.days_of(session, partly_charged, month)}
    return {
        each.id: _preview_bill(
            each,
            by_tier[tiers[each.id]],
            days.get(each.id, ()),
            month,
            is_paid=each.id in paid or each.status is OrganizationStatus.ARCHIVED,
        )
        for each in organizations
    }


def _created_on(organization: Organization) -> date:
    return organization.created_at.astimezone(UTC).date()


def _preview_bill(
    organization: Organization,
    plan: EditedPlan,
    days: Sequence[BilledDay],
    month: date,
    *,
    is_paid: bool,
) -> Bill:
    """Rate a month; without the price of the plan if that ``is_paid`` otherwise or not at all."""
    since = _created_on(organization)
    lines = rate(plan.terms, BilledUsage(since, days), month)
    if is_paid:
        lines = [line for line in lines if line.kind is not LineKind.PLAN]
    return Bill(
        organization.id,
        organization.name,
        month,
        plan.tier,
        plan.name,
        plan.localized().name,
        plan.terms.currency,
        lines,
        sum(line.amount for line in lines),
        charged_from(plan.terms, since),
    )


def _tiers_at(
    session: Session, organizations: Sequence[Organization], at: datetime
) -> Mapping[UUID, Tier]:
    """Return the plan of each organization at that moment, from the history if it has changed
    since."""
    tiers = {each.id: each.payment_tier or Tier.FREE for each in organizations}
    changed = [each.id for each in organizations if each.tier_since and each.tier_since >= at]
    if not changed:
        return tiers
    entries = session.scalars(
        select(AuditEntry)
        .where(
            AuditEntry.target_type == "organization",
            AuditEntry.target_id.in_(map(str, changed)),
            AuditEntry.action == "organization.updated",
            AuditEntry.at >= at,
        )
        .order_by(AuditEntry.id.desc())
    )
    for entry in entries:  # the earliest change counts, which comes last
        if "paymentTier" in entry.before:
            tiers[UUID(entry.target_id)] = Tier(entry.before["paymentTier"] or Tier.FREE)
    return tiers


def _plan_names_at(
    session: Session, partner_id: UUID, month: date
) -> Mapping[tuple[Tier, str], str]:
    """Return the names in the current language of the plans that the month was rated by."""
    plans = versions.published(session, partner_id, end_of(month))
    return {(plan.tier, plan.name): plan.localized().name for plan in plans}


def _bill_of_statement(
    organization: Organization, statement: Statement, plan_names: Mapping[tuple[Tier, str], str]
) -> Bill:
    return Bill(
        organization.id,
        organization.name,
        statement.month,
        statement.tier,
        statement.plan_name,
        plan_names.get((statement.tier, statement.plan_name), statement.plan_name),
        statement.currency,
        lines_of(statement),
        statement.total,
        statement.charged_from,
        statement.number,
        statement.closed_at,
        _charge_of(statement),
        StatementParties.stored(statement.parties) if statement.parties else None,
    )


def _charge_of(statement: Statement) -> StatementCharge | None:
    if statement.extra is None:
        return None
    is_done = not statement.extra or bool(statement.invoice_item)
    return StatementCharge(statement.extra, is_done, statement.charge_problem)


def lines_of(statement: Statement) -> list[StatementLine]:
    return [StatementLine.stored(values) for values in statement.lines]
