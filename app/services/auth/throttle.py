"""Waits after failed attempts, counted in the database so that every process agrees.

A counter allows some failures. From then on each further one makes the next attempt wait: one
second, two, four, and so on up to a bound. Failures are forgotten one by one with time. Attempts
that are refused because they came too early don't count, so no one can make a wait longer than its
bound. Only hashes of names and addresses are stored.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from app.errors import RateLimited
from app.languages import gettext, ngettext
from app.models import ThrottleCounter, utcnow
from app.services.uniqueness import insert_into
from app.telemetry.metrics import THROTTLED

RETENTION = timedelta(days=1)
"""How long counters are kept, longer than any needs to forget its failures."""
MAX_EXPONENT = 30


@dataclass(frozen=True, slots=True)
class ThrottleRule:
    """``allowed`` failures without a wait; one is forgotten every ``forget_seconds``; the longest
    wait is ``max_seconds``, the first is ``first_seconds``."""

    allowed: int
    forget_seconds: float
    max_seconds: float
    first_seconds: float = 1.0

    def failures_at(self, now: datetime, failures: float, counted_at: datetime) -> float:
        passed = max(0.0, (now - counted_at).total_seconds())
        return max(0.0, failures - passed / self.forget_seconds)

    def wait(self, failures: float) -> float:
        """Return the seconds from the last failure until the next attempt is allowed."""
        over = round(failures) - self.allowed
        if over < 0:
            return 0.0
        return min(self.first_seconds * 2.0 ** min(over, MAX_EXPONENT), self.max_seconds)


@dataclass(frozen=True, slots=True)
class FailureCounter:
    """The subject of a counter. ``is_of_account``: one account or client; ``is_of_everywhere``: all
    networks together."""

    key: str
    rule: ThrottleRule
    is_of_account: bool = False
    is_of_everywhere: bool = False


class TooManyFailures(RateLimited):
    """A counter makes the attempt wait; ``counter`` is the one with the longest wait."""

    def __init__(self, counter: FailureCounter, seconds: int):
        # Translators: %(when)s is "in 5 minutes".
        message = gettext(
            "Too many failed attempts. Try again %(when)s.", when=retry_label(seconds)
        )
        super().__init__(message, seconds, "too_many_failures")
        self.counter = counter
        THROTTLED.labels("failures").inc()


def key_of(kind: str, *parts: str) -> str:
    """Return the key of a counter of this kind, named by ``parts``."""
    return hashlib.sha256("\0".join((kind, *parts)).encode("utf-8", "replace")).hexdigest()


def charge(session: Session, counters: Sequence[FailureCounter]) -> None:
    """Count a failure for each counter. Raises `TooManyFailures`, counting nothing, if one of them
    makes the attempt wait.

    Charge before the slow check of a password and `reset_after_success` after a right one: requests
    sent side by side get no more guesses than those sent one by one.
    """
    now = utcnow()
    rows = _lock_counters(session, counters, now)
    _refuse_early(counters, rows, now)
    for counter in counters:
        row = rows[counter.key]
        row.failures = counter.rule.failures_at(now, row.failures, row.counted_at) + 1
        row.counted_at = now
    session.flush()


def reset_after_success(
    session: Session, own_counters: Sequence[FailureCounter], shared: Sequence[FailureCounter] = ()
) -> None:
    """Settle a correct attempt: reset its own counters, and take one failure back from each of the
    shared ones."""
    afresh = {counter.key for counter in own_counters}
    for key in sorted(afresh.union(counter.key for counter in shared)):  # in the order of `charge`
        failures = 0.0 if key in afresh else ThrottleCounter.failures - 1
        session.execute(
            update(ThrottleCounter)
            .where(ThrottleCounter.key == key, ThrottleCounter.failures >= 1)
            .values(failures=failures)
        )


def purge(session: Session) -> None:
    """Remove counters without failures."""
    session.execute(
        delete(ThrottleCounter).where(ThrottleCounter.counted_at < utcnow() - RETENTION)
    )


def retry_label(seconds: int) -> str:
    """When to try again: "in 1 minute", never too early."""
    if seconds < 60:
        return ngettext("in %(num)s second", "in %(num)s seconds", seconds)
    # Translators: the end of a sentence, such as "Try again in 2 minutes."
    return ngettext("in %(num)s minute", "in %(num)s minutes", -(-seconds // 60))


def _lock_counters(
    session: Session, counters: Sequence[FailureCounter], now: datetime
) -> dict[str, ThrottleCounter]:
    """Return the counters' rows, created if they are missing, locked in one order by
    one statement."""
    keys = sorted({counter.key for counter in counters})
    new = [{"key": key, "failures": 0.0, "counted_at": now} for key in keys]
    locking = (
        insert_into(session, ThrottleCounter)
        .values(new)
        .on_conflict_do_update(index_elements=["key"], set_={"failures": ThrottleCounter.failures})
        .returning(ThrottleCounter)
    )
    rows = session.scalars(locking, execution_options={"populate_existing": True})
    return {row.key: row for row in rows}


def _refuse_early(
    counters: Sequence[FailureCounter], rows: dict[str, ThrottleCounter], now: datetime
) -> None:
    waits = list(_waits(counters, rows, now))
    if waits:
        seconds, counter = max(waits, key=lambda wait: wait[0])
        raise TooManyFailures(counter, math.ceil(seconds))


def _waits(
    counters: Sequence[FailureCounter], rows: dict[str, ThrottleCounter], now: datetime
) -> Iterator[tuple[float, FailureCounter]]:
    for counter in counters:
        row = rows.get(counter.key)
        if row is not None:
            until = row.counted_at + timedelta(seconds=counter.rule.wait(row.failures))
            if until > now:
                yield (until - now).total_seconds(), counter
