"""The worker's periodic tasks, in two separate threads."""

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from dbos import DBOS
from sqlalchemy.orm import Session

from app import backups, gc_tuning
from app.backups import records as backup_records
from app.config import Settings
from app.database import Database
from app.gateways.carriers.factory import trunk_of
from app.gateways.carriers.sip.ledger import AttemptLedger
from app.gateways.processors.base import PaymentProcessor, ProcessorRefused, ProcessorUnavailable
from app.gateways.syslog import SyslogConnection, SyslogUnavailable
from app.jobs import key_change, months, purging, sell_plans, send_webhook, waiting_calls
from app.jobs.call_costs import ask_for_costs
from app.jobs.context import context
from app.jobs.follow_subscriptions import charge_due, follow_due
from app.models import utcnow
from app.services import (
    alerts,
    carrier_accounts,
    credential_ends,
    domains,
    figure_check,
    monthly_reports,
    phone_numbers,
    retention,
    unusual_calls,
)
from app.services.audit import forwarding, refusals
from app.services.billing import closing
from app.services.billing.usage import model_rate
from app.services.branding import outside_pictures
from app.services.pauses import carrier_health
from app.services.pricing import refresh as pricing_refresh
from app.services.spending import budgets

log = logging.getLogger(__name__)

SECONDS = 10.0
MINUTE = 60.0
HOUR = 3600.0
FINISHED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
CHUNK = 500
ENTRIES_A_RUN = 500
BUDGETS_A_RUN = 50


@dataclass(slots=True)
class PeriodicTask:
    """A function that runs every ``every_seconds``."""

    name: str
    every_seconds: float
    run: Callable[[], object]
    due: float = field(default=0.0)


def in_transaction(work: Callable[[Session], object]) -> Callable[[], None]:
    """Return a task that does its work in one transaction."""

    def run() -> None:
        with context().database.transaction() as session:
            work(session)

    return run


def tidy_carrier_accounts() -> None:
    """Delete the secret and the call ledger of carrier accounts that no call needs any more."""
    ledger = AttemptLedger(trunk_of(context().settings).folder)
    account_ids = list(ledger.accounts())
    with context().database.transaction() as session:
        carrier_accounts.delete_unneeded_secrets(session)
        forgotten = carrier_accounts.find_forgotten(session, account_ids)
    for account_id in forgotten:
        ledger.delete_account(account_id)


def purge_ledgers() -> None:
    """Delete what SIP calls left on this host: each worker does so for its own."""
    AttemptLedger(trunk_of(context().settings).folder).purge()


def purge_engine() -> None:
    """Delete the engine's records of work that ended long ago."""
    days = context().settings.engine_retention_days
    before = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    while True:
        old = DBOS.list_workflows(
            status=FINISHED,
            completed_before=before,
            limit=CHUNK,
            load_input=False,
            load_output=False,
        )
        if not old:
            return
        DBOS.delete_workflows([work.workflow_id for work in old])
        time.sleep(0.05)  # others write too


def refresh_prices() -> None:
    """Query the processors for prices that are due: the installation's, and the accounts of
    partners. Without an answer the known prices stay, and the next run tries again."""
    worker = context()
    if worker.processor.is_outside:
        _refresh_prices(worker.processor)
    with worker.database.transaction(read_only=True) as session:
        connected = pricing_refresh.connected_partners(session)
    for partner_id in connected:
        try:
            _refresh_prices(sell_plans.account_of(worker, partner_id), partner_id)
        except ProcessorRefused as error:
            log.warning("prices of partner %s were not refreshed: %s", partner_id, error)


def _refresh_prices(processor: PaymentProcessor, partner_id: UUID | None = None) -> None:
    database = context().database
    while True:
        with database.transaction(read_only=True) as session:
            references = pricing_refresh.due(session, partner_id)
        if not references:
            return
        try:
            prices = processor.prices(references)
        except ProcessorUnavailable as error:
            log.warning("prices were not refreshed: %s", error)
            return
        with database.transaction() as session:
            pricing_refresh.store_prices(session, partner_id, references, prices)


def release_space() -> None:
    """Shrink SQLite's file by what deleted rows left."""
    context().database.release_space()


def gather_statistics() -> None:
    context().database.gather_statistics()


def forward_history() -> None:
    """Send new entries of the history to the syslog server, if there is one. Failed entries are
    sent again at the next run; two workers may both send an entry."""
    database, url = context().database, context().settings.audit_syslog
    if not url:
        return
    while True:
        with database.transaction(read_only=True) as session:
            entries = forwarding.due(session, ENTRIES_A_RUN)
        if not entries:
            return
        try:
            with SyslogConnection(url) as server:
                for entry in entries:
                    server.send(json.dumps(entry))
        except SyslogUnavailable as error:
            log.warning("the history was not sent to the syslog server: %s", error)
            return
        with database.transaction() as session:
            forwarding.mark_sent(session, entries)


def close_refusal_counts() -> None:
    """Write the totals of refused attempts to the history, some per transaction."""
    has_more = True
    while has_more:
        with context().database.transaction() as session:
            has_more = refusals.close(session)


def watch_calls() -> None:
    """Pause organizations whose calls are unusual."""
    database, settings = context().database, context().settings
    if not settings.spending_watch:
        return
    rules = unusual_calls.UnusualCallRules(first_hour=settings.spending_first_hour)
    with database.transaction() as session:
        paused = unusual_calls.check(session, rules, utcnow())
    for organization_id in paused:
        log.warning("unusual calls: the calling of organization %s was paused", organization_id)


def report_budgets() -> None:
    """Report budgets that are spent, or nearly, some a transaction. Nothing is locked while none
    is due."""
    database, now = context().database, utcnow()
    with database.transaction(read_only=True) as session:
        due = budgets.due_alerts(session, now)
    for start in range(0, len(due), BUDGETS_A_RUN):
        with database.transaction() as session:
            budgets.alert(session, due[start : start + BUDGETS_A_RUN], now)


def close_months() -> None:
    """Write the statements of months that have ended, some per transaction."""
    has_more = True
    while has_more:
        with context().database.transaction() as session:
            has_more = closing.close_due(session, utcnow()) > 0


def evaluate_alerts() -> None:
    """Open and resolve alerts. Nothing is written while nothing has changed."""
    database, now = context().database, utcnow()
    with database.transaction(read_only=True) as session:
        changes = alerts.changes(session, now)
    if changes:
        with database.transaction() as session:
            alerts.apply(session, changes, now)


def send_reports() -> None:
    """Queue the monthly reports that are due, with figures of a replica that is up to date."""
    database, now = context().database, utcnow()
    model = model_rate(context().settings)
    with database.transaction(read_only=True) as session:
        is_due = monthly_reports.is_any_due(session, now)
    stored = database.replica.position() if is_due and database.replica else 0
    while is_due:
        with database.figures(stored) as figures, database.transaction() as session:
            is_due = monthly_reports.send_due(session, now, model, figures) > 0


def announce_ends() -> None:
    """Send notices about credentials that end soon."""
    database, now = context().database, utcnow()
    with database.transaction(read_only=True) as session:
        is_any_due = credential_ends.is_any_due(session, now)
    if is_any_due:
        with database.transaction() as session:
            credential_ends.announce(session, now)


def check_figures() -> None:
    """Compare the daily totals of yesterday with their rows; one worker reports differences."""
    database, now = context().database, utcnow()
    with database.transaction(read_only=True) as session:
        day = figure_check.day_due(session, now)
        results = figure_check.compare_day(session, day) if day else []
    if not results:
        return
    with database.transaction() as session:
        stored = figure_check.store_checks(session, results)
    for each in stored:
        if each.differs:
            log.error(
                "%s of %s: %s is stored as %s, %s differ",
                *(each.figure, day, each.counted, each.total, each.differing),
            )


def start_backup() -> None:
    """Start the daily backup if it is due, in a separate thread: other tasks continue."""
    worker = context()
    if not worker.settings.backup_place:
        return
    with worker.database.transaction() as session:
        backup_id = backup_records.claim(session, utcnow(), worker.settings.backup_hour)
    if backup_id is not None:
        arguments = worker.database, worker.settings, backup_id
        threading.Thread(target=back_up, args=arguments, daemon=True).start()


def back_up(database: Database, settings: Settings, backup_id: UUID) -> None:
    """Make the backup that was begun, note how it ended, and remove the oldest."""
    target = settings.backup_place
    try:
        backup = backups.create_at(settings, target, settings.backup_public_keys)
    except (backups.BackupUnusable, backups.DatabaseToolFailed, OSError) as error:
        log.error("the backup failed: %s", error)
        with database.transaction() as session:
            backup_records.fail(session, backup_id, str(error))
        return
    if backup.unverified:
        log.warning("the backup was not verified: %s", backup.unverified)
    with database.transaction() as session:
        is_verified = backup.unverified is None
        backup_records.succeed(
            session, backup_id, backup.location, backup.size, is_verified=is_verified
        )
    backups.remove_old_at(settings, target, settings.backup_keep)


TASKS = [
    PeriodicTask("watch calls", MINUTE, watch_calls),
    PeriodicTask("back up", MINUTE, start_backup),
    PeriodicTask("evaluate alerts", 5 * MINUTE, evaluate_alerts),
    PeriodicTask("send reports", MINUTE, send_reports),
    PeriodicTask("check held calls", SECONDS, lambda: waiting_calls.check_held(context().database)),
    PeriodicTask("queue overlooked deliveries", MINUTE, send_webhook.queue_overlooked),
    PeriodicTask("sum up refused attempts", MINUTE, close_refusal_counts),
    PeriodicTask("report budgets", MINUTE, report_budgets),
    PeriodicTask("announce ends of credentials", HOUR, announce_ends),
    PeriodicTask("close months", HOUR, close_months),
    PeriodicTask(
        "refresh the numbers of carrier accounts", HOUR, in_transaction(phone_numbers.refresh_due)
    ),
    PeriodicTask(
        "refresh pictures on other hosts", MINUTE, in_transaction(outside_pictures.refresh_due)
    ),
    PeriodicTask("check domains", MINUTE, in_transaction(domains.refresh_due)),
    PeriodicTask("check figures", HOUR, check_figures),
    PeriodicTask("give back space", HOUR, release_space),
    PeriodicTask("give back memory", MINUTE, gc_tuning.return_free_memory),
    PeriodicTask("purge records", HOUR, in_transaction(retention.purge)),
    PeriodicTask(
        "rotate partitions",
        HOUR,
        lambda: months.rotate_partitions(context().database, context().settings),
    ),
    PeriodicTask("tidy carrier accounts", HOUR, tidy_carrier_accounts),
    PeriodicTask("re-encrypt secrets", HOUR, key_change.reencrypt_secrets),
    PeriodicTask("tidy ledgers of SIP calls", HOUR, purge_ledgers),
    PeriodicTask(
        "purge observations of carriers", HOUR, in_transaction(carrier_health.delete_old_counts)
    ),
    PeriodicTask("purge mails", HOUR, purging.purge_outbox),
    PeriodicTask("purge webhook deliveries", HOUR, purging.purge_deliveries),
    PeriodicTask("purge the engine's records", HOUR, purge_engine),
    PeriodicTask("gather statistics", HOUR, gather_statistics),
]


OUTGOING_TASKS = [
    PeriodicTask("forward the history", SECONDS, forward_history),
    PeriodicTask("refresh prices", MINUTE, refresh_prices),
    PeriodicTask("charge usage", HOUR, lambda: charge_due(context())),
    PeriodicTask("follow subscriptions", HOUR, lambda: follow_due(context())),
    PeriodicTask("ask for costs", MINUTE, ask_for_costs),
    PeriodicTask("purge uploads", HOUR, purging.purge_uploads),
    PeriodicTask("purge recordings", HOUR, purging.purge_recordings),
    PeriodicTask("purge exports", HOUR, purging.purge_exports),
    PeriodicTask("remove orphan files", HOUR, purging.remove_orphan_files),
    PeriodicTask("measure uploads", HOUR, purging.measure_uploads),
]
"""Tasks that wait for other systems, such as carriers, processors and the bucket of the files."""


def start_periodic_tasks(stop: threading.Event, first_after_seconds: float = 60.0) -> None:
    """Run the tasks when they are due until ``stop`` is set. Those that wait for other systems have
    a thread of their own, so that they don't delay the others, such as the watch of calls."""
    for tasks in (TASKS, OUTGOING_TASKS):
        arguments = tasks, stop, first_after_seconds
        threading.Thread(target=_run_when_due, args=arguments, daemon=True).start()


def _run_when_due(
    tasks: Sequence[PeriodicTask], stop: threading.Event, first_after_seconds: float
) -> None:
    """A failed task runs again at its next time."""
    begin = time.monotonic() + first_after_seconds
    for task in tasks:
        task.due = begin
    while not stop.wait(1.0):
        for task in tasks:
            if time.monotonic() < task.due:
                continue
            task.due = time.monotonic() + task.every_seconds
            try:
                task.run()
            except Exception:
                log.exception("housekeeping failed: %s", task.name)
