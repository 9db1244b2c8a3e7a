"""Surviving a stop of the worker and an outage of the database."""

import functools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import ParamSpec, TypeVar

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

P = ParamSpec("P")
R = TypeVar("R")

MAX_PAUSE_SECONDS = 5.0
"""Maximum pause between two tries: calls continue this soon after the database is back."""

DATABASE_OUTAGES = (OperationalError, InterfaceError, PoolTimeout)

log = logging.getLogger(__name__)


def retry_on_database_outage(work: Callable[P, R]) -> Callable[P, R]:
    """Repeat ``work`` while the database can't be reached or is locked; ``work`` must be safe to
    repeat. Other errors are raised.
    """

    @functools.wraps(work)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> R:
        pause = 0.25
        while True:
            try:
                return work(*args, **kwargs)
            except DATABASE_OUTAGES as error:
                log.warning("the database can't be used (%s); trying again", type(error).__name__)
            time.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)

    return repeated


@contextmanager
def skipping_faults(message: str, *values: object) -> Iterator[None]:
    """Log an unexpected error of one of several items, so that the others go on. An outage of the
    database concerns all of them, and is raised."""
    try:
        yield
    except DATABASE_OUTAGES:
        raise
    except Exception:
        log.exception(message, *values)


class ShutdownGate:
    """Tracks work that must not be interrupted. A block entered while the gate is open counts as in
    progress. Once it is closed, entering waits for the end of the program; the next worker takes
    the work over. ``consequence`` describes what happens to a block that was still in progress at
    that end."""

    def __init__(self, consequence: str) -> None:
        self.consequence = consequence
        self._condition = threading.Condition()
        self._inside = 0
        self._open = True

    def __enter__(self) -> None:
        with self._condition:
            self._condition.wait_for(lambda: self._open)
            self._inside += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._condition:
            self._inside -= 1
            self._condition.notify_all()

    def close(self, timeout: float) -> bool:
        """Close the gate; return True if everything in progress ended in time."""
        with self._condition:
            self._open = False
            return self._condition.wait_for(lambda: self._inside == 0, timeout)


calls_gate = ShutdownGate("a call was still being placed; its attempt will be asked about")
"""Around a request to the carrier, from the written attempt to the written answer."""
mails_gate = ShutdownGate("a mail was still being sent; it may be sent again")
"""Around a request to the mail server, from the rendered mail to the stored answer."""
webhooks_gate = ShutdownGate("a webhook was still being delivered; it may be delivered again")
"""Around a request to a webhook's receiver, until its answer is stored."""


def close_gates(seconds: float) -> list[str]:
    """Close all gates at once; return the consequences of what did not end in time."""
    gates = calls_gate, mails_gate, webhooks_gate
    for gate in gates:
        gate.close(0)
    end = time.monotonic() + seconds
    return [each.consequence for each in gates if not each.close(max(0, end - time.monotonic()))]
