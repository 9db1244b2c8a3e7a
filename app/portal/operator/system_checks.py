"""The checks of the installation's parts, each with its status, from cheap queries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import url_for
from sqlalchemy.orm import Session

from app.backups import records as backup_records
from app.database import partitions
from app.database.migration import SchemaCompatibility, head
from app.disk_space import FileSystem, file_systems
from app.enums import CarrierKind
from app.extensions import caller, settings
from app.gateways import failed_jobs, job_queue
from app.gateways.job_queue import QueueDepth
from app.languages import gettext, lazy_gettext, ngettext, pgettext
from app.models import utcnow
from app.portal.carriers.labels import STATUS_LABELS, problem_message
from app.portal.operator.views import keeps_mails
from app.portal.web.formats import carrier_title, day, long_datetime, number, size
from app.portal.web.user_timezone import zone
from app.services import figure_check, installation, storage, workers
from app.services.figure_check import CheckedDay
from app.services.installation import FAILED_WITHIN, is_late
from app.services.pauses import carrier_health
from app.services.workers import RunningWorkers

NAMES_IN_SENTENCE = {
    job_queue.CALLS_QUEUE: lazy_gettext("calls"),
    job_queue.IMPORT_QUEUE: lazy_gettext("uploads"),
    job_queue.MAIL_QUEUE: lazy_gettext("emails"),
    job_queue.WEBHOOK_QUEUE: lazy_gettext("webhooks"),
    job_queue.CHECK_QUEUE: lazy_gettext("connection checks"),
    job_queue.PICTURE_QUEUE: lazy_gettext("pictures"),
    job_queue.SILENT_QUEUE: lazy_gettext("calls without an answer from the carrier"),
    job_queue.EXPORT_QUEUE: lazy_gettext("exports"),
    job_queue.JOBS_QUEUE: lazy_gettext("other work"),
}
_HEALTHY_TONES = ("success", "neutral")
"""The tones of checks that need no attention."""


@dataclass(frozen=True, slots=True)
class SystemCheck:
    """The status of a part of the installation: its ``word`` in the ``tone`` of its colour, a
    sentence, and the page with more."""

    title: str
    word: str
    tone: str
    text: str
    url: str | None


@dataclass(frozen=True, slots=True)
class QueuedWork:
    """The workers, the queues, those that no worker serves, and the number of failed jobs."""

    workers: RunningWorkers
    queues: list[QueueDepth]
    unserved: list[str]
    failed: int


def load_queued_work(session: Session) -> QueuedWork:
    """Read the workers, the queues and the failed jobs of the last days."""
    running = workers.listing(session, settings().worker_silent_seconds)
    unserved = workers.unserved_queues(workers.by_queue(running.online))
    failed = failed_jobs.count_failed(session, utcnow() - FAILED_WITHIN)
    return QueuedWork(running, job_queue.depths(session), unserved, failed)


def run_checks(
    session: Session,
    queued_work: QueuedWork,
    migration: SchemaCompatibility,
    checked: Sequence[CheckedDay],
) -> tuple[list[SystemCheck], list[SystemCheck]]:
    """Return the checks that need attention, and the others."""
    checks = [
        _check_calling_service(queued_work.workers),
        _check_queues(queued_work.queues, queued_work.unserved),
        _check_failed_jobs(queued_work.failed),
        *_check_carriers(session),
        _check_emails(session),
        _check_figures(checked),
        _check_migrations(migration),
        *_check_months(session),
        _check_disk(session),
        _check_backups(session),
    ]
    return (
        [check for check in checks if check.tone not in _HEALTHY_TONES],
        [check for check in checks if check.tone in _HEALTHY_TONES],
    )


def _make_check(
    title: str, word: str, tone: str, text: str, endpoint: str | None = None
) -> SystemCheck:
    return SystemCheck(title, word, tone, text, url_for(endpoint) if endpoint else None)


def _check_calling_service(running: RunningWorkers) -> SystemCheck:
    title = gettext("Calling service")
    if not running.online:
        text = gettext(
            "No worker answers. Calls, uploads, emails and webhooks wait. Start a worker."
        )
        return _make_check(title, gettext("Offline"), "danger", text, "portal.operator.list_calls")
    if silent := len(running.silent):
        text = ngettext(
            "%(num)s worker gives no answer. Restart it unless another one replaced it.",
            "%(num)s workers give no answer. Restart them unless others replaced them.",
            silent,
        )
        check = _make_check(title, gettext("No answer"), "warning", text)
        return replace(check, url="#workers")
    text = ngettext("%(num)s worker running.", "%(num)s workers running.", len(running.online))
    return _make_check(title, gettext("Online"), "success", text, "portal.operator.list_calls")


def _check_queues(queues: list[QueueDepth], unserved: list[str]) -> SystemCheck:
    title = gettext("Queues")
    if unserved:
        names = ", ".join(str(NAMES_IN_SENTENCE[name]) for name in unserved)
        text = gettext("No worker does this work: %(queues)s. Start a worker for it.", queues=names)
        return _make_check(title, gettext("No worker"), "danger", text)
    late = [str(NAMES_IN_SENTENCE[queue.name]) for queue in queues if is_late(queue.oldest_at)]
    waiting = sum(queue.waiting for queue in queues)
    if late:
        text = gettext(
            "Work has waited for more than 5 minutes: %(queues)s.", queues=", ".join(late)
        )
        return _make_check(title, gettext("Delayed"), "warning", text)
    text = (
        gettext("%(number)s waiting.", number=number(waiting))
        if waiting
        else gettext("Nothing is waiting.")
    )
    return _make_check(title, gettext("On time"), "success", text)


def _check_failed_jobs(count: int) -> SystemCheck:
    title = gettext("Failed jobs")
    if not count:
        return _make_check(
            title, pgettext("jobs", "None"), "success", gettext("No job failed in the last 7 days.")
        )
    text = ngettext(
        "%(num)s job failed in the last 7 days and isn’t tried again.",
        "%(num)s jobs failed in the last 7 days and aren’t tried again.",
        count,
    )
    check = _make_check(title, gettext("Failures"), "warning", text)
    return replace(check, url="#failed-jobs")


def _check_carriers(session: Session) -> list[SystemCheck]:
    """Return the carriers that were used in the last day, and the one of the settings."""
    carriers = carrier_health.carriers(session)
    rows = []
    for each in carriers:
        word, tone = STATUS_LABELS[each.status]
        if each.status.is_problem:
            text = problem_message(each, 0, 1)
        elif each.answered_at:
            last_answer = long_datetime(each.answered_at, zone())
            text = gettext("Last answer on %(moment)s.", moment=last_answer)
        else:
            text = gettext("No answer in the last 24 hours.")
        rows.append(
            _make_check(
                carrier_title(each.carrier), word, tone, text, "portal.carriers.show_carrier_status"
            )
        )
    configured = CarrierKind(settings().carrier)
    if configured not in {each.carrier for each in carriers}:
        text = gettext("No requests in the last 24 hours.")
        word = gettext("Not used")
        rows.append(
            _make_check(
                carrier_title(configured),
                word,
                "neutral",
                text,
                "portal.carriers.show_carrier_status",
            )
        )
    return rows


def _check_emails(session: Session) -> SystemCheck:
    title = gettext("Emails")
    mails = installation.mails(session)
    if keeps_mails():
        text = gettext("Development mode: emails are kept in the outbox.")
        return _make_check(
            title, pgettext("emails", "Kept"), "neutral", text, "portal.operator.list_mails"
        )
    if not settings().smtp_url:
        text = gettext("No mail server is set: emails are kept on this machine.")
        return _make_check(title, gettext("Not sent"), "warning", text)
    text = gettext(
        "Last 24 hours: %(sent)s sent, %(waiting)s waiting, %(failed)s failed.",
        sent=number(mails.sent),
        waiting=number(mails.waiting),
        failed=number(mails.failed),
    )
    if mails.failed:
        return _make_check(title, gettext("Failures"), "warning", text)
    if is_late(mails.oldest_at):
        return _make_check(title, gettext("Delayed"), "warning", text)
    return _make_check(title, gettext("Works"), "success", text)


def _check_figures(checked: Sequence[CheckedDay]) -> SystemCheck:
    title = gettext("Figure check")
    if not checked:
        text = gettext("The first check runs in the night.")
        return _make_check(
            title, gettext("Not checked yet"), "neutral", text, "portal.operator.show_figures"
        )
    differences = figure_check.count_differences(checked)
    first, last = day(checked[-1].day), day(checked[0].day)
    if differences:
        text = ngettext(
            "%(num)s stored total from %(first)s to %(last)s differs from its calls.",
            "%(num)s stored totals from %(first)s to %(last)s differ from their calls.",
            differences,
            first=first,
            last=last,
        )
        return _make_check(
            title, gettext("Differences"), "danger", text, "portal.operator.show_figures"
        )
    text = gettext("All totals from %(first)s to %(last)s agree.", first=first, last=last)
    return _make_check(title, gettext("Agrees"), "success", text, "portal.operator.show_figures")


def _check_migrations(schema: SchemaCompatibility) -> SystemCheck:
    title = gettext("Migrations")
    if schema.is_newest:
        text = gettext("The database is at %(found)s, the newest.", found=schema.revision)
        return _make_check(title, gettext("Up to date"), "success", text)
    if not schema.problem:
        text = gettext(
            "The database is at %(found)s, this version at %(known)s. They work together.",
            found=schema.revision or "none",
            known=head(),
        )
        return _make_check(title, gettext("Compatible"), "success", text)
    text = gettext(
        "The database is at %(found)s, this version needs %(needed)s. Run the migrations.",
        found=schema.revision or "none",
        needed=head(),
    )
    return _make_check(title, gettext("Behind"), "danger", text)


def _check_months(session: Session) -> list[SystemCheck]:
    """Return a problem of partitions, if there is any: SQLite has none."""
    months = partitions.state(session.connection(), utcnow())
    if months.is_well:
        return []
    tables = ", ".join(months.strays)
    text = gettext("Rows of these tables fit no month: %(tables)s.", tables=tables)
    if months.missing:
        tables = ", ".join(months.missing)
        text = gettext("Next month is missing for these tables: %(tables)s.", tables=tables)
    return [_make_check(gettext("Monthly tables"), gettext("Needs attention"), "warning", text)]


def _check_disk(session: Session) -> SystemCheck:
    """Return one check for all file systems that `flask doctor` checks."""
    used = storage.used_by_all(session, caller())
    systems = file_systems(settings())
    stored = gettext("%(used)s of uploads and images.", used=size(used))
    text = " ".join([stored, *(_free_space_message(each) for each in systems)])
    word, tone = gettext("Enough space"), "success"
    if any(each.is_almost_full for each in systems):
        word, tone = gettext("Almost full"), "danger"
    elif any(each.is_low for each in systems):
        word, tone = gettext("Little space"), "warning"
    return _make_check(
        gettext("Storage"), word, tone, text, "portal.storage.show_installation_storage"
    )


def _free_space_message(system: FileSystem) -> str:
    if system.takes_few_files:
        files = number(system.free_files or 0)
        return gettext("%(folder)s: only %(files)s more files.", folder=system.folder, files=files)
    return gettext(
        "%(folder)s: %(free)s of %(total)s free.",
        folder=system.folder,
        free=size(system.free),
        total=size(system.total),
    )


def _check_backups(session: Session) -> SystemCheck:
    """Return the state of backups. Those made by others, such as a cloud, are unknown here."""
    title = gettext("Backups")
    if not settings().backup_place:
        if settings().env == "production":
            unset = gettext(
                "No folder for daily backups is set. Backups that others make aren’t known here."
            )
            guide = gettext(
                "Set PORTAL_BACKUP_DIR or PORTAL_BACKUP_BUCKET: see “Backups” in the operations "
                "guide."
            )
            return _make_check(title, pgettext("backups", "Off"), "warning", f"{unset} {guide}")
        text = gettext(
            "Development mode: no daily backups. For data to keep see “Backups” in the "
            "operations guide."
        )
        return _make_check(title, gettext("Not needed"), "neutral", text)
    state = backup_records.state(session)
    last_backup = state.succeeded
    text = gettext("No backup has been made yet.")
    if last_backup is not None:
        finished_at = long_datetime(last_backup.finished_at, zone())
        octets = size(last_backup.size or 0)
        text = gettext("Last backup %(moment)s, %(size)s.", moment=finished_at, size=octets)
    if state.last is not None and state.last.problem:
        failed = gettext("The last attempt failed: %(problem)s", problem=state.last.problem)
        return _make_check(title, gettext("Failed"), "danger", f"{failed} {text}")
    if state.is_overdue:
        return _make_check(title, gettext("Overdue"), "warning", text)
    if last_backup is not None and last_backup.verified_at is None:
        see = gettext("See the log of the worker.")
        return _make_check(title, gettext("Not verified"), "warning", f"{text} {see}")
    tested = gettext("Its database was restored as a test.")
    return _make_check(title, gettext("Works"), "success", f"{text} {tested}")
