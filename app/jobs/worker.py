"""The worker process: ``python -m app.jobs.worker``.

Places the calls and runs every other durable workflow. It may be killed at any moment: what it
had begun is taken over by the next one, which asks the carrier before it dials anything.
"""

import logging
import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn
from uuid import uuid4

from sqlalchemy.exc import SQLAlchemyError

from app import gc_tuning
from app.config import Settings, read_settings
from app.gateways.job_queue import CAMPAIGNS, DELAYED
from app.gateways.wake import Bells, keep_listening
from app.jobs import (
    bring_forward,
    end_stray_call,
    feed_campaigns,
    heartbeat,
    housekeeping,
    import_contacts,
    pausing,
    place_call,
    send_mail,
    send_webhook,
    stopping,
    undo_import,
)
from app.jobs.context import WorkerContext, open_context
from app.jobs.engine import keep_starting_delayed, start_engine
from app.jobs.gate import delivering, dialling, mailing
from app.jobs.log import configure_log
from app.jobs.mark import MarkKeeper
from app.jobs.reaper import reap

STOP_SECONDS = 10.0

WORKFLOWS = (
    place_call.place_call,
    import_contacts.check_import,
    import_contacts.apply_import,
    undo_import.undo_import,
    send_mail.send_mail,
    send_webhook.send_webhook,
    send_webhook.send_held_webhooks,
    end_stray_call.end_stray_call,
    bring_forward.bring_forward,
)
"""Importing a module registers its workflows; all that the engine may be handed stand here."""

log = logging.getLogger("app.jobs.worker")


def run(settings: Settings) -> None:
    """Works until SIGTERM or SIGINT. Returns the process's exit through `os._exit`."""
    stop = threading.Event()

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, ask_to_stop)
    signal.signal(signal.SIGINT, ask_to_stop)
    executor_id = f"{os.getpid()}-{uuid4().hex}"
    context = open_context(settings)
    mark = MarkKeeper(settings.instance_dir, lives_with_database=context.database.is_sqlite)
    heartbeat.announce(context.database, executor_id, mark)
    bells = Bells()
    url = settings.effective_database_url
    threading.Thread(target=keep_listening, args=(url, bells, stop), daemon=True).start()
    start_engine(settings, executor_id, bells)
    delays = context.database, bells.of(DELAYED), settings.queue_poll_seconds, stop
    threading.Thread(target=keep_starting_delayed, args=delays, daemon=True).start()
    threading.Thread(target=housekeeping.keep_house, args=(stop,), daemon=True).start()
    threading.Thread(target=context.news.keep_reading, args=(stop,), daemon=True).start()
    campaigns = bells.of(CAMPAIGNS), stop
    threading.Thread(target=feed_campaigns.keep_feeding, args=campaigns, daemon=True).start()
    threading.Thread(target=stopping.keep_stopping, args=(stop,), daemon=True).start()
    if settings.env == "production" and not settings.smtp_url:
        log.warning("PORTAL_SMTP_URL is not set: mails are kept as files and reach nobody")
    log.info("the worker is ready")
    _live(context, executor_id, mark, stop)
    _leave(context, executor_id)


def _live(
    context: WorkerContext, executor_id: str, mark: MarkKeeper, stop: threading.Event
) -> None:
    """Beats and takes over what the dead left behind, until it is to stop."""
    while True:
        try:
            if not heartbeat.beat(context.database, executor_id, mark):
                log.error("declared dead by another worker; stopping at once")
                _exit(1)
            reap(context.database, context.settings, executor_id)
            import_contacts.take_over(context.database)
            pausing.take_up(context.database)
            context.watch.write_down(context.note_database)
        except SQLAlchemyError:
            log.warning("the database can't be used; the next heartbeat tries again")
        if stop.wait(context.settings.worker_heartbeat_seconds):
            return


def _leave(context: WorkerContext, executor_id: str) -> NoReturn:
    """Ends between two dialled calls, sent mails or webhooks, never in the middle of one."""
    log.info("the worker is stopping")
    if not dialling.close(STOP_SECONDS):
        log.warning("a call was still being placed; its attempt will be asked about")
    if not mailing.close(STOP_SECONDS):
        log.warning("a mail was still being sent; it may be sent again")
    if not delivering.close(STOP_SECONDS):
        log.warning("a webhook was still being delivered; it may be delivered again")
    try:
        context.watch.write_down(context.note_database, at_once=True)
        heartbeat.leave(context.database, executor_id)
    except SQLAlchemyError:
        log.warning("the database can't be used; this worker's silence will tell")
    _exit(0)


def _exit(code: int) -> NoReturn:
    """Threads that wait for calls to end would hold the process for minutes."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    gc_tuning.settle()
    configure_log()
    settings = read_settings()
    try:
        with heartbeat.sole_worker(settings.effective_database_url):
            run(settings)
    except heartbeat.AnotherWorker as error:
        log.error("%s", error)
        sys.exit(3)
    except Exception:
        # The engine's threads would keep a process alive that no longer beats.
        log.exception("the worker failed")
        _exit(1)


if __name__ == "__main__":
    main()
