"""The figures that alert rules watch: one query for each measure, for the rules of all partners."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, select, true
from sqlalchemy.orm import Session

from app.enums import AlertMeasure, AlertPeriod, OrganizationStatus, UserStatus
from app.models import (
    AlertRule,
    Assistant,
    CallDay,
    ConversationDay,
    Organization,
    SpendingLimit,
    SpendingTotal,
    User,
)
from app.services.spending.scopes import day_of, month_of

FEWEST_CALLS = 20
"""An answer rate is measured from so many calls on."""
PERCENT = 100

Values = Mapping[UUID, Mapping[AlertPeriod | None, int]]
"""By organization or partner, then by period; the period is None for measures without one."""
Query = Callable[[Session, Sequence[AlertRule], datetime, Collection[UUID] | None], Values]


def measured(
    session: Session,
    rules: Sequence[AlertRule],
    now: datetime,
    organization_ids: Collection[UUID] | None = None,
) -> Values:
    """Return what rules of one measure watch, of their partners and of each organization, or only
    of ``organization_ids``."""
    return _QUERIES[rules[0].measure](session, rules, now, organization_ids)


def is_met(rule: AlertRule, value: int) -> bool:
    match rule.measure:
        case AlertMeasure.ANSWER_RATE:
            return value < rule.threshold
        case AlertMeasure.CONVERSATIONS | AlertMeasure.MINUTES | AlertMeasure.FAILED_CALLS:
            return value > rule.threshold
        case _:
            return value >= rule.threshold


def period_starts(today: date) -> dict[AlertPeriod, date]:
    """Return the first day of each period that ends today."""
    return {
        AlertPeriod.TODAY: today,
        AlertPeriod.DAYS_7: today - timedelta(days=6),
        AlertPeriod.DAYS_30: today - timedelta(days=29),
        AlertPeriod.MONTH: today.replace(day=1),
    }


def _of_days(
    table: type[CallDay | ConversationDay],
    value: Callable[[tuple[int, ...]], int | None],
    *names: str,
) -> Query:
    """A measure that is worked out from the sums of daily totals; None is no value."""

    def query(
        session: Session,
        rules: Sequence[AlertRule],
        now: datetime,
        only: Collection[UUID] | None,
    ) -> Values:
        wanted = {rule.period for rule in rules}
        starts = {
            period: start for period, start in period_starts(now.date()).items() if period in wanted
        }
        sums = [
            func.sum(case((table.day >= start, getattr(table, name)), else_=0))
            for start in starts.values()
            for name in names
        ]
        rows = session.execute(
            select(table.partner_id, table.organization_id, *sums)
            .where(
                table.partner_id.in_(_partners(rules)),
                _among(table.organization_id, only),
                table.day.between(min(starts.values()), now.date()),
            )
            .group_by(table.partner_id, table.organization_id)
        )
        totals: defaultdict[UUID, list[int]] = defaultdict(lambda: [0] * len(sums))
        for partner_id, organization_id, *found in rows:
            totals[organization_id] = [int(each) for each in found]
            so_far = totals[partner_id]
            totals[partner_id] = [
                a + b for a, b in zip(so_far, totals[organization_id], strict=True)
            ]
        width = len(names)
        return {
            subject: {
                period: worth
                for place, period in enumerate(starts)
                if (worth := value(tuple(sums[place * width : (place + 1) * width]))) is not None
            }
            for subject, sums in totals.items()
        }

    return query


def _rate(sums: tuple[int, ...]) -> int | None:
    ended, answered = sums
    return PERCENT * answered // ended if ended >= FEWEST_CALLS else None


def _silence(
    session: Session,
    rules: Sequence[AlertRule],
    now: datetime,
    only: Collection[UUID] | None,
) -> Values:
    """Days since the last call of active organizations, or since they were created."""

    def last(table: type[CallDay | ConversationDay]) -> Any:
        own = table.organization_id == Organization.id
        return select(func.max(table.day)).where(own).correlate(Organization).scalar_subquery()

    rows = session.execute(
        _active(rules, only, Organization.created_at, last(CallDay), last(ConversationDay))
    )
    values: dict[UUID, int] = {}
    for partner_id, organization_id, created_at, *days in rows:
        latest = max([day for day in days if day is not None], default=created_at.date())
        values[organization_id] = (now.date() - latest).days
        values[partner_id] = min(values[organization_id], values.get(partner_id, 10**6))
    return {subject: {None: value} for subject, value in values.items()}


def _limits(
    session: Session,
    rules: Sequence[AlertRule],
    _now: datetime,
    only: Collection[UUID] | None,
) -> Values:
    """The share of users or assistants in use, of active organizations with room for several."""
    users = select(func.count()).where(
        User.organization_id == Organization.id, User.status != UserStatus.DEACTIVATED
    )
    assistants = select(func.count()).where(Assistant.organization_id == Organization.id)
    rows = session.execute(
        _active(
            rules,
            only,
            users.correlate(Organization).scalar_subquery(),
            Organization.user_limit,
            assistants.correlate(Organization).scalar_subquery(),
            Organization.assistant_limit,
        )
    )
    return {
        organization_id: {None: max(shares)}
        for _partner, organization_id, *counts in rows
        if (
            shares := [
                PERCENT * used // limit for used, limit in (counts[:2], counts[2:]) if limit > 1
            ]
        )
    }


def _partners(rules: Sequence[AlertRule]) -> set[UUID]:
    return {rule.partner_id for rule in rules}


def _among(column: ColumnElement[Any] | Any, only: Collection[UUID] | None) -> ColumnElement[bool]:
    return true() if only is None else column.in_(only)


def _active(
    rules: Sequence[AlertRule],
    only: Collection[UUID] | None,
    *columns: ColumnElement[Any] | Any,
) -> Any:
    return select(Organization.partner_id, Organization.id, *columns).where(
        Organization.partner_id.in_(_partners(rules)),
        _among(Organization.id, only),
        Organization.status == OrganizationStatus.ACTIVE,
    )


def _spending(
    session: Session,
    rules: Sequence[AlertRule],
    now: datetime,
    only: Collection[UUID] | None,
) -> Values:
    """The largest share of the limits of a day and a month that is spent or reserved."""
    limit, total = SpendingLimit, SpendingTotal
    money = total.spent_micros + total.reserved_micros
    seconds = total.spent_seconds + total.reserved_seconds
    rows = session.execute(
        select(limit, total.period, money, seconds)
        .join(total, total.scope == limit.scope)
        .where(
            limit.partner_id.in_(_partners(rules)),
            _among(limit.organization_id, only),
            limit.api_key_id.is_(None),
            total.period.in_((day_of(now), month_of(now))),
        )
    )
    values: defaultdict[UUID, int] = defaultdict(int)
    for of, period, micros, lasted in rows:
        is_day = period == day_of(now)
        minutes = of.day_minutes if is_day else of.month_minutes
        pairs = (
            (micros, of.day_micros if is_day else of.month_micros),
            (lasted, None if minutes is None else 60 * minutes),
        )
        subject = of.organization_id or of.partner_id
        for used, most in pairs:
            if most is not None:
                share = PERCENT * int(used) // most if most else PERCENT
                values[subject] = max(values[subject], share)
    return {subject: {None: value} for subject, value in values.items()}


_QUERIES: dict[AlertMeasure, Query] = {
    AlertMeasure.CONVERSATIONS: _of_days(ConversationDay, lambda sums: sums[0], "conversations"),
    AlertMeasure.MINUTES: _of_days(ConversationDay, lambda sums: sums[0] // 60, "seconds"),
    AlertMeasure.ANSWER_RATE: _of_days(CallDay, _rate, "ended", "answered"),
    AlertMeasure.FAILED_CALLS: _of_days(CallDay, lambda sums: sums[0], "failed"),
    AlertMeasure.SPENDING: _spending,
    AlertMeasure.LIMITS: _limits,
    AlertMeasure.SILENCE: _silence,
}
