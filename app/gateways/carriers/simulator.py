"""The simulated carrier: it is labelled as simulated, and records every call that was placed.

The outcome of a call depends only on its number and on the time since it was placed. The carrier
needs no process and survives every kill; it writes its ledger over separate connections, outside
any transaction of the application.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine, Row, insert, select, update

from app.enums import AnsweredBy, CarrierKind, EndedReason
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    CarrierEvent,
    CarrierEventKind,
    CarrierReport,
    ListedCall,
    NoCarrierAnswer,
    PlacementRejected,
    PlacementVerdict,
)
from app.languages import gettext
from app.models import SimulatedCall, utcnow

SIMULATED_NUMBERS = {
    "human": "+12025550101",
    "voicemail": "+12025550102",
    "busy": "+12025550103",
    "noAnswer": "+12025550104",
    "failed": "+12025550105",
    "slow": "+12025550106",
    "rejected": "+12025550107",
    "lostAnswer": "+12025550108",
    "unreachable": "+12025550109",
    "unsure": "+12025550110",
}
"""Numbers with a fixed outcome, all from the range reserved for fiction.

A person answers at any other number. The last four are failures of the carrier: it refuses; it
dials but its answer is lost; it can't be reached; it can't say whether it placed the call.
"""


@dataclass(frozen=True, slots=True)
class _SimulatedStep:
    """An event this many seconds after a call was placed, at pace 1."""

    seconds: float
    kind: CarrierEventKind
    answered_by: AnsweredBy | None = None
    reason: EndedReason | None = None


_K = CarrierEventKind
_HUMAN = (
    _SimulatedStep(1, _K.RINGING),
    _SimulatedStep(4, _K.ANSWERED, AnsweredBy.HUMAN),
    _SimulatedStep(4.5, _K.INTRO_SPOKEN),
    _SimulatedStep(12, _K.ENDED, AnsweredBy.HUMAN, EndedReason.COMPLETED),
)
_SCRIPTS: dict[str, tuple[_SimulatedStep, ...]] = {
    "voicemail": (
        _SimulatedStep(1, _K.RINGING),
        _SimulatedStep(6, _K.ANSWERED, AnsweredBy.VOICEMAIL),
        _SimulatedStep(8, _K.VOICEMAIL_SPOKEN),
        _SimulatedStep(15, _K.ENDED, AnsweredBy.VOICEMAIL, EndedReason.VOICEMAIL),
    ),
    "busy": (_SimulatedStep(1.5, _K.ENDED, reason=EndedReason.BUSY),),
    "noAnswer": (
        _SimulatedStep(1, _K.RINGING),
        _SimulatedStep(25, _K.ENDED, reason=EndedReason.NO_ANSWER),
    ),
    "failed": (_SimulatedStep(2, _K.ENDED, reason=EndedReason.CARRIER_ERROR),),
    "slow": (
        _SimulatedStep(8, _K.RINGING),
        _SimulatedStep(20, _K.ANSWERED, AnsweredBy.HUMAN),
        _SimulatedStep(20.5, _K.INTRO_SPOKEN),
        _SimulatedStep(30, _K.ENDED, AnsweredBy.HUMAN, EndedReason.COMPLETED),
    ),
}
_NAME_OF = {number: name for name, number in SIMULATED_NUMBERS.items()}


class SimulatedCarrier:
    """The carrier that calls no real number. ``pace`` multiplies every duration."""

    kind = CarrierKind.SIMULATOR
    charges = False

    def __init__(self, engine: Engine, pace: float = 1.0):
        self._engine = engine
        self._pace = pace

    @property
    def settle_seconds(self) -> float:
        """Writing the ledger takes milliseconds; a second suffices on a busy machine."""
        return 1.0

    @property
    def silence_seconds(self) -> float:
        """Zero: its answers don't change with time."""
        return 0.0

    def place(self, placement: CallPlacement) -> CarrierReport:
        outcome = _NAME_OF.get(placement.to_number)
        if outcome == "rejected":
            message = gettext("The simulated carrier refuses this number.")
            raise PlacementRejected(message)
        if outcome == "unreachable":
            message = gettext("The simulated carrier did not answer.")
            raise NoCarrierAnswer(message)
        now = utcnow()
        with self._engine.begin() as connection:
            connection.execute(
                insert(SimulatedCall).values(
                    reference=str(placement.attempt_id),
                    from_number=placement.from_number,
                    to_number=placement.to_number,
                    placed_at=now,
                )
            )
        if outcome in {"lostAnswer", "unsure"}:
            message = gettext("The answer of the simulated carrier was lost.")
            raise NoCarrierAnswer(message)
        _, upcoming = self._events_until(outcome or "human", now, now)
        return CarrierReport(
            PlacementVerdict.PLACED, _reference(placement.attempt_id), (), upcoming
        )

    def look_up(self, inquiry: AttemptInquiry) -> CarrierReport:
        return self._state(inquiry.attempt_id)

    def _state(self, attempt_id: UUID) -> CarrierReport:
        row = self._entry(attempt_id)
        if row is None:
            return CarrierReport(PlacementVerdict.NOT_PLACED)
        outcome = _NAME_OF.get(row.to_number, "human")
        if outcome == "unsure":
            return CarrierReport(PlacementVerdict.UNSURE)
        events, upcoming = self._events_until(outcome, row.placed_at, row.hung_up_at or utcnow())
        ended = bool(events) and events[-1].kind is CarrierEventKind.ENDED
        if row.hung_up_at is not None and not ended:
            events.append(
                CarrierEvent(CarrierEventKind.ENDED, row.hung_up_at, reason=EndedReason.CANCELED)
            )
            upcoming = None
        return CarrierReport(PlacementVerdict.PLACED, _reference(attempt_id), events, upcoming)

    def hang_up(self, inquiry: AttemptInquiry) -> bool:
        attempt_id = inquiry.attempt_id
        if self._entry(attempt_id) is None or self._state(attempt_id).end_reason:
            return False
        with self._engine.begin() as connection:
            connection.execute(
                update(SimulatedCall)
                .where(SimulatedCall.reference == str(attempt_id))
                .where(SimulatedCall.hung_up_at.is_(None))
                .values(hung_up_at=utcnow())
            )
        return True

    def placed_since(self, since: datetime) -> Iterator[ListedCall]:
        columns = SimulatedCall.reference, SimulatedCall.to_number, SimulatedCall.from_number
        query = select(*columns, SimulatedCall.placed_at).where(SimulatedCall.placed_at >= since)
        with self._engine.connect() as connection:
            rows = connection.execution_options(read_only=True).execute(query).all()
        for reference, to_number, from_number, placed_at in rows:
            attempt_id = UUID(reference)
            state = self._state(attempt_id)
            state = replace(
                state, verdict=PlacementVerdict.PLACED, reference=_reference(attempt_id)
            )
            yield ListedCall(to_number, from_number, placed_at, state)

    def _entry(self, attempt_id: UUID) -> Row[str, datetime, datetime | None] | None:
        query = (
            select(SimulatedCall.to_number, SimulatedCall.placed_at, SimulatedCall.hung_up_at)
            .where(SimulatedCall.reference == str(attempt_id))
            .order_by(SimulatedCall.id)
            .limit(1)
        )
        with self._engine.connect() as connection:
            return connection.execution_options(read_only=True).execute(query).first()

    def _events_until(
        self, outcome: str, placed_at: datetime, until: datetime
    ) -> tuple[list[CarrierEvent], datetime | None]:
        events: list[CarrierEvent] = []
        for step in _SCRIPTS.get(outcome, _HUMAN):
            happens_at = placed_at + timedelta(seconds=step.seconds * self._pace)
            if happens_at > until:
                return events, happens_at
            events.append(CarrierEvent(step.kind, happens_at, step.answered_by, step.reason))
        return events, None


def _reference(attempt_id: UUID) -> str:
    return f"sim-{attempt_id}"
