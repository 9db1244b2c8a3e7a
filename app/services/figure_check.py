"""The daily totals compared with the rows that they count, of a day that is over."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.enums import CallSource
from app.models import (
    Call,
    CallDay,
    Conversation,
    ConversationDay,
    FigureCheck,
    Partner,
    PartnerDay,
    PartnerTier,
    utcnow,
)
from app.models.base import id_at
from app.policy import Permission
from app.policy.caller import Caller
from app.services.rollup import ENDED_BY_CARRIER

KEPT = timedelta(days=60)
SHOWN = 30
"""So many days are shown."""
SETTLED = timedelta(hours=1)
"""So long after its end a day is checked."""
SLACK = timedelta(hours=1)
"""More than the time in an id differs from the database's."""

CONVERSATIONS = "Conversations by organization"
OF_PARTNERS = "Conversations by partner"
ENDED_CALLS = "Ended calls by organization"


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
class Checked:
    """The latest results, newest first, and how many partners and organizations they cover."""

    days: Sequence[CheckedDay]
    partners: int
    organizations: int
    comparisons: int

    @property
    def differences(self) -> int:
        return count_differences(self.days)


def is_due(session: Session, now: datetime) -> date | None:
    """Return yesterday (UTC) if it has not been checked; None otherwise."""
    day = (now - SETTLED).date() - timedelta(days=1)
    checked = select(FigureCheck.day).where(FigureCheck.day == day).limit(1)
    return None if session.scalar(checked) else day


def counted(session: Session, day: date) -> list[FigureCheck]:
    """Return each kind of total with the number of rows of the day. It only reads."""
    start = datetime.combine(day, time(), UTC)
    end = start + timedelta(days=1)
    # Ids are made when a conversation ends, so none of the day has a smaller one.
    conversations = _count(
        session,
        Conversation.id >= id_at(start - SLACK),
        Conversation.started_at >= start,
        Conversation.started_at < end,
    )
    calls = _count(
        session,
        Call.id < id_at(end + SLACK),
        Call.ended_at >= start,
        Call.ended_at < end,
        Call.status.in_(ENDED_BY_CARRIER),
        Call.live.is_(True),
        Call.source != CallSource.VERIFICATION,
        ~Call.is_simulated_test,
    )
    pairs = (
        (CONVERSATIONS, conversations, ConversationDay.conversations, ConversationDay.day),
        (OF_PARTNERS, conversations, PartnerDay.conversations, PartnerDay.day),
        (ENDED_CALLS, calls, CallDay.ended, CallDay.day),
    )
    return [
        FigureCheck(day=day, figure=figure, counted=rows, total=_sum(session, column, on == day))
        for figure, rows, column, on in pairs
    ]


def keep(session: Session, found: Sequence[FigureCheck]) -> None:
    """Store the result, and forget old ones."""
    for each in found:
        session.merge(each)
    session.execute(delete(FigureCheck).where(FigureCheck.day < (utcnow() - KEPT).date()))


def latest(session: Session, caller: Caller) -> Checked:
    """Return the results of the last `SHOWN` days that were checked. Raises `Forbidden`."""
    days = latest_days(session, caller)
    return Checked(
        days,
        session.scalar(select(func.count()).select_from(Partner)) or 0,
        session.scalar(select(func.coalesce(func.sum(PartnerTier.organizations), 0))) or 0,
        sum(each.comparisons for each in days),
    )


def latest_days(session: Session, caller: Caller) -> list[CheckedDay]:
    """Return the last `SHOWN` days that were checked, newest first: one query. Raises
    `Forbidden`."""
    caller.require(Permission.PARTNER_CREATE)
    days = select(FigureCheck.day).distinct().order_by(FigureCheck.day.desc()).limit(SHOWN)
    query = select(FigureCheck).where(FigureCheck.day.in_(days))
    by_day: dict[date, list[FigureCheck]] = {}
    for row in session.scalars(query.order_by(FigureCheck.day.desc(), FigureCheck.figure)):
        by_day.setdefault(row.day, []).append(row)
    return [_checked(day, rows) for day, rows in by_day.items()]


def count_differences(days: Sequence[CheckedDay]) -> int:
    return sum(len(each.differences) for each in days)


def _checked(day: date, rows: Sequence[FigureCheck]) -> CheckedDay:
    counted = {row.figure: row.counted for row in rows}
    return CheckedDay(
        day,
        max(row.checked_at for row in rows),
        counted.get(CONVERSATIONS, 0),
        counted.get(ENDED_CALLS, 0),
        [row for row in rows if row.counted != row.total],
        len(rows),
    )


def _count(session: Session, *conditions: ColumnElement[bool]) -> int:
    return session.scalar(select(func.count()).where(*conditions)) or 0


def _sum(session: Session, column: InstrumentedAttribute[int], on: ColumnElement[bool]) -> int:
    return int(session.scalar(select(func.coalesce(func.sum(column), 0)).where(on)) or 0)
