"""Closing months: the statements of ended months are written, and stay."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from uuid import UUID

from sqlalchemy import ColumnElement, and_, exists, func, literal, select, union_all
from sqlalchemy.orm import Session

from app.calendar_months import end_of, month_of, previous_month
from app.models import Organization, Partner, PlanVersion, Statement
from app.policy.caller import system_caller
from app.services import audit
from app.services.billing import usage
from app.services.billing.months import latest_closable
from app.services.billing.parties import parties_of
from app.services.billing.rating import (
    BilledDay,
    LineKind,
    StatementLine,
    used_in,
    with_use,
)
from app.services.billing.statements import lines_of, previews
from app.services.pricing import subscriptions

ACTOR = "Billing"
BATCH_SIZE = 200
CORRECTED_MONTHS = 3
"""Months after its own within which late usage is still charged."""


def close_due(session: Session, now: datetime) -> int:
    """Write statements of ended months, those of one partner; return how many. It is called until
    it returns 0.

    A month is closed if its partner had published plans in it.
    """
    months = [latest_closable(now)]
    while len(months) < CORRECTED_MONTHS:
        months.append(previous_month(months[-1]))
    for month in reversed(months):
        partner_id = _next_to_close(session, month)
        if partner_id is not None:
            return _close_month(session, partner_id, month, now)
    return 0


def _next_to_close(session: Session, month: date) -> UUID | None:
    """Return a partner with organizations that have no statement of the month yet."""
    query = select(Organization.partner_id).where(_will_be_closed(month))
    return session.scalar(query.limit(1))


def ended_months(session: Session, organization: Organization, today: date) -> Sequence[date]:
    """Return the months with a statement, and the last month also while its statement is still to
    be written, of an organization that comes from its loader: one query."""
    last_month = previous_month(month_of(today))
    closed = select(Statement.month).where(Statement.organization_id == organization.id)
    waiting = select(literal(last_month)).where(
        Organization.id == organization.id, _will_be_closed(last_month)
    )
    return session.scalars(union_all(closed, waiting)).all()


def _will_be_closed(month: date) -> ColumnElement[bool]:
    had_plans = exists().where(
        PlanVersion.partner_id == Organization.partner_id, PlanVersion.published_at < end_of(month)
    )
    return and_(is_open(month), had_plans)


def is_open(month: date) -> ColumnElement[bool]:
    """Return whether an organization has no statement of the month yet."""
    has_statement = exists().where(
        Statement.organization_id == Organization.id, Statement.month == month
    )
    return and_(Organization.created_at < end_of(month), ~has_statement)


def _close_month(session: Session, partner_id: UUID, month: date, now: datetime) -> int:
    """Write statements of the month for a partner, which is locked so that the invoice numbers have
    no gaps. Others that lock a customer meanwhile may write rows about the partner: a stricter lock
    would deadlock with them."""
    partner = session.get_one(Partner, partner_id, with_for_update={"key_share": True})
    query = select(Organization).where(Organization.partner_id == partner_id, is_open(month))
    open_organizations = session.scalars(query.order_by(Organization.id).limit(BATCH_SIZE)).all()
    newest = select(func.max(Statement.number)).where(Statement.partner_id == partner_id)
    number = session.scalar(newest) or 0
    expected = previews(session, open_organizations, month)
    corrections = _corrections(session, open_organizations, month)
    subscribed = subscriptions.paying(
        session, [organization.id for organization in open_organizations], end_of(month)
    )
    for organization in open_organizations:
        bill = expected[organization.id]
        lines = [*bill.lines, *_in_currency(corrections[organization.id], bill.currency)]
        total = sum(line.amount for line in lines)
        number += bool(total)
        session.add(
            Statement(
                partner_id=partner_id,
                organization_id=organization.id,
                month=month,
                tier=bill.tier,
                plan_name=bill.plan_name,
                currency=bill.currency,
                lines=[line.to_json() for line in lines],
                total=total,
                settled=bill.usage.amount if bill.usage else 0,
                charged_from=bill.charged_from,
                number=number if total else None,
                closed_at=now,
                extra=_beyond_plan(lines) if organization.id in subscribed else None,
                parties=parties_of(partner, organization).to_json(),
            )
        )
    session.flush()
    if open_organizations:
        after = {"month": f"{month:%Y-%m}", "statements": len(open_organizations)}
        audit.record_change(
            session, system_caller(ACTOR), "partner.month_closed", partner, after=after
        )
    return len(open_organizations)


def _beyond_plan(lines: Sequence[StatementLine]) -> int:
    return sum(line.amount for line in lines if line.kind is not LineKind.PLAN)


def _corrections(
    session: Session, organizations: Sequence[Organization], month: date
) -> Mapping[UUID, list[tuple[StatementLine, Statement]]]:
    """Return what usage of earlier months, reported after they were closed, adds."""
    corrections: dict[UUID, list[tuple[StatementLine, Statement]]] = {
        each.id: [] for each in organizations
    }
    earlier = month
    for _turn in range(CORRECTED_MONTHS):
        earlier = previous_month(earlier)
        query = select(Statement).where(
            Statement.organization_id.in_(corrections), Statement.month == earlier
        )
        statements = session.scalars(query).all()
        days = usage.days_of(session, [each.organization_id for each in statements], earlier)
        for statement in statements:
            correction = _late_usage(statement, days.get(statement.organization_id, ()))
            if correction.amount:
                corrections[statement.organization_id].append((correction, statement))
    return corrections


def _late_usage(statement: Statement, days: Sequence[BilledDay]) -> StatementLine:
    """Return what the usage of a closed month costs now beyond what was charged."""
    correction = StatementLine(LineKind.CORRECTION, 0, month=statement.month)
    for line in lines_of(statement):
        if line.kind is LineKind.USAGE:
            used = used_in(line.unit, days, statement.charged_from)
            amount = with_use(line, used, statement.currency).amount
            correction = replace(correction, amount=amount - statement.settled, unit=line.unit)
    return correction


def _in_currency(
    corrections: Sequence[tuple[StatementLine, Statement]], currency: str
) -> list[StatementLine]:
    """Return the corrections in the currency, and mark them as charged. Those in other currencies
    wait."""
    lines = []
    for line, statement in corrections:
        if statement.currency == currency:
            statement.settled += line.amount
            lines.append(line)
    return lines
