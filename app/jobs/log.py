"""The worker's log: one line an event, and a flood of the same line cut short."""

import logging
import sys
import time


class FloodGate(logging.Filter):
    """Lets each place in the code speak a few times in a while, then counts in silence.

    During an outage the engine reports every failed poll of every thread.
    """

    def __init__(self, most: int = 5, window_seconds: float = 30.0):
        super().__init__()
        self._most = most
        self._window = window_seconds
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        place = (record.pathname, record.lineno)
        now = time.monotonic()
        since, count = self._seen.get(place, (now, 0))
        if now - since > self._window:
            if count > self._most:
                record.msg = f"{record.getMessage()} ({count - self._most} more like it before)"
                record.args = ()
            since, count = now, 0
        self._seen[place] = (since, count + 1)
        return count < self._most


def configure_log() -> None:
    """Before the engine starts, so that it finds a handler and adds none of its own."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(FloodGate())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    engine = logging.getLogger("dbos")
    engine.handlers[:] = [handler]
    engine.propagate = False
