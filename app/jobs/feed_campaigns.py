"""Hands in the calls of campaigns that run, a few ahead, in a thread of its own.

Everything it knows is in the database: it may be killed anywhere, and several workers take turns.
"""

import logging
import threading

from sqlalchemy.exc import SQLAlchemyError

from app.enums import CarrierKind
from app.gateways.wake import Bell
from app.jobs.context import context
from app.models import utcnow
from app.services.outreach import feeding

log = logging.getLogger(__name__)

EVERY_SECONDS = 1.0


def keep_feeding(bell: Bell, stop: threading.Event) -> None:
    """Looks after every running campaign until ``stop`` is set."""
    seconds = EVERY_SECONDS
    while not bell.wait(seconds, stop):
        seconds = EVERY_SECONDS
        try:
            feed_all()
            with context().database.transaction(read_only=True) as session:
                if not feeding.any_runs(session):
                    seconds = max(EVERY_SECONDS, context().settings.queue_poll_seconds)
        except SQLAlchemyError as error:
            log.warning("campaigns wait for the database (%s)", type(error).__name__)
        except Exception:
            log.exception("campaigns could not be looked after")


def feed_all() -> int:
    """One turn of every campaign that is due, each in a transaction of its own; how many calls
    were handed in."""
    database, settings = context().database, context().settings
    lines = feeding.Lines(
        carrier=CarrierKind(settings.carrier),
        calls_at_once=settings.calls_per_organization,
        expiry_hours=settings.call_expiry_hours,
    )
    with database.transaction(read_only=True) as session:
        waiting = feeding.due(session, utcnow())
    fed = 0
    for campaign_id in waiting:
        with database.transaction() as session:
            fed += feeding.feed(session, campaign_id, lines, utcnow())
    return fed
