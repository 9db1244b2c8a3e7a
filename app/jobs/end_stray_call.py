"""Ends a call that came to light after its attempt had been given up as never placed."""

import logging
from uuid import UUID

from dbos import DBOS

from app.gateways.carriers.base import NoCarrierAnswer
from app.jobs.context import context
from app.jobs.outage import outlasts_outages
from app.services.calls import progress

log = logging.getLogger(__name__)

TRIES = 10
PAUSE_SECONDS = 3.0


@DBOS.workflow(name="end_stray_call")
def end_stray_call(attempt_id: str) -> None:
    """Asks the carrier to end the call until it answers, for half a minute."""
    for _ in range(TRIES):
        if end(attempt_id):
            return
        DBOS.sleep(PAUSE_SECONDS)


@DBOS.step(name="end")
@outlasts_outages
def end(attempt_id: str) -> bool:
    """Whether the carrier has answered."""
    with context().database.transaction(read_only=True) as session:
        kind, inquiry = progress.stray(session, UUID(attempt_id))
    log.warning("a call came to light after its attempt had been given up; ending it")
    try:
        context().lines.of(kind, inquiry.account_id).hang_up(inquiry)
    except NoCarrierAnswer:
        return False
    return True
