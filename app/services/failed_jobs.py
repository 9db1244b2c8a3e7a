"""Run a failed job again, if that is safe."""

from sqlalchemy.orm import Session

from app.errors import Conflict, NotFound
from app.gateways import failed_jobs
from app.languages import gettext
from app.policy import Permission
from app.policy.caller import Caller
from app.services import audit

REPEATABLE = frozenset(
    {
        "check_domain",
        "check_price",
        "check_prices",
        "check_webhook_host",
        "fetch_picture",
        "fetch_recording",
        "read_carrier_numbers",
        "send_held_webhooks",
        "send_mail",
        "send_plans",
        "send_webhook",
        "test_carrier_account",
        "test_processor_account",
        "write_export",
        "write_transcript",
    }
)
"""Workflows that are safe to repeat: they do nothing if their work is done, or do the same again.
Those of calls never are: a call could be placed twice."""


def get(session: Session, caller: Caller, job_id: str) -> str:
    """Return the workflow of a job that can be run again. Raises `Forbidden`, `NotFound`
    (``job_not_found``, also once it was run again) and `Conflict` (``not_repeatable``)."""
    caller.require(Permission.PARTNER_CREATE)  # which only operators have
    workflow = None if "\0" in job_id else failed_jobs.failed_workflow(session, job_id)
    if workflow is None:
        raise NotFound(gettext("There is no such failed job."), "job_not_found")
    if workflow not in REPEATABLE:
        message = gettext("This job can’t be tried again here.")
        raise Conflict(message, "not_repeatable")
    return workflow


def run_again(session: Session, caller: Caller, job_id: str) -> None:
    """Queue a failed job once more, from its beginning. Raises as `get`, and `Conflict`
    (``job_unreadable``) if another version wrote it."""
    workflow = get(session, caller, job_id)
    if not failed_jobs.run_again(session, job_id):
        message = gettext("This version can’t read the job, so it wasn’t tried again.")
        raise Conflict(message, "job_unreadable")
    audit.record(
        session,
        caller,
        action="job.run_again",
        target_type="installation",
        target_id=job_id,
        target=workflow,
    )
