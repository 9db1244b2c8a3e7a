"""The health of the installation on one page: its parts, queues, workers and failed jobs. On
another one, whether its stored figures agree with the rows that they count."""

import platform
from datetime import timedelta
from functools import partial
from typing import Any

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app import VERSION
from app.database.migration import SchemaCompatibility, check_schema
from app.extensions import caller, settings, transaction
from app.gateways import failed_jobs, job_queue
from app.gateways.failed_jobs import FailedJob
from app.gateways.job_queue import QueueDepth
from app.languages import gettext, lazy_gettext
from app.models import utcnow
from app.portal.operator import blueprint
from app.portal.operator.labels import (
    FIGURE_LABELS,
    compared_label,
    deleted_label,
    difference_message,
    scope_label,
)
from app.portal.operator.system_checks import QueuedWork, load_queued_work, run_checks
from app.portal.personal_data.labels import KINDS
from app.portal.personal_data.settings_views import retention_rows
from app.portal.web.formats import size
from app.services import figure_check, installation
from app.services.failed_jobs import REPEATABLE
from app.services.installation import FAILED_WITHIN, DatabaseServer, is_late
from app.services.spending.rates import currency_of

QUEUE_LABELS = {
    job_queue.CALLS_QUEUE: lazy_gettext("Calls"),
    job_queue.IMPORT_QUEUE: lazy_gettext("Uploads"),
    job_queue.MAIL_QUEUE: lazy_gettext("Emails"),
    job_queue.WEBHOOK_QUEUE: lazy_gettext("Webhooks"),
    job_queue.CHECK_QUEUE: lazy_gettext("Connection checks"),
    job_queue.PICTURE_QUEUE: lazy_gettext("Pictures"),
    job_queue.SILENT_QUEUE: lazy_gettext("Calls without an answer from the carrier"),
    job_queue.EXPORT_QUEUE: lazy_gettext("Exports"),
    job_queue.JOBS_QUEUE: lazy_gettext("Other work"),
}
MAX_FAILED = 20
"""Maximum failed jobs in the list, newest first."""


@blueprint.get("/operator/installation")
def show_installation() -> str:
    with transaction(read_only=True) as session:
        now, migration = load_queued_work(session), check_schema(session.connection())
        return render_template(
            "portal/operator/installation.html",
            **_checks_context(session, now, migration),
            **_work_context(session, now),
            retained=[
                (KINDS[row.kind], row, deleted_label(row.ran_at, row.removed))
                for row in retention_rows(session)
            ],
            details=_installation_details(installation.database(session), migration.revision),
        )


def _checks_context(
    session: Session, queued_work: QueuedWork, migration: SchemaCompatibility
) -> dict[str, Any]:
    """Return the checks of the installation: those that need attention, and the others."""
    wrong, fine = run_checks(
        session, queued_work, migration, figure_check.latest_days(session, caller())
    )
    return {"wrong": wrong, "fine": fine}


def _work_context(session: Session, queued_work: QueuedWork) -> dict[str, Any]:
    """Return the queues, the workers and the newest failed jobs."""
    return {
        "queues": _list_queues(queued_work),
        "workers": queued_work.workers.all,
        "failed": _list_failed_jobs(session),
        "failed_count": queued_work.failed,
        "silent": utcnow() - timedelta(seconds=settings().worker_silent_seconds),
    }


def _list_queues(queued_work: QueuedWork) -> list[tuple[str, QueueDepth, bool, bool]]:
    """Return the queues with work or without a worker: name, numbers, unserved, late."""
    return [
        (QUEUE_LABELS[each.name], each, each.name in queued_work.unserved, is_late(each.oldest_at))
        for each in queued_work.queues
        if each.waiting or each.running or each.name in queued_work.unserved
    ]


def _list_failed_jobs(session: Session) -> list[tuple[str, FailedJob, bool]]:
    """Return the newest failed jobs with the names of their queues, and whether each can be tried
    again."""
    jobs = failed_jobs.newest_failed(session, utcnow() - FAILED_WITHIN, MAX_FAILED)
    return [
        (QUEUE_LABELS.get(each.queue, each.queue), each, each.workflow in REPEATABLE)
        for each in jobs
    ]


def _installation_details(
    database: DatabaseServer, migration: str | None
) -> list[tuple[str | None, ...]]:
    """Return names and values, some with a URL."""
    return [
        (gettext("Version"), VERSION),
        (gettext("Database"), f"{database.kind} {database.version}"),
        (gettext("Database size"), size(database.size)),
        (gettext("Migration"), migration),
        ("Python", platform.python_version()),
        (gettext("Environment"), settings().env),
        (gettext("API documentation"), gettext("Open"), "/api/docs"),
        (
            gettext("Legacy API"),
            gettext("View clients"),
            url_for("portal.legacy_migration.show_migration"),
        ),
    ]


@blueprint.get("/operator/figures")
def show_figures() -> str:
    with transaction(read_only=True) as session:
        check = figure_check.latest(session, caller())
        format_difference = partial(
            difference_message, names=check.names, currency=currency_of(session)
        )
    return render_template(
        "portal/operator/figures.html",
        check=check,
        names=FIGURE_LABELS,
        scope_label=scope_label,
        compared_label=compared_label,
        difference_message=format_difference,
    )
