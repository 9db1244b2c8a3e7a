"""The worker's handling of waiting calls: it releases, stops and reschedules them."""

import logging
import threading
from uuid import UUID

from dbos import DBOS
from sqlalchemy.exc import SQLAlchemyError

from app.database import Database
from app.jobs.context import context
from app.jobs.observed import observe_job
from app.jobs.resilience import retry_on_database_outage, skipping_faults
from app.services.calls import waiting

log = logging.getLogger(__name__)

EVERY_SECONDS = 2.0
_FAULT = "call %s could not be checked"


def release_held(database: Database) -> None:
    """Queue the held calls that no pause covers any more, in order."""
    with database.transaction(read_only=True) as session:
        is_left = waiting.any_to_release(session)
    while is_left:
        with database.transaction() as session:
            is_left = waiting.release(session) == waiting.RELEASE_BATCH


def check_held(database: Database) -> None:
    """End held calls that a rule stops; each is checked about once a minute."""
    with database.transaction(read_only=True) as session:
        ids = waiting.list_due_held(session)
    for call_id in ids:
        with skipping_faults(_FAULT, call_id), database.transaction() as session:
            waiting.check_held(session, call_id)


def keep_checking_queued(stop: threading.Event) -> None:
    """End queued calls that a rule stops, in a separate thread, until ``stop`` is set."""
    last_id: UUID | None = None
    seconds = EVERY_SECONDS
    while not stop.wait(seconds):
        seconds = EVERY_SECONDS
        try:
            last_id, is_any = check_queued(last_id)
            if not is_any:
                seconds = max(EVERY_SECONDS, context().settings.queue_poll_seconds)
        except SQLAlchemyError as error:
            log.warning("queued calls were not checked (%s)", type(error).__name__)
        except Exception:
            log.exception("queued calls could not be checked")


def check_queued(last_id: UUID | None) -> tuple[UUID | None, bool]:
    """Check the calls after ``last_id``, as long as some of them are stopped. Returns where to go
    on (None for the beginning), and whether any call waits."""
    database = context().database
    while True:
        with database.transaction(read_only=True) as session:
            queued = waiting.list_queued(session, last_id)
            stopped = waiting.stopped_by_rules(session, queued)
        for call_id in stopped:
            with skipping_faults(_FAULT, call_id), database.transaction() as session:
                waiting.end_if_stopped(session, call_id)
        last_id = queued[-1] if len(queued) == waiting.QUEUED_BATCH else None
        if last_id is None or not stopped:
            return last_id, bool(queued)


@DBOS.workflow(name="reschedule_earlier")
@observe_job
def reschedule_earlier(partner_id: str, organization_id: str) -> None:
    """Move the postponed calls of an organization to an earlier time, or of all of the partner's if
    ``organization_id`` is empty.

    It stores no progress: a moved call isn't postponed any more, so after a kill the workflow
    starts again.
    """
    _reschedule_all(partner_id, organization_id)


@DBOS.workflow(name="bring_forward")
@observe_job
def reschedule_as_before(partner_id: str, organization_id: str) -> None:
    """`reschedule_earlier` under its previous name, for work that the previous version queued."""
    _reschedule_all(partner_id, organization_id)


def _reschedule_all(partner_id: str, organization_id: str) -> None:
    partner = UUID(partner_id)
    organization = UUID(organization_id) if organization_id else None
    last_id = _reschedule_some(partner, organization, None)
    while last_id is not None:
        last_id = _reschedule_some(partner, organization, last_id)


@retry_on_database_outage
def _reschedule_some(
    partner_id: UUID, organization_id: UUID | None, after: UUID | None
) -> UUID | None:
    with context().database.transaction() as session:
        return waiting.reschedule_earlier(
            session,
            partner_id,
            organization_id,
            after,
            max_call_minutes=context().settings.longest_call_minutes,
        )
