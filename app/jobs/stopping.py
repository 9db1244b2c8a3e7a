"""Ends the calls in the queue that rules stop meanwhile, in a thread of its own."""

import logging
import threading
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from app.jobs.context import context
from app.services.calls import stopping

log = logging.getLogger(__name__)

EVERY_SECONDS = 2.0


def keep_stopping(stop: threading.Event) -> None:
    """Looks at some of the queue at a time, round and round, until ``stop`` is set."""
    place: UUID | None = None
    seconds = EVERY_SECONDS
    while not stop.wait(seconds):
        seconds = EVERY_SECONDS
        try:
            place, is_any = look_from(place)
            if not is_any:
                seconds = max(EVERY_SECONDS, context().settings.queue_poll_seconds)
        except SQLAlchemyError as error:
            log.warning("what waits was not looked at (%s)", type(error).__name__)
        except Exception:
            log.exception("what waits could not be looked at")


def look_from(place: UUID | None) -> tuple[UUID | None, bool]:
    """Looks at the calls behind ``place``, for as long as there are some to be stopped; where to
    go on, None for the beginning, and whether any call waits."""
    database = context().database
    while True:
        with database.transaction(read_only=True) as session:
            waiting = stopping.queued(session, place)
            stopped = stopping.stopped(session, waiting)
        for call_id in stopped:
            with database.transaction() as session:
                stopping.end_where_stopped(session, call_id)
        place = waiting[-1] if len(waiting) == stopping.AT_ONCE else None
        if place is None or not stopped:
            return place, bool(waiting)
