"""Conversations by day, for charts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.models import ConversationDay, Organization, PartnerDay
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations, partners
from app.services.reporting.span import DaySpan
from app.services.tenancy import in_groups


@dataclass(frozen=True, slots=True)
class DailyFigures:
    """A UTC day with its completed conversations; ``seconds`` is their total duration."""

    day: date
    conversations: int = 0
    by_human: int = 0
    by_voicemail: int = 0
    seconds: int = 0


def daily(
    session: Session,
    caller: Caller,
    start: date,
    end: date,
    *,
    organization_id: UUID | None = None,
) -> Sequence[DailyFigures]:
    """Return every day from ``start`` to ``end``, both included, also days without conversations.

    Of one organization, otherwise of the caller's own one, otherwise of the caller's partner.
    Raises `NotFound`, and `ValidationFailed` if an operator names no organization.
    """
    table, condition = _table_and_condition(session, caller, organization_id)
    rows = _query_days(table, condition, start, end, is_sum=caller.is_limited)
    return _all_days(session.execute(rows), start, end)


def daily_and_updated(
    session: Session,
    caller: Caller,
    start: date,
    end: date,
    *,
    organization_id: UUID | None = None,
) -> tuple[Sequence[DailyFigures], datetime | None]:
    """As `daily`, and when the data of all days last changed: one query."""
    table, condition = _table_and_condition(session, caller, organization_id)
    changed = select(func.max(table.updated_at).label("at")).where(condition).subquery()
    days = _query_days(table, condition, start, end, is_sum=caller.is_limited).subquery()
    query = select(changed.c.at, *days.c).select_from(changed.outerjoin(days, true()))
    rows = session.execute(query).all()
    return _all_days((row[1:] for row in rows if row.day), start, end), rows[0].at


def daily_of(
    session: Session, caller: Caller, organization: Organization, start: date, end: date
) -> Sequence[DailyFigures]:
    """As `daily`, of an organization that comes from its loader: one query."""
    caller.require(Permission.USAGE_READ)
    is_its = ConversationDay.organization_id == organization.id
    return _all_days(session.execute(_query_days(ConversationDay, is_its, start, end)), start, end)


def totals_query(organization: Organization, spans: Sequence[DaySpan]) -> Select[*tuple[Any, ...]]:
    """Return the query of one row: for each span the figures of `totals_from`, of an organization
    that comes from its loader."""
    table = ConversationDay
    first, last = min(span.start for span in spans), max(span.end for span in spans)
    sums = (
        func.coalesce(func.sum(figure).filter(table.day.between(span.start, span.end)), 0)
        for span in spans
        for figure in _figure_columns(table)
    )
    of_organization = table.organization_id == organization.id
    return select(*sums).where(of_organization, table.day.between(first, last))


def totals_from(row: Sequence[int], spans: Sequence[DaySpan]) -> list[DailyFigures]:
    """Return the totals of each span, under its first day, from a row of `totals_query`."""
    size = len(row) // len(spans)
    return [
        DailyFigures(span.start, *map(int, row[index * size : (index + 1) * size]))
        for index, span in enumerate(spans)
    ]


def _table_and_condition(
    session: Session, caller: Caller, organization_id: UUID | None
) -> tuple[type[ConversationDay | PartnerDay], ColumnElement[bool]]:
    """Return the table of the days, and which of its rows count. Raises as `daily`."""
    caller.require(Permission.USAGE_READ)
    requested_id = organization_id or caller.organization_id
    if requested_id is not None:
        if requested_id != caller.organization_id:
            organizations.check(session, caller, requested_id)
        return ConversationDay, ConversationDay.organization_id == requested_id
    partner = partners.own_partner_id(caller)
    if not caller.is_limited:
        return PartnerDay, PartnerDay.partner_id == partner
    is_in_groups = in_groups(caller, ConversationDay.organization_id)
    return ConversationDay, (ConversationDay.partner_id == partner) & is_in_groups


def _query_days(
    table: type[ConversationDay | PartnerDay],
    condition: ColumnElement[bool],
    start: date,
    end: date,
    *,
    is_sum: bool = False,
) -> Select[*tuple[Any, ...]]:
    """``is_sum``: the table has several rows for a day."""
    figures = _figure_columns(table)
    return (
        select(table.day, *(func.sum(each).label(each.key) for each in figures))
        .where(condition, table.day.between(start, end))
        .group_by(table.day)
        if is_sum
        else select(table.day, *figures).where(condition, table.day.between(start, end))
    )


def _figure_columns(
    table: type[ConversationDay | PartnerDay],
) -> tuple[InstrumentedAttribute[int], ...]:
    """Return the columns of `DailyFigures` after its day."""
    return table.conversations, table.by_human, table.by_voicemail, table.seconds


def _all_days(
    rows: Iterable[Row[Any] | tuple[Any, ...]], start: date, end: date
) -> Sequence[DailyFigures]:
    """Return every day, also those without a row."""
    by_day = {row[0]: DailyFigures(*row) for row in rows}
    days = (start + timedelta(days=number) for number in range((end - start).days + 1))
    return [by_day.get(day) or DailyFigures(day) for day in days]


def within(days: Sequence[DailyFigures], span: DaySpan) -> list[DailyFigures]:
    """Return those of the days that are in the span."""
    return [each for each in days if span.start <= each.day <= span.end]


def total(days: Sequence[DailyFigures]) -> DailyFigures:
    """Return the totals over the days, under the first of them."""
    names = ("conversations", "by_human", "by_voicemail", "seconds")
    return DailyFigures(days[0].day, *(sum(getattr(day, name) for day in days) for name in names))
