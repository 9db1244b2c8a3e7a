"""A limit on the passwords that a process hashes at once.

A hash takes memory and a core on purpose. Without a limit, a few sign-ins a second take both from
the pages of everyone else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from app.errors import RateLimited
from app.languages import gettext
from app.telemetry.metrics import THROTTLED

MAX_WAIT_SECONDS = 2.0
TRY_AGAIN_SECONDS = 3


class PasswordChecks:
    """Limits the hashing: ``max_concurrent`` at a time, while at most ``waiting`` others wait."""

    def __init__(
        self, max_concurrent: int, waiting: int, max_wait_seconds: float = MAX_WAIT_SECONDS
    ):
        self._slots = BoundedSemaphore(max_concurrent)
        self._places = BoundedSemaphore(max_concurrent + waiting)
        self._max_wait_seconds = max_wait_seconds

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hash passwords in this block, outside of a transaction.

        Raises `RateLimited` (``sign_in_busy``) if too many wait, or if the wait is too long.
        """
        if not self._places.acquire(blocking=False):
            raise _busy_error()
        try:
            if not self._slots.acquire(timeout=self._max_wait_seconds):
                raise _busy_error()
            try:
                yield
            finally:
                self._slots.release()
        finally:
            self._places.release()


def _busy_error() -> RateLimited:
    THROTTLED.labels("password_checks").inc()
    message = gettext("Too many people are signing in at this moment. Try again in a few seconds.")
    return RateLimited(message, TRY_AGAIN_SECONDS, "sign_in_busy")
