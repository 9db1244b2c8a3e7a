"""The figures that alert rules watch, computed by the database: one query for each measure, for the
rules of all partners."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    case,
    cast,
    extract,
    func,
    literal,
    select,
    true,
    union_all,
)
from sqlalchemy.orm import Session

from app.calendar_months import month_of
from app.enums import AlertMeasure, AlertPeriod, AlertScope, OrganizationStatus, UserStatus
from app.models import (
    Alert,
    AlertRule,
    Assistant,
    CallDay,
    ConversationDay,
    Organization,
    SpendingLimit,
    SpendingTotal,
    User,
)
from app.schemas.fields import MAX_INTEGER
from app.services.spending.scopes import day_period, month_period

MIN_CALLS = 20
"""Minimum calls for an answer rate."""
PERCENT = 100
_DAY = 86_400

Values = Mapping[UUID, Mapping[AlertPeriod | None, int]]
"""By organization or partner, then by period; the period is None for measures without one."""


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """The measure, and the partners to measure; ``only`` limits it to some of their
    organizations."""

    measure: AlertMeasure
    periods: Sequence[AlertPeriod | None]
    partner_ids: Collection[UUID]
    now: datetime
    only: Collection[UUID] | Select[UUID] | None = None

    @classmethod
    def by(
        cls, rules: Sequence[AlertRule], now: datetime, only: Collection[UUID] | None = None
    ) -> "MeasureRequest":
        """Return the request for the rules of one measure."""
        periods = list(dict.fromkeys(rule.period for rule in rules))
        return cls(rules[0].measure, periods, {rule.partner_id for rule in rules}, now, only)


@dataclass(frozen=True, slots=True)
class MetRule:
    """A rule that is met by an organization, or by the partner."""

    rule_id: UUID
    version: int
    organization_id: UUID | None
    subject_id: UUID
    value: int


Query = Callable[[MeasureRequest, bool], Select[Any]]
"""Selects the partner, the subject and a value for each period, null where there is none: of whole
partners, or of each organization."""


def measure_values(
    session: Session, rules: Sequence[AlertRule], now: datetime, subject_ids: Collection[UUID]
) -> Values:
    """Return the values for rules of one measure, of these organizations and, if a rule has that
    scope, of partners."""
    request = MeasureRequest.by(rules, now, subject_ids)
    return {
        subject_id: {
            period: value
            for period, value in zip(request.periods, values, strict=True)
            if value is not None
        }
        for _partner_id, subject_id, *values in session.execute(_query_scopes(request, rules))
    }


def find_met_rules(
    session: Session, rules: Sequence[AlertRule], now: datetime, limit: int
) -> list[MetRule]:
    """Return what meets stored rules of one measure, at most ``limit`` for each rule: those with an
    open alert first. Values are at most what an alert can store: of a tiny budget, more can be
    spent."""
    request = MeasureRequest.by(rules, now)
    figures = _query_scopes(request, rules).subquery()
    partner_id, subject_id, *values = figures.c
    value = case(
        *(
            (AlertRule.period.is_not_distinct_from(period), column)
            for period, column in zip(request.periods, values, strict=True)
        )
    )
    of_partner = AlertRule.scope == AlertScope.PARTNER
    is_subject = case(
        (AlertRule.scope == AlertScope.EACH_ORGANIZATION, subject_id != partner_id),
        else_=subject_id == func.coalesce(AlertRule.organization_id, AlertRule.partner_id),
    )
    is_open = and_(
        Alert.rule_id == AlertRule.id, Alert.subject_id == subject_id, Alert.resolved_at.is_(None)
    )
    rank = func.row_number().over(
        partition_by=AlertRule.id, order_by=(Alert.id.is_(None), subject_id)
    )
    ranked = (
        select(
            AlertRule.id,
            AlertRule.version,
            case((~of_partner, subject_id)).label("organization_id"),
            subject_id,
            case((value > MAX_INTEGER, MAX_INTEGER), else_=value).label("value"),
            rank.label("rank"),
        )
        .select_from(figures)
        .join(AlertRule, and_(AlertRule.partner_id == partner_id, is_subject))
        .outerjoin(Alert, is_open)
        .where(AlertRule.measure == request.measure, _is_beyond_threshold(request.measure, value))
        .subquery()
    )
    *columns, nth = ranked.c
    rows = session.execute(select(*columns).where(nth <= limit).order_by(ranked.c.id, nth))
    return [MetRule(*row) for row in rows]


def nearest_of_each(
    session: Session, request: MeasureRequest
) -> list[tuple[AlertPeriod | None, UUID, int]]:
    """Return the organization that is nearest to an alert in each period, with its value."""
    figures = _QUERIES[request.measure](request, False).cte()
    _partner_id, subject_id, *values = figures.c
    firsts = [
        select(literal(position).label("position"), subject_id, value.label("value"))
        .where(value.is_not(None))
        .order_by(
            value if request.measure is AlertMeasure.ANSWER_RATE else value.desc(), subject_id
        )
        .limit(1)
        .subquery()
        for position, value in enumerate(values)
    ]
    rows = session.execute(union_all(*(select(first) for first in firsts)).order_by("position"))
    return [(request.periods[position], subject_id, value) for position, subject_id, value in rows]


def names_of(session: Session, organization_ids: Iterable[UUID | None]) -> dict[UUID, str]:
    """Return the names of the organizations that rules and alerts are about."""
    ids = set(organization_ids) - {None}
    query = select(Organization.id, Organization.name).where(Organization.id.in_(ids))
    return {row.id: row.name for row in session.execute(query)} if ids else {}


def period_starts(today: date) -> dict[AlertPeriod, date]:
    """Return the first day of each period that ends today."""
    return {
        AlertPeriod.TODAY: today,
        AlertPeriod.DAYS_7: today - timedelta(days=6),
        AlertPeriod.DAYS_30: today - timedelta(days=29),
        AlertPeriod.MONTH: month_of(today),
    }


def _is_beyond_threshold(measure: AlertMeasure, value: ColumnElement[int]) -> ColumnElement[bool]:
    match measure:
        case AlertMeasure.ANSWER_RATE:
            return value < AlertRule.threshold
        case AlertMeasure.CONVERSATIONS | AlertMeasure.MINUTES | AlertMeasure.FAILED_CALLS:
            return value > AlertRule.threshold
        case _:
            return value >= AlertRule.threshold


def _query_scopes(request: MeasureRequest, rules: Sequence[AlertRule]) -> Any:
    wholes = sorted({rule.scope is AlertScope.PARTNER for rule in rules})
    return union_all(*(_QUERIES[request.measure](request, whole) for whole in wholes))


def _query_of_days(
    table: type[CallDay | ConversationDay],
    value: Callable[..., ColumnElement[int]],
    *names: str,
) -> Query:
    """Return the query of a measure that is computed from sums of daily totals."""

    def query(request: MeasureRequest, whole: bool) -> Select[Any]:
        today = request.now.date()
        starts = [period_starts(today)[period] for period in request.periods if period]
        subject_id: Any = table.partner_id if whole else table.organization_id

        def total(start: date, name: str) -> ColumnElement[int]:
            return func.sum(case((table.day >= start, getattr(table, name)), else_=0))

        values = (value(*(total(start, name) for name in names)) for start in starts)
        return (
            select(table.partner_id, subject_id.label("subject_id"), *values)
            .where(
                table.partner_id.in_(request.partner_ids),
                true() if whole else _is_among(table.organization_id, request),
                table.day.between(min(starts), today),
            )
            .group_by(table.partner_id, subject_id)
        )

    return query


def _answer_rate(ended: ColumnElement[int], answered: ColumnElement[int]) -> ColumnElement[int]:
    return case((ended >= MIN_CALLS, PERCENT * answered // ended))


def _query_silence(request: MeasureRequest, whole: bool) -> Select[Any]:
    """Return the query of the days since the last call of active organizations, or since they were
    created; for a partner, those of the organization that called last."""
    latest = union_all(
        *(
            select(func.max(table.day).label("day"))
            .where(table.organization_id == Organization.id)
            .correlate(Organization)
            for table in (CallDay, ConversationDay)
        )
    ).subquery()
    last = select(func.max(_day_number(latest.c.day))).scalar_subquery()
    today = (request.now.date() - date(1970, 1, 1)).days
    days = today - func.coalesce(last, _day_number(Organization.created_at))
    if not whole:
        return _active_organizations(request, days)
    each = _active_organizations(request, days.label("days")).subquery()
    return select(
        each.c.partner_id, each.c.partner_id.label("subject_id"), func.min(each.c.days)
    ).group_by(each.c.partner_id)


def _day_number(moment: Any) -> ColumnElement[int]:
    """Return the days from 1970 to a day, or to a moment in UTC."""
    seconds = extract("epoch", moment)
    return cast(seconds - seconds % _DAY, BigInteger) // _DAY


def _query_limits(request: MeasureRequest, _whole: bool) -> Select[Any]:
    """Return the query of the share of users or assistants in use, of active organizations with a
    limit above one; a partner has none."""

    def share(in_use: Select[Any], limit: Any) -> ColumnElement[int]:
        return case(
            (limit > 1, PERCENT * in_use.correlate(Organization).scalar_subquery() // limit)
        )

    users = select(func.count()).where(
        User.organization_id == Organization.id, User.status != UserStatus.DEACTIVATED
    )
    assistants = select(func.count()).where(Assistant.organization_id == Organization.id)
    shares = _active_organizations(
        request,
        share(users, Organization.user_limit).label("users"),
        share(assistants, Organization.assistant_limit).label("assistants"),
    ).subquery()
    larger = _larger_of(shares.c.users, shares.c.assistants)
    return select(shares.c.partner_id, shares.c.subject_id, larger)


def _active_organizations(request: MeasureRequest, *columns: ColumnElement[Any]) -> Select[Any]:
    return select(Organization.partner_id, Organization.id.label("subject_id"), *columns).where(
        Organization.partner_id.in_(request.partner_ids),
        _is_among(Organization.id, request),
        Organization.status == OrganizationStatus.ACTIVE,
    )


def _is_among(column: Any, request: MeasureRequest) -> ColumnElement[bool]:
    return true() if request.only is None else column.in_(request.only)


def _query_spending(request: MeasureRequest, whole: bool) -> Select[Any]:
    """Return the query of the largest share of the daily and monthly limits that is spent or
    reserved."""
    limit, total = SpendingLimit, SpendingTotal
    is_day = total.period == day_period(request.now)

    def share(used: ColumnElement[int], of_day: Any, of_month: Any, scale: int) -> Any:
        maximum = scale * cast(case((is_day, of_day), else_=of_month), BigInteger)
        return func.max(case((maximum > 0, PERCENT * used // maximum), (maximum == 0, PERCENT)))

    money = total.spent_micros + total.reserved_micros
    seconds = total.spent_seconds + total.reserved_seconds
    subject_id: Any = limit.partner_id if whole else limit.organization_id
    of_subject = (
        limit.organization_id.is_(None)
        if whole
        else and_(limit.organization_id.is_not(None), _is_among(limit.organization_id, request))
    )
    shares = (
        select(
            limit.partner_id,
            subject_id.label("subject_id"),
            share(money, limit.day_micros, limit.month_micros, 1).label("money"),
            share(seconds, limit.day_minutes, limit.month_minutes, 60).label("time"),
        )
        .join(total, total.scope == limit.scope)
        .where(
            limit.partner_id.in_(request.partner_ids),
            of_subject,
            limit.api_key_id.is_(None),
            total.period.in_((day_period(request.now), month_period(request.now))),
        )
        .group_by(limit.partner_id, subject_id)
        .subquery()
    )
    larger = _larger_of(shares.c.money, shares.c.time)
    return select(shares.c.partner_id, shares.c.subject_id, larger)


def _query_budget(request: MeasureRequest, whole: bool) -> Select[Any]:
    """Return the query of the share of the month's budget that is spent."""
    limit, total = SpendingLimit, SpendingTotal
    subject_id: Any = limit.partner_id if whole else limit.organization_id
    return (
        select(
            limit.partner_id,
            subject_id.label("subject_id"),
            (PERCENT * total.spent_micros // limit.budget_micros).label("share"),
        )
        .join(total, total.scope == limit.scope)
        .where(
            limit.partner_id.in_(request.partner_ids),
            limit.organization_id.is_(None)
            if whole
            else and_(
                limit.organization_id.is_not(None), _is_among(limit.organization_id, request)
            ),
            limit.api_key_id.is_(None),
            limit.budget_micros > 0,
            total.period == month_period(request.now),
        )
    )


def _larger_of(first: ColumnElement[int], second: ColumnElement[int]) -> ColumnElement[int]:
    return case((first >= second, first), else_=func.coalesce(second, first))


_QUERIES: dict[AlertMeasure, Query] = {
    AlertMeasure.CONVERSATIONS: _query_of_days(
        ConversationDay, lambda count: count, "conversations"
    ),
    AlertMeasure.MINUTES: _query_of_days(ConversationDay, lambda seconds: seconds // 60, "seconds"),
    AlertMeasure.ANSWER_RATE: _query_of_days(CallDay, _answer_rate, "ended", "answered"),
    AlertMeasure.FAILED_CALLS: _query_of_days(CallDay, lambda count: count, "failed"),
    AlertMeasure.SPENDING: _query_spending,
    AlertMeasure.BUDGET: _query_budget,
    AlertMeasure.LIMITS: _query_limits,
    AlertMeasure.SILENCE: _query_silence,
}
