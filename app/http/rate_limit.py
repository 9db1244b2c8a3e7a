"""Rate limits per credential, user or IP address: a token bucket in the process's memory, which
other processes can share (`app.http.shared_rates`)."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock

from app.errors import RateLimited
from app.telemetry.metrics import THROTTLED

UNSHARED = 0.05
"""Share of a burst that a key may take in one process before its use is reported to the others."""
FORGIVEN = 0.01
"""Share of the rate below which a key is never reported."""
STEP = 0.1
"""Share of the remaining tokens after which a reported key is reported again."""
FOLLOWED_SECONDS = 5.0
"""Seconds that a key is reported after its last request."""


def _too_many_message(rate: float, wait: int) -> str:
    return (
        f"More than {rate:g} requests per second came with this credential. "
        f"Wait {wait} s and try again."
    )


class _TokenBucket:
    """``tokens`` at a moment; negative if other processes have taken more meanwhile."""

    __slots__ = ("followed_until", "then", "tokens", "unreported")

    def __init__(self, tokens: float, then: float):
        self.tokens = tokens
        self.then = then
        self.unreported = 0.0
        self.followed_until = then


class TokenBuckets:
    """``rate`` requests a second for each key, with bursts of ``burst``.

    ``describe`` returns the message of a refusal from the rate and the seconds to wait. Full
    buckets hold no information, so the oldest are dropped beyond ``max_keys``; a process needs a
    few hundred bytes for each recent key.
    """

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        describe: Callable[[float, int], str] = _too_many_message,
        clock: Callable[[], float] = time.monotonic,
        max_keys: int = 20_000,
    ):
        self._describe = describe
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._max_keys = max_keys
        self._buckets: OrderedDict[Hashable, _TokenBucket] = OrderedDict()
        self._lock = Lock()
        self._unreported: set[Hashable] = set()
        self._report: Callable[[bool], None] | None = None

    @property
    def rate(self) -> float:
        return self._rate

    @property
    def burst(self) -> int:
        return self._burst

    def take(self, key: Hashable) -> None:
        """Take one token. Raises `RateLimited` with the whole seconds until the next one."""
        with self._lock:
            now = self._clock()
            bucket = self._buckets.pop(key, None) or _TokenBucket(self._burst, now)
            before = bucket.then
            tokens = min(self._burst, bucket.tokens + (now - before) * self._rate)
            bucket.tokens = tokens - 1 if tokens >= 1 else tokens
            bucket.then = now
            self._buckets[key] = bucket
            while len(self._buckets) > self._max_keys:
                self._buckets.popitem(last=False)
            if tokens >= 1 and self._report is not None:
                self._note(key, bucket, now - before, self._report)
        if tokens < 1:
            THROTTLED.labels("requests").inc()
            wait = max(1, math.ceil((1 - tokens) / self._rate))
            raise RateLimited(self._describe(self._rate, wait), wait)

    def _note(
        self, key: Hashable, bucket: _TokenBucket, seconds: float, report: Callable[[bool], None]
    ) -> None:
        """Count a token that other processes don't know of, ``seconds`` after the previous one."""
        if bucket.followed_until <= bucket.then:
            forgiven = seconds * self._rate * FORGIVEN
            bucket.unreported = max(0.0, bucket.unreported - forgiven) + 1
            if bucket.unreported <= self._burst * UNSHARED:
                return
        else:
            bucket.unreported += 1
        bucket.followed_until = bucket.then + FOLLOWED_SECONDS
        self._unreported.add(key)
        report(bucket.unreported >= max(1.0, bucket.tokens * STEP))

    def share(self, report: Callable[[bool], None]) -> None:
        """Call ``report`` when `to_report` has something to return, with whether it is urgent."""
        self._report = report

    def to_report(self) -> dict[Hashable, float]:
        """Return the tokens that each key has taken since the last report."""
        with self._lock:
            reported = {key: self._buckets[key] for key in self._unreported if key in self._buckets}
            self._unreported.clear()
            unreported = {key: bucket.unreported for key, bucket in reported.items()}
            for bucket in reported.values():
                bucket.unreported = 0.0
        return unreported

    def learn(self, remaining: Mapping[Hashable, float]) -> None:
        """Set the tokens that all processes together have left for the keys of the last report."""
        with self._lock:
            now = self._clock()
            for key, tokens in remaining.items():
                bucket = self._buckets.get(key)
                if bucket is not None:
                    bucket.tokens = min(self._burst, tokens) - bucket.unreported
                    bucket.then = now
