"""The daily totals compared with the rows that they count, for days that are over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    case,
    cast,
    delete,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.calendar_months import midnight
from app.enums import CallSource
from app.models import (
    BillingDay,
    Call,
    CallAttempt,
    CallDay,
    Conversation,
    ConversationDay,
    FigureCheck,
    Partner,
    PartnerDay,
    PartnerTier,
    SpendingTotal,
    utcnow,
)
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services import organizations, partners
from app.services.rollup import ENDED_BY_CARRIER
from app.services.spending.scopes import ORGANIZATION
from app.services.uniqueness import insert_into

RETENTION = timedelta(days=60)
SHOWN = 30
"""Number of days that are shown."""
SETTLED = timedelta(hours=1)
"""Time after its end at which a day is checked."""
SLACK = timedelta(hours=1)
"""More than the difference between the time in an id and the database's."""
MAX_WAIT_TIME = timedelta(hours=30)
"""The maximum time from the one in an attempt's id to its start."""

CONVERSATIONS = "Conversations by organization"
OF_PARTNERS = "Conversations by partner"
ENDED_CALLS = "Ended calls by organization"
MINUTES = "Billed minutes by organization"
SPENDING = "Spending by organization"
"""In millionths of the currency of the call rates."""
NAMED = 3
"""Maximum organizations or partners that are kept with their differing amounts."""


@dataclass(frozen=True, slots=True)
class CheckedDay:
    """The results of a day: those that differ, and how much was counted."""

    day: date
    checked_at: datetime
    conversations: int
    calls: int
    differences: Sequence[FigureCheck]
    comparisons: int


@dataclass(frozen=True, slots=True)
class FigureCheckResults:
    """The latest results, newest first, and the number of partners and organizations that they
    cover."""

    days: Sequence[CheckedDay]
    partners: int
    organizations: int
    comparisons: int
    names: Mapping[str, str]
    """Names of the organizations and partners that differ, by id."""

    @property
    def differences(self) -> int:
        return count_differences(self.days)


def day_due(session: Session, now: datetime) -> date | None:
    """Return yesterday (UTC) if it has not been checked; None otherwise."""
    day = (now - SETTLED).date() - timedelta(days=1)
    checked = select(FigureCheck.day).where(FigureCheck.day == day).limit(1)
    return None if session.scalar(checked) else day


def compare_day(session: Session, day: date) -> list[FigureCheck]:
    """Compare each kind of total with the rows of the day that it counts, for each organization or
    partner. Read-only."""
    return [
        _compare(session, day, figure, rows, totals)
        for figure, (rows, totals) in _queries(day).items()
    ]


def _queries(day: date) -> dict[str, tuple[Select[Any], Select[Any]]]:
    """Return the queries of the rows and of the totals, by figure."""
    conversations, attempts = _conversations_of(day), _attempts_of(day)
    of_attempts, of_totals = CallAttempt.organization_id, SpendingTotal.organization_id
    spent = (
        SpendingTotal.scope.startswith(f"{ORGANIZATION}:"),
        of_totals.is_not(None),
        SpendingTotal.period == day.isoformat(),
    )
    of_day = ConversationDay.organization_id
    return {
        CONVERSATIONS: (
            _amounts_by_owner(Conversation.organization_id, func.count(), *conversations),
            _amounts_by_owner(
                of_day, func.sum(ConversationDay.conversations), ConversationDay.day == day
            ),
        ),
        OF_PARTNERS: (
            _amounts_by_owner(Conversation.partner_id, func.count(), *conversations),
            _amounts_by_owner(
                PartnerDay.partner_id, func.sum(PartnerDay.conversations), PartnerDay.day == day
            ),
        ),
        ENDED_CALLS: (
            _amounts_by_owner(Call.organization_id, func.count(), *_ended_calls_of(day)),
            _amounts_by_owner(CallDay.organization_id, func.sum(CallDay.ended), CallDay.day == day),
        ),
        MINUTES: (
            _amounts_by_owner(of_attempts, func.sum(CallAttempt.billed_minutes), *attempts),
            _amounts_by_owner(
                BillingDay.organization_id, func.sum(BillingDay.minutes), BillingDay.day == day
            ),
        ),
        SPENDING: (
            _amounts_by_owner(of_attempts, func.sum(CallAttempt.charged_micros), *attempts),
            _amounts_by_owner(of_totals, func.sum(SpendingTotal.spent_micros), *spent),
        ),
    }


def _bounds(day: date) -> tuple[datetime, datetime]:
    """Return the start and the end of the day."""
    start = midnight(day)
    return start, start + timedelta(days=1)


def _conversations_of(day: date) -> tuple[ColumnElement[bool], ...]:
    start, end = _bounds(day)
    return (
        # Ids are made when a conversation ends, so no id of the day is smaller.
        Conversation.id >= id_at(start - SLACK),
        Conversation.started_at >= start,
        Conversation.started_at < end,
    )


def _ended_calls_of(day: date) -> tuple[ColumnElement[bool], ...]:
    start, end = _bounds(day)
    return (
        Call.id < id_at(end + SLACK),
        Call.ended_at >= start,
        Call.ended_at < end,
        Call.status.in_(ENDED_BY_CARRIER),
        Call.live.is_(True),
        Call.source != CallSource.VERIFICATION,
        ~Call.is_simulated_test,
    )


def _attempts_of(day: date) -> tuple[ColumnElement[bool], ...]:
    start, end = _bounds(day)
    return (
        CallAttempt.id >= id_at(start - MAX_WAIT_TIME),
        CallAttempt.started_at >= start,
        CallAttempt.started_at < end,
    )


def _amounts_by_owner(
    owner: InstrumentedAttribute[Any], amount: ColumnElement[Any], *conditions: ColumnElement[bool]
) -> Select[Any]:
    """Return a query of the amount of each owner, an organization or a partner."""
    return select(owner.label("owner"), amount.label("amount")).where(*conditions).group_by(owner)


def _compare(
    session: Session, day: date, figure: str, rows: Select[Any], totals: Select[Any]
) -> FigureCheck:
    """Compare the amounts of each owner in the database: two queries, which return only the sums
    and the first `NAMED` owners that differ."""
    stored_totals, counted_rows = totals.subquery(), rows.subquery()
    none = literal(0)
    combined = union_all(
        select(stored_totals.c.owner, stored_totals.c.amount.label("total"), none.label("counted")),
        select(counted_rows.c.owner, none, counted_rows.c.amount),
    ).subquery()
    each = (
        select(
            combined.c.owner,
            cast(func.sum(combined.c.total), BigInteger).label("total"),
            cast(func.sum(combined.c.counted), BigInteger).label("counted"),
        )
        .group_by(combined.c.owner)
        .subquery()
    )
    differs = each.c.total != each.c.counted
    sums = session.execute(
        select(
            func.coalesce(func.sum(each.c.total), 0),
            func.coalesce(func.sum(each.c.counted), 0),
            func.count(case((differs, 1))),
        )
    ).one()
    first = select(each).where(differs).order_by(each.c.owner).limit(NAMED)
    return FigureCheck(
        day=day,
        figure=figure,
        total=int(sums[0]),
        counted=int(sums[1]),
        differing=sums[2],
        examples=[
            {"id": str(row.owner), "total": row.total, "counted": row.counted}
            for row in (session.execute(first) if sums[2] else ())
        ]
        or None,
    )


def store_checks(session: Session, checks: Sequence[FigureCheck]) -> Sequence[FigureCheck]:
    """Store the results, and forget old ones. Return those that no other worker had stored."""
    columns = FigureCheck.__table__.columns.keys()
    rows = [
        {name: getattr(each, name) for name in columns if name != "checked_at"} for each in checks
    ]
    added = insert_into(session, FigureCheck).values(rows).on_conflict_do_nothing()
    stored = session.scalars(added.returning(FigureCheck)).all()
    session.execute(delete(FigureCheck).where(FigureCheck.day < (utcnow() - RETENTION).date()))
    return stored


def latest(session: Session, caller: Caller) -> FigureCheckResults:
    """Return the results of the last `SHOWN` days that were checked. Raises `Forbidden`."""
    days = latest_days(session, caller)
    return FigureCheckResults(
        days,
        session.scalar(select(func.count()).select_from(Partner)) or 0,
        session.scalar(select(func.coalesce(func.sum(PartnerTier.organizations), 0))) or 0,
        sum(each.comparisons for each in days),
        _names_of(session, caller, days),
    )


def _names_of(session: Session, caller: Caller, days: Sequence[CheckedDay]) -> dict[str, str]:
    ids = {
        UUID(example["id"])
        for each in days
        for row in each.differences
        for example in row.examples or ()
    }
    names = partners.names_of(session, caller, ids) | organizations.names_of(session, caller, ids)
    return {str(identifier): name for identifier, name in names.items()}


def latest_days(session: Session, caller: Caller) -> list[CheckedDay]:
    """Return the last `SHOWN` days that were checked, newest first: one query. Raises
    `Forbidden`."""
    caller.require(Permission.PARTNER_CREATE)
    days = select(FigureCheck.day).distinct().order_by(FigureCheck.day.desc()).limit(SHOWN)
    query = select(FigureCheck).where(FigureCheck.day.in_(days))
    by_day: dict[date, list[FigureCheck]] = {}
    for row in session.scalars(query.order_by(FigureCheck.day.desc(), FigureCheck.figure)):
        by_day.setdefault(row.day, []).append(row)
    return [_to_checked_day(day, rows) for day, rows in by_day.items()]


def count_differences(days: Sequence[CheckedDay]) -> int:
    return sum(len(each.differences) for each in days)


def _to_checked_day(day: date, rows: Sequence[FigureCheck]) -> CheckedDay:
    counts = {row.figure: row.counted for row in rows}
    return CheckedDay(
        day,
        max(row.checked_at for row in rows),
        counts.get(CONVERSATIONS, 0),
        counts.get(ENDED_CALLS, 0),
        [row for row in rows if row.differs],
        len(rows),
    )
