"""Trying a failed job again, after a confirmation."""

from flask import url_for

from app.errors import Conflict, NotFound
from app.extensions import caller, transaction
from app.languages import gettext
from app.portal.operator import blueprint
from app.portal.web.blueprint import Page
from app.portal.web.confirmation import ConfirmationPage
from app.portal.web.messages import changing, redirect_with
from app.services import failed_jobs

JOB = "/operator/installation/jobs/<string(maxlength=300):job_id>/retry"
MESSAGES = {"send_mail", "send_webhook", "send_held_webhooks"}
"""Jobs whose messages others receive twice if they had arrived before the error."""


@blueprint.get(JOB)
def confirm_retry_job(job_id: str) -> Page:
    url = url_for("portal.operator.show_installation")
    try:
        with transaction(read_only=True) as session:
            workflow = failed_jobs.get(session, caller(), job_id)
    except (Conflict, NotFound) as error:
        return redirect_with(error.message, url, "warning")
    return _retry_confirmation(workflow, url).page()


def _retry_confirmation(workflow: str, installation_url: str) -> ConfirmationPage:
    return ConfirmationPage(
        gettext("Try the job “%(name)s” again?", name=workflow),
        _consequences(workflow),
        gettext("Try again"),
        gettext("Leave it failed"),
        installation_url,
        danger=False,
        crumbs=[(gettext("Installation"), installation_url)],
    )


def _consequences(workflow: str) -> list[str]:
    consequences = [gettext("The job starts again with its original input.")]
    if workflow in MESSAGES:
        repetition = gettext(
            "If the message had arrived before the error, it arrives a second time."
        )
        consequences.append(repetition)
    return [*consequences, gettext("If it fails again, it is listed again.")]


@blueprint.post(JOB)
def retry_job(job_id: str) -> Page:
    url = url_for("portal.operator.show_installation")
    with changing(url, Conflict, NotFound) as session:
        failed_jobs.run_again(session, caller(), job_id)
    return redirect_with(gettext("The job is queued again."), url)
