"""The database's time as the time of all machines: a machine's clock may be wrong."""

import logging
import time
from datetime import UTC, datetime, timedelta
from time import monotonic

from app.models.base import Clock, utcnow

SLOW_SECONDS = 0.5
"""Seconds from which an answer is too slow to compare clocks."""
CLOCKS_DIFFER = timedelta(seconds=0.25)
WRONG = timedelta(seconds=2)
"""Difference from which a machine's clock is reported."""
_PASSING = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that never jumps; on Linux it continues while the machine is suspended."""

log = logging.getLogger(__name__)


class _CommonClock:
    """The current time: a moment plus the seconds since. ``ahead`` is how far the machine's clock
    was ahead of the database's then."""

    def __init__(self, moment: datetime, ahead: timedelta):
        self.ahead = ahead
        self._moment = moment
        self._began = time.clock_gettime(_PASSING)

    def read(self) -> datetime:
        return self._moment + timedelta(seconds=time.clock_gettime(_PASSING) - self._began)

    def nanoseconds(self) -> int:
        return int(self.read().timestamp() * 1e9)


def use_database_time(database_time: datetime, read_at: float) -> None:
    """Make `utcnow` and new ids in this process use the database's time, which was read at a moment
    of `monotonic`. A later jump of the machine's clock changes nothing."""
    if monotonic() - read_at > SLOW_SECONDS:
        return
    local_time = datetime.now(UTC)
    ahead = local_time - database_time
    current_clock = getattr(Clock.read, "__self__", None)
    if (
        isinstance(current_clock, _CommonClock)
        and abs(database_time - utcnow()) < CLOCKS_DIFFER
        and abs(ahead - current_clock.ahead) < CLOCKS_DIFFER
    ):
        return
    clock = _CommonClock(local_time if abs(ahead) < CLOCKS_DIFFER else database_time, ahead)
    Clock.read, Clock.nanoseconds = clock.read, clock.nanoseconds
    if abs(ahead) >= WRONG:
        log.warning(
            "this machine's clock is %.0f s %s the database's, whose time counts",
            abs(ahead.total_seconds()),
            "ahead of" if ahead > timedelta() else "behind",
        )
