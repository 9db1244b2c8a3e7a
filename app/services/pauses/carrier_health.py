"""The health of carriers: responses counted per minute, kept for a day."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, delete, exists, select
from sqlalchemy.orm import Session

from app.enums import CarrierKind, Observed
from app.models import CarrierObservation, utcnow
from app.services.uniqueness import insert_into

LOOKED_BACK = timedelta(minutes=15)
LAST_DAY = timedelta(days=1)
FAILURES = 2
"""Minimum failures: one lost answer isn't an outage."""
REFUSALS, REFUSED_SHARE = 3, 0.05
"""Minimum refusals, and their share of all answers: a few wrong numbers are not a problem."""
_ANSWERS = frozenset({Observed.ANSWERED, Observed.SLOW})
_NO_ANSWERS = frozenset({Observed.UNREACHED, Observed.SILENT})


@dataclass(frozen=True, slots=True)
class CarrierBehaviour:
    """A carrier's response in one minute; ``code`` is the carrier's own."""

    minute: datetime
    carrier: CarrierKind
    kind: Observed
    code: str = ""


@dataclass(slots=True)
class BehaviourCount:
    """How often, when last, and the carrier's last message."""

    count: int
    last_at: datetime
    detail: str


def record(session: Session, counts: Mapping[CarrierBehaviour, BehaviourCount]) -> None:
    """Add counts to those of all workers."""
    insert = insert_into(session, CarrierObservation)
    for behaviour, count in sorted(counts.items(), key=lambda pair: str(pair[0])):
        session.execute(
            insert.values(
                minute=behaviour.minute,
                carrier=behaviour.carrier,
                kind=behaviour.kind,
                code=behaviour.code,
                count=count.count,
                last_at=count.last_at,
                detail=count.detail,
            ).on_conflict_do_update(
                index_elements=["minute", "carrier", "kind", "code"],
                set_={
                    "count": CarrierObservation.count + count.count,
                    "last_at": count.last_at,
                    "detail": count.detail,
                },
            )
        )


def delete_old_counts(session: Session) -> None:
    """Remove counts older than a day."""
    old = CarrierObservation.minute < utcnow() - LAST_DAY
    session.execute(delete(CarrierObservation).where(old))


class CarrierStatus(StrEnum):
    """A carrier's health; the first state that applies."""

    OUTAGE = "outage"
    DELAYS = "delays"
    REFUSES = "refuses"
    SLOW = "slow"
    WELL = "well"
    QUIET = "quiet"
    """It was not used recently."""

    @property
    def holds_calls(self) -> bool:
        """Return whether calls wait because of it."""
        return self in (CarrierStatus.OUTAGE, CarrierStatus.DELAYS)

    @property
    def is_problem(self) -> bool:
        return self not in (CarrierStatus.WELL, CarrierStatus.QUIET)


@dataclass(frozen=True, slots=True)
class CarrierProblem:
    """A kind of problem with a carrier: how often in `LOOKED_BACK`, and the last message."""

    kind: Observed
    code: str
    count: int
    last_at: datetime
    detail: str


@dataclass(frozen=True, slots=True)
class CarrierHealth:
    """``answered_at`` is the last answer of the last day; ``answers`` and ``slow`` count those in
    `LOOKED_BACK`; ``problems`` are sorted latest first."""

    carrier: CarrierKind
    status: CarrierStatus
    answered_at: datetime | None
    answers: int
    slow: int
    problems: Sequence[CarrierProblem]


def carriers(session: Session) -> list[CarrierHealth]:
    """Return every carrier that was used in the last day."""
    now = utcnow()
    rows = session.scalars(
        select(CarrierObservation).where(CarrierObservation.minute >= now - LAST_DAY)
    )
    by_carrier: dict[CarrierKind, list[CarrierObservation]] = defaultdict(list)
    for row in rows:
        by_carrier[row.carrier].append(row)
    return [
        _derive_health(kind, by_carrier[kind], now) for kind in CarrierKind if kind in by_carrier
    ]


def status_of(session: Session, carrier: CarrierKind) -> CarrierStatus:
    """Return one carrier's health; the simulated carrier is always well."""
    if carrier is CarrierKind.SIMULATOR:
        return CarrierStatus.WELL
    now = utcnow()
    recent = select(CarrierObservation).where(
        CarrierObservation.carrier == carrier, CarrierObservation.last_at >= now - LOOKED_BACK
    )
    return _derive_health(carrier, session.scalars(recent).all(), now).status


def with_problems(session: Session) -> list[CarrierHealth]:
    """Return the real carriers with current problems."""
    return [
        health
        for health in carriers(session)
        if health.status.is_problem and health.carrier is not CarrierKind.SIMULATOR
    ]


def any_not_well() -> ColumnElement[bool]:
    """Return whether a real carrier had other responses than answers lately: without any there are
    no problems."""
    return exists().where(
        CarrierObservation.carrier != CarrierKind.SIMULATOR,
        CarrierObservation.kind != Observed.ANSWERED,
        CarrierObservation.last_at >= utcnow() - LOOKED_BACK,
    )


def _derive_health(
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
    problems = [_summarize_problem(error) for error in by_code.values()]
    return CarrierHealth(
        carrier=carrier,
        status=_derive_status(counts, lasts, answered_at),
        answered_at=answered_at,
        answers=sum(counts[kind] for kind in _ANSWERS),
        slow=counts[Observed.SLOW],
        problems=sorted(problems, key=lambda problem: problem.last_at, reverse=True),
    )


def _derive_status(
    counts: dict[Observed, int], lasts: dict[Observed, datetime], answered_at: datetime | None
) -> CarrierStatus:
    def is_last(kinds: frozenset[Observed]) -> bool:
        """Return whether it is more recent than the last answer."""
        last = max((lasts[kind] for kind in kinds if kind in lasts), default=None)
        return last is not None and (answered_at is None or last > answered_at)

    if sum(counts[kind] for kind in _NO_ANSWERS) >= FAILURES and is_last(_NO_ANSWERS):
        return CarrierStatus.OUTAGE
    if is_last(frozenset({Observed.DELAYED})):
        return CarrierStatus.DELAYS
    refused = counts[Observed.REFUSED]
    answers = refused + sum(counts[kind] for kind in _ANSWERS)
    if refused >= max(REFUSALS, REFUSED_SHARE * answers):
        return CarrierStatus.REFUSES
    if counts[Observed.SLOW] > counts[Observed.ANSWERED]:
        return CarrierStatus.SLOW
    return CarrierStatus.WELL if lasts else CarrierStatus.QUIET


def _summarize_problem(rows: Sequence[CarrierObservation]) -> CarrierProblem:
    latest = max(rows, key=lambda row: row.last_at)
    count = sum(row.count for row in rows)
    return CarrierProblem(latest.kind, latest.code, count, latest.last_at, latest.detail)
