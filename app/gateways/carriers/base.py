"""What the application needs of a telephone carrier, whichever it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from app.enums import AnsweredBy, CarrierKind, EndedReason


@dataclass(frozen=True, slots=True)
class Placement:
    """One request to dial. ``attempt_id`` is the reference under which the carrier is asked.

    Carriers that don't ask again when the call is answered find the assistant's voice address here.
    """

    attempt_id: UUID
    to_number: str
    from_number: str
    intro: str
    voicemail: str
    hand_over_to: str | None = None
    account_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The attempt that a carrier is asked about.

    It was requested at ``asked_at``, or moments later. ``reference`` is None if the answer was
    lost. Then ``taken`` are the references of other attempts to this number, ``rivals`` counts
    those whose answer was lost as well, and ``place`` how many of these began before this one.
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
    place: int = 0
    account_id: UUID | None = None


class PlacementRejected(Exception):
    """The carrier refused for certain: this attempt has not rung and never will. ``code`` is the
    carrier's own word for why."""

    def __init__(
        self, message: str, reason: EndedReason = EndedReason.REJECTED, code: str | None = None
    ):
        super().__init__(message)
        self.reason = reason
        self.code = code or reason.value


class PlacementDelayed(Exception):
    """Certainly not placed, and worth asking again with the same attempt after ``seconds``;
    ``unreached`` if the carrier could not be reached."""

    def __init__(self, message: str, seconds: float, *, unreached: bool = False):
        super().__init__(message)
        self.seconds = seconds
        self.unreached = unreached


class NoCarrierAnswer(Exception):
    """A timeout, a reset or a server error: whether the call was placed is not known."""


class Verdict(StrEnum):
    """Whether an attempt was placed, as the carrier says."""

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

    ``answered_by`` may come with a later event than the answer, once the carrier has found out.
    """

    kind: CarrierEventKind
    at: datetime
    answered_by: AnsweredBy | None = None
    reason: EndedReason | None = None


@dataclass(frozen=True, slots=True)
class CarrierReport:
    """Everything the carrier knows of one attempt, oldest event first.

    ``next_change`` is when asking again is worth it; None where the carrier cannot tell. ``cost``
    in ``currency`` is there once the carrier has worked it out. Where ``is_guessed``, the carrier
    doesn't tell whose the call is: it fits the attempt, and no other that is known of.
    """

    verdict: Verdict
    reference: str | None = None
    events: Sequence[CarrierEvent] = ()
    next_change: datetime | None = None
    cost: Decimal | None = None
    currency: str | None = None
    is_guessed: bool = False

    @property
    def end_reason(self) -> EndedReason | None:
        """Why the call is over; None while it goes on."""
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
        """Whether it says, some time after a call, what the call cost."""
        ...

    @property
    def settle_seconds(self) -> float:
        """How long after an attempt was written a request to place it may still be under way, or
        placed and not yet to be found. Only after that is "not placed" final."""
        ...

    @property
    def silence_seconds(self) -> float:
        """How long a carrier that can't say what happened to an attempt is asked about it."""
        ...

    def place(self, placement: Placement) -> CarrierReport:
        """Ask once for the call; the report has the carrier's own reference.

        Raises `PlacementRejected` for a definite refusal, `PlacementDelayed` for one that doesn't
        last, `NoCarrierAnswer` for anything that is not an answer. Never repeats the request by
        itself.
        """
        ...

    def look_up(self, inquiry: Inquiry) -> CarrierReport:
        """What happened to the attempt. Raises `NoCarrierAnswer` if the carrier is silent."""
        ...

    def hang_up(self, inquiry: Inquiry) -> bool:
        """End the call if it still goes on; False if there was nothing to end.

        Raises `NoCarrierAnswer` if it may or may not have been ended.
        """
        ...
