"""How often one credential, user or address may ask: a token bucket in the process's memory."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from app.errors import RateLimited
from app.telemetry.metrics import THROTTLED


def _with_this_credential(rate: float, wait: int) -> str:
    return (
        f"More than {rate:g} requests per second came with this credential. "
        f"Wait {wait} s and try again."
    )


class TokenBuckets:
    """``rate`` requests a second for each key, with bursts of ``burst``.

    ``describe`` returns the sentence of a refusal from the rate and the seconds to wait.
    Buckets that are full again hold no information, so the oldest are dropped beyond
    ``max_keys``; a process holds a few hundred bytes for each recent key.
    """

    def __init__(
        self,
        rate: float,
        burst: int,
        *,
        describe: Callable[[float, int], str] = _with_this_credential,
        clock: Callable[[], float] = time.monotonic,
        max_keys: int = 20_000,
    ):
        self._describe = describe
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._max_keys = max_keys
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def take(self, key: Hashable) -> None:
        """Takes one token. Raises `RateLimited` with the whole seconds until there is one."""
        with self._lock:
            now = self._clock()
            tokens, then = self._buckets.pop(key, (float(self._burst), now))
            tokens = min(float(self._burst), tokens + (now - then) * self._rate)
            self._buckets[key] = (tokens - 1 if tokens >= 1 else tokens, now)
            while len(self._buckets) > self._max_keys:
                self._buckets.popitem(last=False)
        if tokens < 1:
            THROTTLED.labels("requests").inc()
            wait = max(1, math.ceil((1 - tokens) / self._rate))
            raise RateLimited(self._describe(self._rate, wait), wait)
