"""Counts how the carriers respond while calls are placed, and stores the counts periodically."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from app.database import Database
from app.enums import CarrierKind, Observed
from app.gateways.carriers.base import (
    AttemptInquiry,
    CallPlacement,
    Carrier,
    CarrierReport,
    NoCarrierAnswer,
    PlacementDelayed,
    PlacementRejected,
)
from app.models import utcnow
from app.services.pauses import carrier_health
from app.services.pauses.carrier_health import BehaviourCount, CarrierBehaviour
from app.telemetry import metrics, tracing

SLOW_SECONDS = 3.0
"""Seconds from which an answer is slow; most take a fraction of a second."""
PAUSE_SECONDS = 4.0
"""Minimum seconds between two writes; a killed worker loses its unwritten counts."""
SLOW_MESSAGE = f"Took longer than {SLOW_SECONDS:.0f} s."
MAX_CODE_LENGTH = 100
MAX_DETAIL_LENGTH = 500

_NUMBER = re.compile(r"\+?\d{7,}")
"""Phone numbers in messages; only the call's own page shows them."""


class CarrierStatistics:
    """Counts in memory, and writes the counts in its own transaction."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[CarrierBehaviour, BehaviourCount] = {}
        self._written = 0.0

    def record(
        self, carrier: CarrierKind, kind: Observed, code: str = "", detail: str = ""
    ) -> None:
        now = utcnow()
        minute = now.replace(second=0, microsecond=0)
        behaviour = CarrierBehaviour(minute, carrier, kind, code[:MAX_CODE_LENGTH])
        with self._lock:
            count = self._counts.setdefault(behaviour, BehaviourCount(0, now, ""))
            count.count, count.last_at, count.detail = (
                count.count + 1,
                now,
                detail[:MAX_DETAIL_LENGTH],
            )

    def write_down(self, database: Database, *, immediately: bool = False) -> None:
        """Write the counts, if there are any and the last write is some seconds ago."""
        if not immediately and time.monotonic() - self._written < PAUSE_SECONDS:
            return
        with self._lock:
            counts, self._counts = self._counts, {}
        if counts:
            self._written = time.monotonic()
            with database.transaction() as session:
                carrier_health.record(session, counts)


class CountedCarrier:
    """Counts the answers of a carrier. A refusal to an account that isn't the installation's
    (``is_own``) concerns that account only and is not counted."""

    def __init__(self, carrier: Carrier, watch: CarrierStatistics, *, is_own: bool = True):
        self._carrier = carrier
        self._is_own = is_own
        self._watch = watch

    @property
    def kind(self) -> CarrierKind:
        return self._carrier.kind

    @property
    def charges(self) -> bool:
        return self._carrier.charges

    @property
    def settle_seconds(self) -> float:
        return self._carrier.settle_seconds

    @property
    def silence_seconds(self) -> float:
        return self._carrier.silence_seconds

    def place(self, placement: CallPlacement) -> CarrierReport:
        with self._watching("place"):
            return self._carrier.place(placement)

    def look_up(self, inquiry: AttemptInquiry) -> CarrierReport:
        with self._watching("look_up"):
            return self._carrier.look_up(inquiry)

    def hang_up(self, inquiry: AttemptInquiry) -> bool:
        with self._watching("hang_up"):
            return self._carrier.hang_up(inquiry)

    @contextmanager
    def _watching(self, request_name: str) -> Iterator[None]:
        began = time.monotonic()
        with _measuring_request(self.kind.value, request_name), self._recording_outcome(began):
            yield

    @contextmanager
    def _recording_outcome(self, began: float) -> Iterator[None]:
        try:
            yield
        except PlacementRejected as refusal:
            if self._is_own:
                detail = _NUMBER.sub("…", str(refusal))
                self._watch.record(self.kind, Observed.REFUSED, refusal.code, detail)
            raise
        except PlacementDelayed as refusal:
            if refusal.unreached:
                self._watch.record(self.kind, Observed.UNREACHED, detail=str(refusal))
            elif self._is_own:
                detail = f"{refusal} Again after {refusal.seconds:.0f} s."
                self._watch.record(self.kind, Observed.DELAYED, detail=detail)
            raise
        except NoCarrierAnswer as silence:
            self._watch.record(self.kind, Observed.SILENT, str(silence))
            raise
        is_slow = time.monotonic() - began > SLOW_SECONDS
        if is_slow:
            self._watch.record(self.kind, Observed.SLOW, detail=SLOW_MESSAGE)
        else:
            self._watch.record(self.kind, Observed.ANSWERED)


@contextmanager
def _measuring_request(carrier: str, request_name: str) -> Iterator[None]:
    """Count and trace one request to a carrier."""
    outcome = "failed"
    attributes: dict[str, str | int] = {"portal.carrier": carrier}
    try:
        with (
            metrics.timed(metrics.CARRIER_SECONDS.labels(carrier, request_name)),
            tracing.span(f"carrier {request_name}", "client", attributes=attributes),
        ):
            yield
        outcome = "answered"
    except PlacementRejected:
        outcome = "refused"
        raise
    except PlacementDelayed:
        outcome = "delayed"
        raise
    except NoCarrierAnswer:
        outcome = "silent"
        raise
    finally:
        metrics.CARRIER_REQUESTS.labels(carrier, request_name, outcome).inc()
