"""The report of a month: its figures next to those of the previous month, and which organizations
grow and shrink."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, select, union_all
from sqlalchemy.orm import Session

from app.calendar_months import last_day_of, month_of
from app.models import CallDay, ConversationDay, Organization
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations, partners, spending
from app.services.billing.included_usage import usage_notices
from app.services.reporting.by_organization import few_to_rank
from app.services.reporting.daily import DailyFigures, daily, total, within
from app.services.reporting.span import DaySpan, last_month
from app.services.tenancy import in_groups

MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class ConversationChange:
    """An organization with its conversations in the month and in the month before."""

    id: UUID
    name: str
    conversations: int
    before: int


@dataclass(frozen=True, slots=True)
class AnsweredCalls:
    """The calls that reached the carrier and ended, and how many of them were answered."""

    answered: int
    ended: int


@dataclass(frozen=True, slots=True)
class ReportedNearLimit:
    """An organization that has used nearly all of a limit, or all; ``message`` names the limits."""

    organization_id: UUID
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class MonthlyReport:
    """A month up to today, the same days of the month before, and all of that month; days are UTC.
    ``whole_day_before`` is that of `DaySpan`."""

    span: DaySpan
    earlier: DaySpan
    days: Sequence[DailyFigures]
    days_before: Sequence[DailyFigures]
    month_before: Sequence[DailyFigures]
    whole_day_before: date | None
    calls: AnsweredCalls
    calls_before: AnsweredCalls
    growing: Sequence[ConversationChange]
    falling: Sequence[ConversationChange]
    near: Sequence[ReportedNearLimit]

    @property
    def now(self) -> DailyFigures:
        return total(self.days)

    @property
    def before(self) -> DailyFigures:
        return total(self.days_before)


def days_of(month: date, today: date) -> DaySpan:
    """Return the days of a month up to today."""
    return DaySpan(month_of(month), min(last_day_of(month), today))


def monthly(
    session: Session,
    caller: Caller,
    month: date,
    today: date,
    organization_id: UUID | None = None,
) -> MonthlyReport:
    """Return the report of the caller's partner, or of one of its organizations. Raises `Forbidden`
    and `NotFound`."""
    caller.require(Permission.REPORT_READ)
    span = days_of(month, today)
    earlier = span.before()
    days = daily(session, caller, earlier.start, span.end, organization_id=organization_id)
    partner_id = partners.own_partner_id(caller)
    calls, calls_before = _answered_calls(
        session, caller, partner_id, organization_id, span, earlier
    )
    growing: Sequence[ConversationChange] = ()
    falling: Sequence[ConversationChange] = ()
    near: Sequence[ReportedNearLimit] = ()
    whole_day_before = span.whole_day_before(today)
    if organization_id is None:
        if whole_day_before is None:
            growing, falling = _largest_changes(session, caller, partner_id, span, earlier)
        near = _near_limits(session, caller)
    return MonthlyReport(
        span,
        earlier,
        within(days, span),
        within(days, earlier),
        within(days, last_month(month)),
        whole_day_before,
        calls,
        calls_before,
        growing,
        falling,
        near,
    )


def _answered_calls(
    session: Session,
    caller: Caller,
    partner_id: UUID,
    organization_id: UUID | None,
    span: DaySpan,
    earlier: DaySpan,
) -> tuple[AnsweredCalls, AnsweredCalls]:
    conditions = [CallDay.partner_id == partner_id, in_groups(caller, CallDay.organization_id)]
    conditions += [CallDay.organization_id == organization_id] if organization_id else []
    sums = (
        func.coalesce(func.sum(number).filter(CallDay.day.between(each.start, each.end)), 0)
        for each in (span, earlier)
        for number in (CallDay.answered, CallDay.ended)
    )
    query = select(*sums).where(*conditions, CallDay.day.between(earlier.start, span.end))
    answered, ended, answered_before, ended_before = map(int, session.execute(query).one())
    return AnsweredCalls(answered, ended), AnsweredCalls(answered_before, ended_before)


def _near_limits(session: Session, caller: Caller) -> list[ReportedNearLimit]:
    """Return the organizations near a limit of seats, assistants or spending, or near what their
    plan includes this month, each once. The month is summed up only for few of them. One query
    tells of which kinds there are any."""
    used, spent = organizations.any_near_limit(caller), spending.any_near_limit(caller)
    is_used, is_few, is_spent = session.execute(select(used, few_to_rank(caller), spent)).one()
    limits = [
        ReportedNearLimit(each.organization.id, each.organization.name, each.message)
        for each in (organizations.near_limits(session, caller, MAX_NAMED) if is_used else ())
    ]
    limits += [
        ReportedNearLimit(each.organization_id, each.name, f"{each.title}.")
        for each in (usage_notices(session, caller, MAX_NAMED) if is_few else ())
    ]
    limits += [
        ReportedNearLimit(each.organization_id, each.name, each.message)
        for each in (spending.near_limits(session, caller, MAX_NAMED) if is_spent else ())
        if each.organization_id is not None and each.name is not None
    ]
    nearest: dict[UUID, ReportedNearLimit] = {}
    for each in limits:
        existing = nearest.get(each.organization_id)
        nearest[each.organization_id] = (
            replace(existing, message=f"{existing.message} {each.message}") if existing else each
        )
    return list(nearest.values())


def _largest_changes(
    session: Session, caller: Caller, partner_id: UUID, span: DaySpan, earlier: DaySpan
) -> tuple[list[ConversationChange], list[ConversationChange]]:
    """Return the organizations with the largest increase, and those with the largest decrease: one
    query."""

    def sum_of(days: DaySpan) -> ColumnElement[Any]:
        is_within = ConversationDay.day.between(days.start, days.end)
        return func.sum(case((is_within, ConversationDay.conversations), else_=0))

    now, before = sum_of(span), sum_of(earlier)
    query = (
        select(Organization.id, Organization.name, now, before)
        .join(ConversationDay, ConversationDay.organization_id == Organization.id)
        .where(
            ConversationDay.partner_id == partner_id,
            in_groups(caller, ConversationDay.organization_id),
            ConversationDay.day.between(earlier.start, span.end),
        )
        .group_by(Organization.id, Organization.name)
        .limit(MAX_NAMED)
    )
    growing = query.having(now > before).order_by((now - before).desc(), Organization.id)
    falling = query.having(now < before).order_by((before - now).desc(), Organization.id)
    combined = union_all(*(select(each.subquery()) for each in (growing, falling)))
    changes = [
        ConversationChange(id_, name, int(counted_now), int(counted_before))
        for id_, name, counted_now, counted_before in session.execute(combined)
    ]
    changes.sort(key=lambda each: (-abs(each.conversations - each.before), each.id))
    return (
        [each for each in changes if each.conversations > each.before],
        [each for each in changes if each.conversations < each.before],
    )
