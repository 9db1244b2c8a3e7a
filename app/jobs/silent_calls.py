"""Calls that `place_call` handed over because their carrier gives no answer about them.

Each query is a separate workflow, so that such a call takes no slot of its organization.
"""

import logging
from datetime import datetime
from uuid import UUID

from dbos import DBOS

from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.place_call import NextStep, follow
from app.jobs.resilience import retry_on_database_outage
from app.models import utcnow
from app.services.calls import attempts, carrier_reports, silence

log = logging.getLogger(__name__)


@DBOS.workflow(name="follow_silent_call")
@observe_job
def follow_silent_call(attempt_id: str, query_number: int, silent_since: str) -> None:
    """Query the carrier about the call, and enqueue the next query unless it has ended.

    ``silent_since`` is in ISO 8601, and empty if the carrier answered the last query.
    """
    attempt, since = UUID(attempt_id), datetime.fromisoformat(silent_since or utcnow().isoformat())
    try:
        step = _query_carrier(attempt)
        if step is not None:
            _continue_later(attempt, query_number + 1, since if step.is_silent else None)
    except Exception:
        log.exception("a call could not be carried on")
        with context().relaxed_database.transaction() as session:
            attempts.end_unknown(session, attempt)


@retry_on_database_outage
def _query_carrier(attempt_id: UUID) -> NextStep | None:
    with context().relaxed_database.transaction(read_only=True) as session:
        carrier, _ = carrier_reports.carrier_inquiry(session, attempt_id)
    return follow(attempt_id, carrier)


@retry_on_database_outage
def _continue_later(attempt_id: UUID, query_number: int, silent_since: datetime | None) -> None:
    minutes = context().settings.silent_call_minutes
    with context().database.transaction() as session:
        if silent_since is not None:
            silence.release_slot(session, attempt_id, silent_since, minutes)
        silence.enqueue_query(session, attempt_id, query_number, silent_since)
