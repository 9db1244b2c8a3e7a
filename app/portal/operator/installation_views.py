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
from app.models import utcnow
from app.portal.carriers.labels import STATE_WORDS, problem_text
from app.portal.web.blueprint import portal
from app.portal.web.calling_service import is_offline
from app.portal.web.formats import carrier_title, moment, number, plural, size
from app.portal.web.user_timezone import zone
from app.services import installation, storage, workers
from app.services.pauses import carrier_health

QUEUE_NAMES = {
    job_queue.CALLS_QUEUE: "Calls",
    job_queue.IMPORT_QUEUE: "Uploads",
    job_queue.MAIL_QUEUE: "Emails",
    job_queue.WEBHOOK_QUEUE: "Webhooks",
    job_queue.CHECK_QUEUE: "Checks of active calls",
    job_queue.PICTURE_QUEUE: "Pictures",
    job_queue.JOBS_QUEUE: "Other work",
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
                ("Database", f"{database.kind} {database.version}"),
                ("Database size", size(database.size)),
                ("Migration", migration),
                ("Python", platform.python_version()),
                ("Environment", settings().env),
            ],
        )


def _row(title: str, word: str, tone: str, text: str, endpoint: str | None = None) -> Row:
    url = url_for(endpoint) if endpoint else None
    return {"title": title, "word": word, "tone": tone, "text": text, "url": url}


def _calling_service(session: Session) -> Row:
    if is_offline(session):
        text = "No worker answers. Calls, uploads, emails and webhooks wait. Start a worker."
        return _row("Calling service", "Offline", "danger", text)
    alive = len(workers.alive(session, settings().worker_silent_seconds))
    return _row("Calling service", "Online", "success", f"{plural(alive, 'worker')} running.")


def _queues(queues: list[QueueDepth]) -> Row:
    late = [QUEUE_NAMES[queue.name].lower() for queue in queues if _is_late(queue.oldest_at)]
    waiting = sum(queue.waiting for queue in queues)
    if late:
        text = f"Work has waited for more than 5 minutes: {', '.join(late)}."
        return _row("Queues", "Delayed", "warning", text)
    text = f"{number(waiting)} waiting." if waiting else "Nothing is waiting."
    return _row("Queues", "On time", "success", text)


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
        text = "No requests in the last 24 hours."
        rows.append(_row(carrier_title(chosen), "Not used", "neutral", text, "portal.line_health"))
    return rows


def _emails(session: Session) -> Row:
    found = installation.mails(session)
    if not settings().smtp_url:
        text = "No mail server is set: emails are kept on this machine."
        return _row("Emails", "Not sent", "warning", text)
    text = f"Last 24 hours: {number(found.sent)} sent, {number(found.waiting)} waiting, "
    text += f"{number(found.failed)} failed."
    if found.failed:
        return _row("Emails", "Failures", "warning", text)
    if _is_late(found.oldest_at):
        return _row("Emails", "Delayed", "warning", text)
    return _row("Emails", "Works", "success", text)


def _migrations(found: str | None) -> Row:
    if found == head():
        return _row("Migrations", "Up to date", "success", "")
    text = f"The database is at {found or 'none'}, this version needs {head()}. Run the migrations."
    return _row("Migrations", "Behind", "danger", text)


def _disk(session: Session) -> Row:
    used = storage.used_by_all(session, caller())
    disk = shutil.disk_usage(settings().instance_dir)
    text = f"{size(used)} of uploads and images. {size(disk.free)} of {size(disk.total)} free."
    if disk.free < disk.total * LITTLE_SPACE:
        return _row("Storage", "Little space", "warning", text, "portal.operator_storage")
    return _row("Storage", "Enough space", "success", text, "portal.operator_storage")


def _backups(session: Session) -> Row:
    """Backups that others make, such as those of a cloud, are not known here."""
    if settings().backup_dir is None:
        return _row("Backups", "Off", "neutral", "No folder for daily backups is set.")
    found = backup_records.state(session)
    done = found.succeeded
    text = (
        f"Last backup {moment(done.finished_at, zone())}, {size(done.size or 0)}." if done else ""
    )
    if found.last is not None and found.last.problem:
        text = f"The last attempt failed: {found.last.problem} {text}".strip()
        return _row("Backups", "Failed", "danger", text)
    if found.is_overdue:
        return _row("Backups", "Overdue", "warning", text or "No backup has been made yet.")
    if done is not None and done.verified_at is None:
        return _row("Backups", "Not verified", "warning", f"{text} See the log of the worker.")
    return _row("Backups", "Works", "success", f"{text} Its database was restored as a test.")
