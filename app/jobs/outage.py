"""Waiting out a database that is away: work that is safe to repeat is repeated until it is back."""

import functools
import logging
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_PAUSE_SECONDS = 30.0

log = logging.getLogger(__name__)


def outlasts_outages(work: Callable[P, R]) -> Callable[P, R]:
    """Repeats ``work`` for as long as the database can't be reached or is locked.

    Anything else it raises is passed on.
    """

    @functools.wraps(work)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> R:
        pause = 0.25
        while True:
            try:
                return work(*args, **kwargs)
            except (OperationalError, InterfaceError, PoolTimeout) as error:
                log.warning("the database can't be used (%s); trying again", type(error).__name__)
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    return repeated
