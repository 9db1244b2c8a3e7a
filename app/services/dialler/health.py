"""How the carriers do, told from what was observed in the last quarter of an hour."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.enums import CallStatus, CarrierKind, EndedReason, Observed
from app.models import Call, CarrierObservation, utcnow
from app.models.base import id_at
from app.policy.caller import Caller
from app.services.calls.reading import visible

LOOKED_BACK = timedelta(minutes=15)
LAST_DAY = timedelta(days=1)
MOST_COUNTED = 1000
FAILURES = 2
"""A single answer that is lost is no outage."""
REFUSALS, REFUSED_SHARE = 3, 0.05
"""So many, and so much of all that it said: some wrong numbers among many calls are no trouble."""
_ANSWERS = frozenset({Observed.ANSWERED, Observed.SLOW})
_NO_ANSWERS = frozenset({Observed.UNREACHED, Observed.SILENT})


class State(StrEnum):
    """How a carrier does; where several hold, the first."""

    OUTAGE = "outage"
    PUTS_OFF = "puts-off"
    REFUSES = "refuses"
    SLOW = "slow"
    WELL = "well"
    QUIET = "quiet"
    """Nothing was asked of it lately."""

    @property
    def holds_calls(self) -> bool:
        """Whether calls wait because of it."""
        return self in (State.OUTAGE, State.PUTS_OFF)

    @property
    def is_trouble(self) -> bool:
        return self not in (State.WELL, State.QUIET)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a carrier did wrong, how often in the time looked back on, and its last words."""

    kind: Observed
    code: str
    count: int
    last_at: datetime
    detail: str


@dataclass(frozen=True, slots=True)
class CarrierHealth:
    """``answered_at`` is the last answer of the last day, ``answers`` and ``slow`` are counts of
    the time looked back on, as those of ``troubles`` are, which begin with the latest."""

    carrier: CarrierKind
    state: State
    answered_at: datetime | None
    answers: int
    slow: int
    troubles: Sequence[Trouble]


def carriers(session: Session) -> list[CarrierHealth]:
    """Every carrier of which anything was observed in the last day."""
    now = utcnow()
    rows = session.scalars(
        select(CarrierObservation).where(CarrierObservation.minute >= now - LAST_DAY)
    )
    by_carrier: dict[CarrierKind, list[CarrierObservation]] = defaultdict(list)
    for row in rows:
        by_carrier[row.carrier].append(row)
    return [_health(kind, by_carrier[kind], now) for kind in CarrierKind if kind in by_carrier]


def state_of(session: Session, carrier: CarrierKind) -> State:
    """How one carrier does; of the simulated line, what it plays is no trouble."""
    if carrier is CarrierKind.SIMULATOR:
        return State.WELL
    now = utcnow()
    recent = select(CarrierObservation).where(
        CarrierObservation.carrier == carrier, CarrierObservation.last_at >= now - LOOKED_BACK
    )
    return _health(carrier, session.scalars(recent).all(), now).state


def in_trouble(session: Session) -> list[CarrierHealth]:
    """The real carriers that have trouble now; what the simulated line plays is no news."""
    return [
        health
        for health in carriers(session)
        if health.state.is_trouble and health.carrier is not CarrierKind.SIMULATOR
    ]


def waiting_calls(session: Session, caller: Caller) -> int:
    """How many calls that the caller may see wait to be dialled; counted up to `MOST_COUNTED`."""
    waiting = (
        visible(caller)
        .where(Call.status.in_((CallStatus.QUEUED, CallStatus.DIALING)))
        .with_only_columns(Call.id)
        .limit(MOST_COUNTED)
        .subquery()
    )
    return session.scalar(select(func.count()).select_from(waiting)) or 0


def failed_calls(session: Session, caller: Caller) -> dict[EndedReason, int]:
    """Why calls that the caller may see have failed in the last day, and how many."""
    failed = session.execute(
        visible(caller)
        .where(Call.status == CallStatus.FAILED, Call.id >= id_at(utcnow() - LAST_DAY))
        .with_only_columns(Call.ended_reason, func.count(Call.id))
        .group_by(Call.ended_reason)
    )
    return {reason: count for reason, count in failed if reason is not None}


def _health(
    carrier: CarrierKind, rows: Sequence[CarrierObservation], now: datetime
) -> CarrierHealth:
    answered_at = max((row.last_at for row in rows if row.kind in _ANSWERS), default=None)
    recent = [row for row in rows if row.last_at >= now - LOOKED_BACK]
    counts: dict[Observed, int] = defaultdict(int)
    lasts: dict[Observed, datetime] = {}
    by_code: dict[tuple[Observed, str], list[CarrierObservation]] = defaultdict(list)
    for row in recent:
        counts[row.kind] += row.count
        lasts[row.kind] = max(row.last_at, lasts.get(row.kind, row.last_at))
        if row.kind is not Observed.ANSWERED:
            by_code[row.kind, row.code].append(row)
    troubles = [_trouble(found) for found in by_code.values()]
    return CarrierHealth(
        carrier=carrier,
        state=_state(counts, lasts, answered_at),
        answered_at=answered_at,
        answers=sum(counts[kind] for kind in _ANSWERS),
        slow=counts[Observed.SLOW],
        troubles=sorted(troubles, key=lambda trouble: trouble.last_at, reverse=True),
    )


def _state(
    counts: dict[Observed, int], lasts: dict[Observed, datetime], answered_at: datetime | None
) -> State:
    def is_last(kinds: frozenset[Observed]) -> bool:
        """Whether it was seen more lately than an answer."""
        last = max((lasts[kind] for kind in kinds if kind in lasts), default=None)
        return last is not None and (answered_at is None or last > answered_at)

    if sum(counts[kind] for kind in _NO_ANSWERS) >= FAILURES and is_last(_NO_ANSWERS):
        return State.OUTAGE
    if is_last(frozenset({Observed.PUT_OFF})):
        return State.PUTS_OFF
    refused = counts[Observed.REFUSED]
    said = refused + sum(counts[kind] for kind in _ANSWERS)
    if refused >= max(REFUSALS, REFUSED_SHARE * said):
        return State.REFUSES
    if counts[Observed.SLOW] > counts[Observed.ANSWERED]:
        return State.SLOW
    return State.WELL if lasts else State.QUIET


def _trouble(rows: Sequence[CarrierObservation]) -> Trouble:
    latest = max(rows, key=lambda row: row.last_at)
    count = sum(row.count for row in rows)
    return Trouble(latest.kind, latest.code, count, latest.last_at, latest.detail)
