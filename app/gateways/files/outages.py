"""Surviving an outage of the file storage outside of requests."""

import functools
import logging
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from app.errors import Unavailable

P = ParamSpec("P")
R = TypeVar("R")

MAX_PAUSE_SECONDS = 15.0

log = logging.getLogger(__name__)


def retry_on_file_outage(work: Callable[P, R]) -> Callable[P, R]:
    """Repeat ``work`` while the file storage doesn't answer; ``work`` must be safe to repeat."""

    @functools.wraps(work)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> R:
        pause = 0.5
        while True:
            try:
                return work(*args, **kwargs)
            except Unavailable:
                log.warning("the file storage does not answer; trying again in %g s", pause)
            time.sleep(pause)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)

    return repeated
