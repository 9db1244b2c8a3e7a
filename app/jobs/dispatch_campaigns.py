"""Schedules the calls of running campaigns, a few ahead, in a separate thread.

Its state is in the database: it may be killed at any moment, and several workers take turns.
"""

import logging
import threading

from sqlalchemy.exc import SQLAlchemyError

from app.gateways.wake import WakeEvent
from app.jobs.context import context
from app.jobs.resilience import skipping_faults
from app.models import utcnow
from app.services.outreach import dispatcher

log = logging.getLogger(__name__)

EVERY_SECONDS = 1.0


def keep_dispatching(wake_event: WakeEvent, stop: threading.Event) -> None:
    """Dispatch every running campaign until ``stop`` is set."""
    seconds = EVERY_SECONDS
    while not wake_event.wait(seconds, stop):
        seconds = EVERY_SECONDS
        try:
            dispatch_all()
            with context().database.transaction(read_only=True) as session:
                if not dispatcher.any_runs(session):
                    seconds = max(EVERY_SECONDS, context().settings.queue_poll_seconds)
        except SQLAlchemyError as error:
            log.warning("campaigns wait for the database (%s)", type(error).__name__)
        except Exception:
            log.exception("campaigns could not be dispatched")


def dispatch_all() -> int:
    """Dispatch every campaign that is due, each in its own transaction. Return how many calls were
    scheduled."""
    database, settings = context().database, context().settings.call_settings
    with database.transaction(read_only=True) as session:
        due = dispatcher.due(session, utcnow())
    scheduled = 0
    for campaign_id in due:
        fault = "campaign %s could not be dispatched"
        with skipping_faults(fault, campaign_id), database.transaction() as session:
            scheduled += dispatcher.dispatch(session, campaign_id, settings, utcnow())
    return scheduled
