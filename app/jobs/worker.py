"""The worker process: ``python -m app.jobs.worker``.

Places the calls and runs every other durable workflow. It may be killed at any moment: the next
worker takes its work over, and queries the carrier before it dials anything. It waits for an
unreachable database. If its work is taken over although it lives, it starts again in the same
process.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from types import FrameType
from typing import NoReturn, ParamSpec
from uuid import uuid4

from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from app import gc_tuning, log_lines, start_checks
from app.config import Settings, read_settings
from app.database.identity import check_connections
from app.disk_space import shortage
from app.gateways import dbos_adapter
from app.gateways.job_queue import CAMPAIGNS, DELAYED, QUEUES
from app.gateways.wake import WakeEvents, keep_listening
from app.jobs import (
    check_account,
    check_domain,
    check_webhook_host,
    dispatch_campaigns,
    erase_subject,
    fetch_picture,
    fetch_recording,
    follow_subscriptions,
    heartbeat,
    housekeeping,
    import_contacts,
    liveness,
    place_call,
    read_carrier_numbers,
    sell_plans,
    send_mail,
    send_webhook,
    silent_calls,
    waiting_calls,
    write_export,
    write_transcript,
)
from app.jobs.context import WorkerContext, open_context
from app.jobs.engine import keep_starting_delayed, start_engine
from app.jobs.liveness import LoopLiveness
from app.jobs.queue_metrics import QueueMetrics
from app.jobs.reaper import LostWorkReaper
from app.jobs.resilience import close_gates
from app.jobs.restore_detection import MarkFile
from app.services.workers import HeartbeatSeries
from app.telemetry import error_reports, metrics_server, tracing
from app.telemetry.metrics import HEARTBEATS, REGISTRY, CountLines, watch_pool

STOP_SECONDS = 10.0
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

P = ParamSpec("P")

WORKFLOWS = (
    place_call.place_call,
    import_contacts.check_import,
    import_contacts.apply_import,
    import_contacts.undo_import,
    import_contacts.delete_upload_data,
    send_mail.send_mail,
    send_webhook.send_webhook,
    send_webhook.send_held_webhooks,
    place_call.end_stray_call,
    silent_calls.follow_silent_call,
    waiting_calls.reschedule_earlier,
    waiting_calls.reschedule_as_before,
    check_account.test_carrier_account,
    check_domain.check_domain,
    check_webhook_host.check_webhook_host,
    read_carrier_numbers.read_carrier_numbers,
    sell_plans.test_processor_account,
    sell_plans.send_plans,
    sell_plans.check_prices,
    sell_plans.check_price,
    sell_plans.open_checkout,
    follow_subscriptions.follow_subscription,
    fetch_picture.fetch_picture,
    fetch_recording.fetch_recording,
    write_transcript.write_transcript,
    write_export.write_export,
    erase_subject.erase_subject,
)
"""Every workflow of the engine; importing a module registers its workflows."""

log = logging.getLogger("app.jobs.worker")


def run(settings: Settings) -> NoReturn:
    """Work until SIGTERM or SIGINT, then end the process with `os._exit`."""
    stop = _stop_on_signals()
    life = LoopLiveness()
    _start(liveness.keep_reporting, life, stop)
    if settings.worker_livez_port:
        liveness.serve(life, settings.worker_livez_host, settings.worker_livez_port)
    executor_id = f"{os.getpid()}-{uuid4().hex}"
    context = open_context(settings)
    _report(settings, context)
    if not heartbeat.wait_for_database(context.database, life, stop):
        _exit(0)
    start_checks.check_files(settings, context.database, context.files)
    check_connections(context.database.engine, _stop_for_other_database)
    mark = MarkFile(settings.instance_dir, context.database)
    pulse = HeartbeatSeries(timedelta(seconds=settings.worker_dead_after_seconds))
    queues = settings.worker_queue_names
    heartbeat.register_worker(context.database, executor_id, mark, pulse, queues)
    wake_events = WakeEvents()
    _start(keep_listening, settings.effective_database_url, wake_events, stop)
    start_engine(settings, executor_id, wake_events)
    _start(
        keep_starting_delayed,
        context.database,
        wake_events.of(DELAYED),
        settings.queue_poll_seconds,
        stop,
    )
    housekeeping.start_periodic_tasks(stop)
    _start(context.signals.keep_reading, stop)
    _start(dispatch_campaigns.keep_dispatching, wake_events.of(CAMPAIGNS), stop)
    _start(waiting_calls.keep_checking_queued, stop)
    if settings.env == "production" and not settings.smtp_url:
        log.warning("PORTAL_SMTP_URL is not set: mails are only kept as files")
    log.info("the worker is ready")
    liveness.notify_systemd("READY=1")
    reaper = LostWorkReaper(context.database, executor_id, pulse)
    while not stop.is_set():
        life.record_turn()
        if not _live(context, executor_id, mark, pulse, reaper):
            _rejoin(stop)
        stop.wait(settings.worker_heartbeat_seconds)
    _leave(context, executor_id)


def _start(work: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Run the function in a thread of its own."""
    threading.Thread(target=work, args=args, kwargs=kwargs, daemon=True).start()


def _report(settings: Settings, context: WorkerContext) -> None:
    """Start what the settings configure: metrics, traces, error reports."""
    pools = {
        "worker": context.database,
        "notes": context.relaxed_database,
        "uploads": context.bulk_database,
    }
    for name, database in pools.items():
        watch_pool(name, database.engine)
    if settings.metrics_worker_port:
        REGISTRY.register(QueueMetrics(context.relaxed_database, settings.worker_silent_seconds))
        listener = metrics_server.listen(settings.metrics_host, settings.metrics_worker_port)
        metrics_server.serve(listener, REGISTRY)
    if settings.otlp_url:
        tracing.start(settings.otlp_url, settings.otlp_share, "worker")
    if settings.sentry_dsn:
        error_reports.start(settings.sentry_dsn, settings.env)


def _stop_on_signals() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set, including those that came while the worker
    restarted."""
    stop = threading.Event()

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for each in STOP_SIGNALS:
        signal.signal(each, ask_to_stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    return stop


def _live(
    context: WorkerContext,
    executor_id: str,
    mark: MarkFile,
    pulse: HeartbeatSeries,
    reaper: LostWorkReaper,
) -> bool:
    """Send a heartbeat and take over the work of dead workers. Return False if this worker was
    declared dead itself."""
    try:
        if not heartbeat.send_heartbeat(context.database, executor_id, mark, pulse):
            return False
        HEARTBEATS.labels("ok").inc()
        reaper.reap()
        import_contacts.take_over(context.database)
        waiting_calls.release_held(context.database)
        context.watch.write_down(context.relaxed_database)
    except SQLAlchemyError:
        HEARTBEATS.labels("failed").inc()
        log.warning("the database can't be used; the next heartbeat tries again")
    return True


def _leave(context: WorkerContext, executor_id: str) -> NoReturn:
    """End between two placed calls, sent mails or webhooks, never in the middle of one."""
    log.info("the worker is stopping")
    liveness.notify_systemd("STOPPING=1")
    _close_gates()
    try:
        context.watch.write_down(context.relaxed_database, immediately=True)
        heartbeat.record_stop(context.database, executor_id)
    except SQLAlchemyError:
        log.warning("the database can't be used; the worker is reported missing by its heartbeat")
    _exit(0)


def _rejoin(stop: threading.Event) -> None:
    """Restart after another worker took this one's work over: take no more work, wait for what is
    in progress, and start as a new worker, unless ``stop`` is set meanwhile."""
    log.warning("declared dead by another worker, which took over the work; starting again")
    _close_gates()
    # A signal between here and the new program's handlers stays pending.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    if stop.is_set():
        return
    _start_again()


def _start_again() -> NoReturn:
    """Replace the program of this process by a fresh one.

    The engine has one executor ID for its whole life, and its threads, which can't be ended,
    continue the work that others have taken over. The new program has neither; to its parent it is
    the same process.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - the command of this very process


def _close_gates() -> None:
    """Take no more work, and wait for what is in progress."""
    dbos_adapter.stop_claiming()
    for consequence in close_gates(STOP_SECONDS):
        log.warning("%s", consequence)


def _stop_for_other_database() -> NoReturn:
    """End, so that the next worker pauses calls before it takes any work; this one might place some
    first."""
    log.error("the database was restored, recovered or replaced; stopping at once")
    _exit(1)


def _exit(code: int) -> NoReturn:
    """End at once: threads that wait for calls to end would delay the exit for minutes."""
    tracing.stop()
    error_reports.stop()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class RepeatedWarningFilter(logging.Filter):
    """Passes a few warnings of each line of code per window, then only counts them.

    During an outage the engine reports every failed poll of every thread. Information is always
    passed: ids of work are found by its log lines.
    """

    def __init__(self, most: int = 5, window_seconds: float = 30.0):
        super().__init__()
        self._most = most
        self._window = window_seconds
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno <= logging.INFO:
            return True
        line = (record.pathname, record.lineno)
        now = time.monotonic()
        since, count = self._seen.get(line, (now, 0))
        if now - since > self._window:
            if count > self._most:
                record.msg = f"{record.getMessage()} ({count - self._most} more like it before)"
                record.args = ()
            since, count = now, 0
        self._seen[line] = (since, count + 1)
        return count < self._most


def configure_log(*, as_json: bool = False) -> None:
    """Log to stderr. Call it before the engine starts, which then adds no handler of its own."""
    handler = log_lines.configure(logging.INFO, as_json=as_json)
    handler.addFilter(RepeatedWarningFilter())
    handler.addFilter(CountLines())
    engine = logging.getLogger("dbos")
    engine.handlers[:] = [handler]
    engine.propagate = False


def _check_queues(settings: Settings) -> None:
    """End the program with a sentence if a queue would be left without a worker."""
    chosen = settings.worker_queue_names
    for name in chosen:
        if name not in QUEUES:
            names = ", ".join(QUEUES)
            message = f"PORTAL_WORKER_QUEUES names {name!r}. The queues are: {names}."
            raise SystemExit(message)
    if chosen and settings.effective_database_url.startswith("sqlite"):
        message = "PORTAL_WORKER_QUEUES needs PostgreSQL: on SQLite one worker does all work."
        raise SystemExit(message)


def main() -> None:
    gc_tuning.resume_collection()
    gc_tuning.limit_worker()
    settings = read_settings()
    configure_log(as_json=settings.logs_json)
    start_checks.check(settings)
    _check_queues(settings)
    try:
        with heartbeat.sole_worker(settings.effective_database_url):
            run(settings)
    except heartbeat.AnotherWorker as error:
        log.error("%s", error)
        sys.exit(3)
    except (OperationalError, InterfaceError) as error:
        is_sqlite = settings.effective_database_url.startswith("sqlite")
        if is_sqlite and shortage(settings) is None:
            log.exception("the worker failed")
            _exit(1)
        log.warning("the database can't be used yet: %s", str(error.orig).strip())
        time.sleep(heartbeat.RETRY_SECONDS)
        _start_again()
    except Exception:
        # The engine's threads would keep alive a process without a heartbeat.
        log.exception("the worker failed")
        _exit(1)


if __name__ == "__main__":
    main()
