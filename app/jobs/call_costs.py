"""The costs of calls, which carriers name only some time after a call has ended."""

import logging
import time
from datetime import UTC, datetime
from itertools import islice
from uuid import UUID

from app.enums import CarrierKind
from app.gateways.carriers.base import NoCarrierAnswer, UnknownAtCarrier
from app.jobs.context import context
from app.services.calls import carrier_costs

log = logging.getLogger(__name__)

REQUESTS_A_RUN = 100
LONGEST_RUN_SECONDS = 60.0


def ask_for_costs() -> None:
    """Query the carriers for the costs of recent calls that have none yet."""
    for kind in context().carriers.charging():
        _ask_for_costs(kind)


def _ask_for_costs(kind: CarrierKind) -> None:
    """An account that doesn't answer is queried again at the next run. While none answers, the run
    ends after a minute, so that other tasks don't wait for each of them."""
    database, last_at = context().database, time.monotonic() + LONGEST_RUN_SECONDS
    with database.transaction(read_only=True) as session:
        inquiries = carrier_costs.costs_due(session, kind, datetime.now(UTC), REQUESTS_A_RUN)
    silent: set[UUID | None] = set()
    answering = (inquiry for inquiry in inquiries if inquiry.account_id not in silent)
    for inquiry in islice(answering, REQUESTS_A_RUN):
        try:
            state = context().carriers.of(kind, inquiry.account_id).look_up(inquiry)
        except NoCarrierAnswer as silence:
            log.warning("the carrier did not say what calls cost: %s", silence)
            if time.monotonic() > last_at:
                return
            if not isinstance(silence, UnknownAtCarrier):
                silent.add(inquiry.account_id)
            continue
        if state.cost is not None:
            with database.transaction() as session:
                carrier_costs.write_cost_of(session, inquiry.attempt_id, state)
