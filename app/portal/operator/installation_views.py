"""The health of the installation on one page: each part with its state, from cheap queries."""

import platform
from datetime import timedelta
from typing import Any

from flask import render_template, url_for
from sqlalchemy.orm import Session

from app import VERSION
from app.backups import records as backup_records
from app.database import partitions
from app.database.migration import Fit, fit, head
from app.disk_space import FileSystem, file_systems
from app.enums import CarrierKind
from app.extensions import caller, settings, transaction
from app.gateways import job_queue
from app.gateways.job_queue import QueueDepth
from app.languages import gettext, lazy_gettext, ngettext
from app.models import utcnow
from app.portal.carriers.labels import STATE_WORDS, problem_text
from app.portal.operator.views import keeps_mails
from app.portal.personal_data.labels import KINDS
from app.portal.personal_data.settings_views import kept
from app.portal.web.blueprint import portal
from app.portal.web.calling_service import is_offline
from app.portal.web.formats import carrier_title, moment, number, size
from app.portal.web.user_timezone import zone
from app.services import installation, storage, workers
from app.services.installation import FAILED_WITHIN, is_late
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
MOST_FAILED = 20
"""Failed jobs that are listed, the newest ones."""
Row = dict[str, Any]

FINE = ("success", "neutral")
"""The tones of parts that need no attention."""


@portal.get("/operator/installation")
def operator_installation() -> str:
    with transaction(read_only=True) as session:
        queues = job_queue.depths(session)
        served = workers.by_queue(session, settings().worker_silent_seconds)
        unserved = workers.unserved(served)
        database = installation.database(session)
        since = utcnow() - FAILED_WITHIN
        failed = job_queue.count_failed(session, since)
        migration = fit(session.connection())
        parts = [
            _calling_service(session),
            _queues(queues, unserved),
            _failed_jobs(failed),
            *_carriers(session),
            _emails(session),
            _migrations(migration),
            *_months(session),
            _disk(session),
            _backups(session),
        ]
        return render_template(
            "portal/operator/installation.html",
            fine=FINE,
            parts=sorted(parts, key=lambda part: part["tone"] in FINE),
            queues=[
                (QUEUE_NAMES[each.name], each, each.name in unserved, is_late(each.oldest_at))
                for each in queues
                if each.waiting or each.running or each.name in unserved
            ],
            workers=workers.listing(session),
            failed=[
                (QUEUE_NAMES.get(each.queue, each.queue), each)
                for each in job_queue.newest_failed(session, since, MOST_FAILED)
            ],
            failed_count=failed,
            kept=[(KINDS[each.kind], each) for each in kept(session)],
            silent=utcnow() - timedelta(seconds=settings().worker_silent_seconds),
            facts=[
                (gettext("Version"), VERSION),
                (gettext("Database"), f"{database.kind} {database.version}"),
                (gettext("Database size"), size(database.size)),
                (gettext("Migration"), migration.found),
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
        return _row(title, gettext("Offline"), "danger", text, "portal.operator_calls")
    alive = len(workers.alive(session, settings().worker_silent_seconds))
    text = ngettext("%(num)s worker running.", "%(num)s workers running.", alive)
    return _row(title, gettext("Online"), "success", text, "portal.operator_calls")


def _queues(queues: list[QueueDepth], unserved: list[str]) -> Row:
    title = gettext("Queues")
    if unserved:
        names = ", ".join(str(NAMES_IN_SENTENCE[name]) for name in unserved)
        text = gettext("No worker does this work: %(queues)s. Start a worker for it.", queues=names)
        return _row(title, gettext("No worker"), "danger", text)
    late = [str(NAMES_IN_SENTENCE[queue.name]) for queue in queues if is_late(queue.oldest_at)]
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


def _failed_jobs(count: int) -> Row:
    title = gettext("Failed jobs")
    if not count:
        return _row(title, gettext("None"), "success", gettext("No job failed in the last 7 days."))
    text = ngettext(
        "%(num)s job failed in the last 7 days and isn’t tried again.",
        "%(num)s jobs failed in the last 7 days and aren’t tried again.",
        count,
    )
    row = _row(title, gettext("Failures"), "warning", text)
    return row | {"url": "#failed-jobs"}


def _carriers(session: Session) -> list[Row]:
    """The carriers that were used in the last day, and the one of the settings."""
    found = carrier_health.carriers(session)
    rows = []
    for each in found:
        word, tone = STATE_WORDS[each.state]
        text = (
            problem_text(each, 0, 1)
            if each.state.is_problem
            else gettext("Used in the last 24 hours.")
        )
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
        return _row(
            title, gettext("Not sent"), "warning", text, "portal.outbox" if keeps_mails() else None
        )
    text = gettext(
        "Last 24 hours: %(sent)s sent, %(waiting)s waiting, %(failed)s failed.",
        sent=number(found.sent),
        waiting=number(found.waiting),
        failed=number(found.failed),
    )
    if found.failed:
        return _row(title, gettext("Failures"), "warning", text)
    if is_late(found.oldest_at):
        return _row(title, gettext("Delayed"), "warning", text)
    return _row(title, gettext("Works"), "success", text)


def _migrations(found: Fit) -> Row:
    title = gettext("Migrations")
    if found.is_newest:
        text = gettext("The database is at %(found)s, the newest.", found=found.found)
        return _row(title, gettext("Up to date"), "success", text)
    if not found.problem:
        text = gettext(
            "The database is at %(found)s, this version at %(known)s. They work together.",
            found=found.found or "none",
            known=head(),
        )
        return _row(title, gettext("Compatible"), "success", text)
    text = gettext(
        "The database is at %(found)s, this version needs %(needed)s. Run the migrations.",
        found=found.found or "none",
        needed=head(),
    )
    return _row(title, gettext("Behind"), "danger", text)


def _months(session: Session) -> list[Row]:
    """Only a problem is shown: SQLite has no partitions."""
    found = partitions.state(session.connection(), utcnow())
    if found.is_well:
        return []
    text = gettext("Rows of these tables fit no month: %(tables)s.", tables=", ".join(found.strays))
    if found.missing:
        tables = ", ".join(found.missing)
        text = gettext("Next month is missing for these tables: %(tables)s.", tables=tables)
    return [_row(gettext("Monthly tables"), gettext("Needs attention"), "warning", text)]


def _disk(session: Session) -> Row:
    """Each file system that `flask doctor` looks at."""
    used = storage.used_by_all(session, caller())
    found = file_systems(settings())
    stored = gettext("%(used)s of uploads and images.", used=size(used))
    text = " ".join([stored, *(_space(each) for each in found)])
    word, tone = gettext("Enough space"), "success"
    if any(each.is_almost_full for each in found):
        word, tone = gettext("Almost full"), "danger"
    elif any(each.is_low for each in found):
        word, tone = gettext("Little space"), "warning"
    return _row(gettext("Storage"), word, tone, text, "portal.operator_storage")


def _space(found: FileSystem) -> str:
    if found.takes_few_files:
        files = number(found.free_files or 0)
        return gettext("%(folder)s: only %(files)s more files.", folder=found.folder, files=files)
    return gettext(
        "%(folder)s: %(free)s of %(total)s free.",
        folder=found.folder,
        free=size(found.free),
        total=size(found.total),
    )


def _backups(session: Session) -> Row:
    """Backups that others make, such as those of a cloud, are not known here."""
    title = gettext("Backups")
    if not settings().backup_place:
        unset = gettext(
            "No folder for daily backups is set. Backups that others make aren’t known here."
        )
        guide = gettext(
            "Set PORTAL_BACKUP_DIR or PORTAL_BACKUP_BUCKET: see “Backups” in the operations guide."
        )
        tone = "warning" if settings().env == "production" else "neutral"
        return _row(title, gettext("Off"), tone, f"{unset} {guide}")
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
