"""The health of the installation on one page: each part with its state, from cheap queries."""

import platform
import shutil
from datetime import datetime, timedelta
from typing import Any

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app.backups import records as backup_records
from app.database.migration import current, head
from app.enums import CarrierKind
from app.extensions import caller, settings, transaction
from app.gateways import job_queue
from app.gateways.job_queue import QueueDepth
from app.languages import gettext, lazy_gettext, ngettext
from app.models import utcnow
from app.portal.carriers.labels import STATE_WORDS, problem_text
from app.portal.web.blueprint import portal
from app.portal.web.calling_service import is_offline
from app.portal.web.formats import carrier_title, moment, number, size
from app.portal.web.user_timezone import zone
from app.services import installation, storage, workers
from app.services.pauses import carrier_health

QUEUE_NAMES = {
    job_queue.CALLS_QUEUE: lazy_gettext("Calls"),
    job_queue.IMPORT_QUEUE: lazy_gettext("Uploads"),
    job_queue.MAIL_QUEUE: lazy_gettext("Emails"),
    job_queue.WEBHOOK_QUEUE: lazy_gettext("Webhooks"),
    job_queue.CHECK_QUEUE: lazy_gettext("Checks of active calls"),
    job_queue.PICTURE_QUEUE: lazy_gettext("Pictures"),
    job_queue.SILENT_QUEUE: lazy_gettext("Calls without an answer from the carrier"),
    job_queue.EXPORT_QUEUE: lazy_gettext("Exports"),
    job_queue.JOBS_QUEUE: lazy_gettext("Other work"),
}
NAMES_IN_SENTENCE = {
    job_queue.CALLS_QUEUE: lazy_gettext("calls"),
    job_queue.IMPORT_QUEUE: lazy_gettext("uploads"),
    job_queue.MAIL_QUEUE: lazy_gettext("emails"),
    job_queue.WEBHOOK_QUEUE: lazy_gettext("webhooks"),
    job_queue.CHECK_QUEUE: lazy_gettext("checks of active calls"),
    job_queue.PICTURE_QUEUE: lazy_gettext("pictures"),
    job_queue.SILENT_QUEUE: lazy_gettext("calls without an answer from the carrier"),
    job_queue.EXPORT_QUEUE: lazy_gettext("exports"),
    job_queue.JOBS_QUEUE: lazy_gettext("other work"),
}
LATE = timedelta(minutes=5)
"""Work that waits longer is shown as delayed."""
LITTLE_SPACE = 0.1
"""A share of the disk."""

Row = dict[str, Any]


@portal.get("/operator/installation")
def operator_installation() -> str:
    with transaction(read_only=True) as session:
        queues = job_queue.depths(session)
        database = installation.database(session)
        migration = current(session.connection())
        parts = [
            _calling_service(session),
            _queues(queues),
            *_carriers(session),
            _emails(session),
            _migrations(migration),
            _disk(session),
            _backups(session),
        ]
        return render_template(
            "portal/operator/installation.html",
            parts=parts,
            queues=[
                (QUEUE_NAMES[queue.name], queue, _is_late(queue.oldest_at)) for queue in queues
            ],
            workers=workers.listing(session),
            silent=utcnow() - timedelta(seconds=settings().worker_silent_seconds),
            facts=[
                (gettext("Database"), f"{database.kind} {database.version}"),
                (gettext("Database size"), size(database.size)),
                (gettext("Migration"), migration),
                ("Python", platform.python_version()),
                (gettext("Environment"), settings().env),
            ],
        )


def _row(title: str, word: str, tone: str, text: str, endpoint: str | None = None) -> Row:
    url = url_for(endpoint) if endpoint else None
    return {"title": title, "word": word, "tone": tone, "text": text, "url": url}


def _calling_service(session: Session) -> Row:
    title = gettext("Calling service")
    if is_offline(session):
        text = gettext(
            "No worker answers. Calls, uploads, emails and webhooks wait. Start a worker."
        )
        return _row(title, gettext("Offline"), "danger", text)
    alive = len(workers.alive(session, settings().worker_silent_seconds))
    text = ngettext("%(num)s worker running.", "%(num)s workers running.", alive, num=number(alive))
    return _row(title, gettext("Online"), "success", text)


def _queues(queues: list[QueueDepth]) -> Row:
    title = gettext("Queues")
    late = [str(NAMES_IN_SENTENCE[queue.name]) for queue in queues if _is_late(queue.oldest_at)]
    waiting = sum(queue.waiting for queue in queues)
    if late:
        text = gettext(
            "Work has waited for more than 5 minutes: %(queues)s.", queues=", ".join(late)
        )
        return _row(title, gettext("Delayed"), "warning", text)
    text = (
        gettext("%(number)s waiting.", number=number(waiting))
        if waiting
        else gettext("Nothing is waiting.")
    )
    return _row(title, gettext("On time"), "success", text)


def _is_late(oldest_at: datetime | None) -> bool:
    return oldest_at is not None and oldest_at < utcnow() - LATE


def _carriers(session: Session) -> list[Row]:
    """The carriers that were used in the last day, and the one of the settings."""
    found = carrier_health.carriers(session)
    rows = []
    for each in found:
        word, tone = STATE_WORDS[each.state]
        text = problem_text(each, 0, 1) if each.state.is_problem else ""
        rows.append(_row(carrier_title(each.carrier), word, tone, text, "portal.line_health"))
    chosen = CarrierKind(settings().carrier)
    if chosen not in {each.carrier for each in found}:
        text = gettext("No requests in the last 24 hours.")
        word = gettext("Not used")
        rows.append(_row(carrier_title(chosen), word, "neutral", text, "portal.line_health"))
    return rows


def _emails(session: Session) -> Row:
    title = gettext("Emails")
    found = installation.mails(session)
    if not settings().smtp_url:
        text = gettext("No mail server is set: emails are kept on this machine.")
        return _row(title, gettext("Not sent"), "warning", text)
    text = gettext(
        "Last 24 hours: %(sent)s sent, %(waiting)s waiting, %(failed)s failed.",
        sent=number(found.sent),
        waiting=number(found.waiting),
        failed=number(found.failed),
    )
    if found.failed:
        return _row(title, gettext("Failures"), "warning", text)
    if _is_late(found.oldest_at):
        return _row(title, gettext("Delayed"), "warning", text)
    return _row(title, gettext("Works"), "success", text)


def _migrations(found: str | None) -> Row:
    title = gettext("Migrations")
    if found == head():
        return _row(title, gettext("Up to date"), "success", "")
    text = gettext(
        "The database is at %(found)s, this version needs %(needed)s. Run the migrations.",
        found=found or "none",
        needed=head(),
    )
    return _row(title, gettext("Behind"), "danger", text)


def _disk(session: Session) -> Row:
    used = storage.used_by_all(session, caller())
    disk = shutil.disk_usage(settings().instance_dir)
    title = gettext("Storage")
    text = gettext(
        "%(used)s of uploads and images. %(free)s of %(total)s free.",
        used=size(used),
        free=size(disk.free),
        total=size(disk.total),
    )
    if disk.free < disk.total * LITTLE_SPACE:
        return _row(title, gettext("Little space"), "warning", text, "portal.operator_storage")
    return _row(title, gettext("Enough space"), "success", text, "portal.operator_storage")


def _backups(session: Session) -> Row:
    """Backups that others make, such as those of a cloud, are not known here."""
    title = gettext("Backups")
    if settings().backup_dir is None:
        unset = gettext("No folder for daily backups is set.")
        return _row(title, gettext("Off"), "neutral", unset)
    found = backup_records.state(session)
    done = found.succeeded
    text = gettext("No backup has been made yet.")
    if done is not None:
        at, octets = moment(done.finished_at, zone()), size(done.size or 0)
        text = gettext("Last backup %(moment)s, %(size)s.", moment=at, size=octets)
    if found.last is not None and found.last.problem:
        failed = gettext("The last attempt failed: %(problem)s", problem=found.last.problem)
        return _row(title, gettext("Failed"), "danger", f"{failed} {text}")
    if found.is_overdue:
        return _row(title, gettext("Overdue"), "warning", text)
    if done is not None and done.verified_at is None:
        see = gettext("See the log of the worker.")
        return _row(title, gettext("Not verified"), "warning", f"{text} {see}")
    tested = gettext("Its database was restored as a test.")
    return _row(title, gettext("Works"), "success", f"{text} {tested}")
