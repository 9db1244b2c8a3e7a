"""Stuck calls, and how many calls wait, are active or need an operator."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session, aliased

from app.enums import CallStatus
from app.models import Call, CallAttempt, DispatchPause, HeldCall, Organization, Partner, utcnow
from app.services import pauses
from app.services.calls.states import ACTIVE, WAITING

PLACING_LASTS = timedelta(minutes=5)
"""Longer than a carrier is queried about a request, and than any phone rings."""
TALKING_LASTS = timedelta(hours=5)
LATE = timedelta(minutes=5)


class StuckReason(StrEnum):
    """Why a call is listed."""

    UNKNOWN = "unknown"
    STUCK = "stuck"
    OVERDUE = "overdue"


@dataclass(frozen=True, slots=True)
class StuckCall:
    """A call that an operator should check; ``since`` is when it last moved, or should have."""

    call: Call
    partner: str
    organization: str
    reason: StuckReason
    since: datetime


@dataclass(frozen=True, slots=True)
class DispatcherStatus:
    """``waiting`` counts accepted calls that aren't placed yet, ``held`` those of them that a pause
    holds. ``carrier_retry`` counts calls that the carrier wanted later, ``under_way`` the other
    active ones.
    """

    pauses: Sequence[DispatchPause]
    waiting: int
    held: int
    carrier_retry: int
    under_way: dict[CallStatus, int]
    unknown: int
    stuck: int
    overdue: int

    @property
    def reasons(self) -> set[StuckReason]:
        """The reasons for which calls need an operator."""
        counts = {
            StuckReason.UNKNOWN: self.unknown,
            StuckReason.STUCK: self.stuck,
            StuckReason.OVERDUE: self.overdue,
        }
        return {reason for reason, count in counts.items() if count}

    @property
    def active_calls(self) -> int:
        """Return how many calls are being placed, ring or were answered."""
        return sum(self.under_way.values())


def listing(
    session: Session, limit: int, reasons: Collection[StuckReason] = tuple(StuckReason)
) -> list[StuckCall]:
    """Return calls that are stuck, overdue or of unknown outcome, as far as these are among the
    ``reasons``, the newest of each first."""
    now = utcnow()
    calls = []
    for reason, query in _queries(now).items():
        if reason not in reasons:
            continue
        rows = session.execute(_with_names(query).order_by(Call.id.desc()).limit(limit))
        calls += [_stuck_call(reason, *row) for row in rows]
    return calls


def find(session: Session, call_id: UUID) -> StuckCall | None:
    """Return a call that needs an operator; None if it doesn't."""
    for reason, query in _queries(utcnow()).items():
        row = session.execute(_with_names(query.where(Call.id == call_id))).first()
        if row is not None:
            return _stuck_call(reason, *row)
    return None


def dispatcher_status(session: Session) -> DispatcherStatus:
    rows = session.execute(
        select(Call.status, func.count())
        .where(Call.status.in_(ACTIVE | WAITING | {CallStatus.UNKNOWN}))
        .group_by(Call.status)
    )
    counts: dict[CallStatus, int] = {row[0]: row[1] for row in rows}
    under_way = {status: counts.get(status, 0) for status in CallStatus if status in ACTIVE}
    queries = _queries(utcnow())
    counted: tuple[Select[int], ...] = (
        select(func.count()).select_from(HeldCall),
        _counting(_carrier_retry(select(Call))),
        _counting(queries[StuckReason.STUCK]),
        _counting(queries[StuckReason.OVERDUE]),
    )
    columns = (query.scalar_subquery() for query in counted)
    held, carrier_retry, stuck, overdue = session.execute(select(*columns)).one()
    under_way[CallStatus.DIALING] -= carrier_retry
    return DispatcherStatus(
        pauses=pauses.listing(session),
        waiting=sum(counts.get(status, 0) for status in WAITING),
        held=held,
        carrier_retry=carrier_retry,
        under_way=under_way,
        unknown=counts.get(CallStatus.UNKNOWN, 0),
        stuck=stuck,
        overdue=overdue,
    )


def count_active(session: Session) -> int:
    """Return how many calls are being placed, ring or were answered."""
    active = _counting(select(Call).where(Call.status.in_(ACTIVE)))
    waiting = _counting(_carrier_retry(select(Call)))
    query = select(active.scalar_subquery() - waiting.scalar_subquery())
    return session.scalar(query) or 0


def _carrier_retry(query: Select[Call]) -> Select[Call]:
    waits = (
        select(CallAttempt.id)
        .where(
            CallAttempt.call_id == Call.id,
            CallAttempt.status == CallStatus.DIALING,
            CallAttempt.carrier_retry_at.is_not(None),
        )
        .exists()
    )
    return query.where(Call.status == CallStatus.DIALING, waits)


def _queries(now: datetime) -> dict[StuckReason, Select[Call]]:
    moment = func.coalesce(Call.next_attempt_at, Call.scheduled_for, Call.created_at)
    is_held = select(HeldCall.call_id).where(HeldCall.call_id == Call.id).exists()
    return {
        StuckReason.UNKNOWN: select(Call).where(Call.status == CallStatus.UNKNOWN),
        StuckReason.STUCK: select(Call).where(or_(_placing_too_long(now), _talking_too_long(now))),
        StuckReason.OVERDUE: select(Call).where(
            Call.status.in_(WAITING), moment < now - LATE, ~is_held, ~_has_active_calls()
        ),
    }


def _with_names(query: Select[Call]) -> Select[Call, str, str]:
    """Return the query with the names of partner and organization."""
    return (
        query.join(Partner, Partner.id == Call.partner_id)
        .join(Organization, Organization.id == Call.organization_id)
        .add_columns(Partner.name, Organization.name)
    )


def _stuck_call(reason: StuckReason, call: Call, partner: str, organization: str) -> StuckCall:
    return StuckCall(call, partner, organization, reason, _stuck_since(call, reason))


def _placing_too_long(now: datetime) -> ColumnElement[bool]:
    moves = (
        select(CallAttempt.id)
        .where(
            CallAttempt.call_id == Call.id,
            CallAttempt.status.in_(ACTIVE),
            func.coalesce(
                CallAttempt.carrier_retry_at, CallAttempt.ringing_at, CallAttempt.asked_at,
                CallAttempt.started_at,
            )
            >= now - PLACING_LASTS,
        )
        .exists()
    )  # fmt: skip
    return Call.status.in_((CallStatus.DIALING, CallStatus.RINGING)) & ~moves


def _talking_too_long(now: datetime) -> ColumnElement[bool]:
    return (Call.status == CallStatus.IN_PROGRESS) & (Call.answered_at < now - TALKING_LASTS)


def _has_active_calls() -> ColumnElement[bool]:
    """Return the condition that other calls of the organization are active: then a call that waits
    for its turn isn't overdue."""
    active = aliased(Call)
    return (
        select(active.id)
        .where(active.organization_id == Call.organization_id, active.status.in_(ACTIVE))
        .exists()
    )


def _stuck_since(call: Call, reason: StuckReason) -> datetime:
    if reason is StuckReason.OVERDUE:
        return call.next_attempt_at or call.scheduled_for or call.created_at
    return call.ended_at or call.answered_at or call.started_at or call.created_at


def _counting(query: Select[Call]) -> Select[int]:
    return query.with_only_columns(func.count(Call.id))
