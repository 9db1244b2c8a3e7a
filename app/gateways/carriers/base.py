"""The protocol that every telephone carrier implements."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Protocol, runtime_checkable
from uuid import UUID

from app.enums import AnsweredBy, CarrierKind, EndedReason


@dataclass(frozen=True, slots=True)
class CallPlacement:
    """A request to dial. ``attempt_id`` is the reference for the carrier.

    Carriers without a request when the call is answered use the voice URL given here.
    """

    attempt_id: UUID
    to_number: str
    from_number: str
    intro: str
    voicemail: str
    hand_over_to: str | None = None
    account_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class AttemptInquiry:
    """The attempt to query.

    It was requested at ``asked_at``, or moments later. ``reference`` is None if the answer was
    lost. Then ``taken`` holds the references of other attempts to this number, ``rivals`` counts
    those whose answer was lost as well, and ``position`` how many of these began before this one.
    ``account_id`` is the carrier account of the attempt, None for the installation's, as in a
    placement.
    """

    attempt_id: UUID
    to_number: str
    from_number: str
    asked_at: datetime
    reference: str | None = None
    taken: frozenset[str] = frozenset()
    rivals: int = 0
    position: int = 0
    account_id: UUID | None = None


class PlacementRejected(Exception):
    """The carrier refused for certain: the phone has not rung and never will. ``code`` is the
    carrier's own code for the reason."""

    def __init__(
        self, message: str, reason: EndedReason = EndedReason.REJECTED, code: str | None = None
    ):
        super().__init__(message)
        self.reason = reason
        self.code = code or reason.value


class PlacementDelayed(Exception):
    """Certainly not placed; the same attempt can be sent again after ``seconds``. ``unreached`` if
    the carrier could not be reached."""

    def __init__(self, message: str, seconds: float, *, unreached: bool = False):
        super().__init__(message)
        self.seconds = seconds
        self.unreached = unreached


class NoCarrierAnswer(Exception):
    """A timeout, a reset or a server error: the call may have been placed."""


class UnknownAtCarrier(NoCarrierAnswer):
    """The carrier answered that it doesn't have what was requested, such as a deleted call."""


class PlacementVerdict(StrEnum):
    """Whether an attempt was placed, according to the carrier."""

    PLACED = "placed"
    NOT_PLACED = "not-placed"
    UNSURE = "unsure"


class CarrierEventKind(StrEnum):
    RINGING = "ringing"
    ANSWERED = "answered"
    INTRO_SPOKEN = "said-intro"
    VOICEMAIL_SPOKEN = "said-voicemail"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class CarrierEvent:
    """An event of a call, at the carrier's own time.

    ``answered_by`` may come with a later event than the answer.
    """

    kind: CarrierEventKind
    at: datetime
    answered_by: AnsweredBy | None = None
    reason: EndedReason | None = None


@dataclass(frozen=True, slots=True)
class CarrierReport:
    """Everything that the carrier reports about one attempt, oldest event first.

    ``next_change`` is when to query again; None if the carrier can't say. ``cost`` in ``currency``
    is set once the carrier has calculated it. ``is_guessed``: the carrier doesn't say which attempt
    the call belongs to, and only this known attempt fits it. ``attestation`` is the STIR/SHAKEN
    level of the call: A, B or C, None if the carrier doesn't say.
    """

    verdict: PlacementVerdict
    reference: str | None = None
    events: Sequence[CarrierEvent] = ()
    next_change: datetime | None = None
    cost: Decimal | None = None
    currency: str | None = None
    is_guessed: bool = False
    attestation: str | None = None

    @property
    def end_reason(self) -> EndedReason | None:
        """Return why the call ended; None while it is active."""
        for event in self.events:
            if event.kind is CarrierEventKind.ENDED:
                return event.reason or EndedReason.UNKNOWN
        return None


class Carrier(Protocol):
    """Places calls. No method is called while a database transaction is open."""

    @property
    def kind(self) -> CarrierKind: ...

    @property
    def charges(self) -> bool:
        """Whether the carrier reports, some time after a call, what it cost."""
        ...

    @property
    def settle_seconds(self) -> float:
        """Seconds after an attempt was written during which its request may still be in progress,
        or the call not listed yet. Only then is "not placed" final."""
        ...

    @property
    def silence_seconds(self) -> float:
        """Seconds during which an attempt is queried while the carrier can't say what happened to
        it."""
        ...

    def place(self, placement: CallPlacement) -> CarrierReport:
        """Send the request once; the report has the carrier's own reference.

        Raises `PlacementRejected` for a definite refusal, `PlacementDelayed` for a temporary one,
        and `NoCarrierAnswer` for anything that is not an answer. Never repeats the request.
        """
        ...

    def look_up(self, inquiry: AttemptInquiry) -> CarrierReport:
        """Return what happened to the attempt. Raises `NoCarrierAnswer` without an answer."""
        ...

    def hang_up(self, inquiry: AttemptInquiry) -> bool:
        """End the call if it is active; return False if there was nothing to end.

        Raises `NoCarrierAnswer` if it isn't known whether the call was ended.
        """
        ...


@dataclass(frozen=True, slots=True)
class ListedCall:
    """A call in the carrier's list, which may include those of other programs. ``state`` has its
    reference."""

    to_number: str
    from_number: str
    began_at: datetime
    state: CarrierReport


@runtime_checkable
class ListsCalls(Protocol):
    """A carrier that keeps a list of the calls that it placed."""

    def placed_since(self, since: datetime) -> Iterator[ListedCall]:
        """Return the calls that began at ``since`` or later, in any order. Raises
        `NoCarrierAnswer`, also for a list that is too long to read."""
        ...
