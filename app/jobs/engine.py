"""The durable engine inside the worker: its configuration, start and end.

Web processes enqueue work through `app.gateways.job_queue` and never start an engine.

The names of workflows and steps are stored with their work: under another name, work that was
queued or begun before an update would find no code. They stay, even where their functions have
better names now.
"""

import logging
from collections.abc import Collection
from threading import Event
from typing import TypedDict

from dbos import DBOS, DBOSConfig
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.config import Settings
from app.database import Database
from app.gateways import dbos_adapter
from app.gateways.job_queue import (
    APPLICATION,
    CALLS_QUEUE,
    CHECK_QUEUE,
    EXPORT_QUEUE,
    IMPORT_QUEUE,
    JOBS_QUEUE,
    MAIL_QUEUE,
    PICTURE_QUEUE,
    SCHEMA,
    SILENT_QUEUE,
    WEBHOOK_QUEUE,
    make_queue_engine,
)
from app.gateways.wake import WakeEvent, WakeEvents, wake
from app.telemetry.metrics import watch_pool

MAX_CONCURRENT_CALLS = 200
MAX_CONCURRENT_JOBS = 4
MAX_CONCURRENT_MAILS = 4
MAX_CONCURRENT_WEBHOOKS = 40
WEBHOOKS_PER_ENDPOINT = 2
"""A slow receiver delays only its own deliveries."""
MAX_CONCURRENT_CHECKS = 16
CHECKS_PER_PARTNER = 2
"""Unresponsive carriers delay only the checks of their own partner."""
MAX_CONCURRENT_PICTURES = 4
MAX_CONCURRENT_SILENT_CALLS = 16
"""Each query takes as long as a request to the carrier may."""
MAX_CONCURRENT_IMPORTS = 4
IMPORTS_PER_PARTNER = 2
"""Large files of one partner delay only its own: each takes memory, and they share a core."""
MAX_CONCURRENT_EXPORTS = 2
"""Each is a separate process."""
EXPORTS_PER_PARTNER = 1
VERSION = "1"
"""Never changed: unfinished work belongs to a version, and another one would strand it. Changes
inside a workflow are marked with `DBOS.patch`."""

UNUSED_SECONDS = 3600.0
"""Polling interval of unused parts of DBOS, which it would poll many times a second: its messages
between workflows, its schedules."""

log = logging.getLogger(__name__)


class QueueLimits(TypedDict, total=False):
    """How much of a queue runs at once: in one worker, and of one partition in all workers."""

    worker_concurrency: int
    partition_concurrency: int


def start_engine(settings: Settings, executor_id: str, wake_events: WakeEvents) -> Engine:
    """Start taking work. ``executor_id`` must be new for each process, or the engine would run
    again what another process is still running. Return the engine's own connections."""
    connections = make_queue_engine(settings.effective_database_url)
    watch_pool("engine", connections)
    config: DBOSConfig = {
        "name": APPLICATION,
        "system_database_engine": connections,
        "dbos_system_schema": SCHEMA,
        "executor_id": executor_id,
        "application_version": VERSION,
        "log_level": "WARNING",
        "enable_otlp": False,
        "scheduler_polling_interval_sec": UNUSED_SECONDS,
        "notification_listener_polling_interval_sec": UNUSED_SECONDS,
        "notification_coalesce_sec": UNUSED_SECONDS,
    }
    dbos_adapter.wait_for_wake_ups(DBOS(config=config), wake_events, settings.queue_poll_seconds)
    if settings.worker_queue_names:
        DBOS.listen_queues(settings.worker_queue_names)
    DBOS.launch()
    for name, limits in _limits_of_queues(settings).items():
        DBOS.register_queue(
            name,
            **limits,
            polling_interval_sec=settings.queue_poll_seconds,
            on_conflict="always_update",
        )
    wake_events.of(dbos_adapter.QUEUE_LIST).wake()
    return connections


def _limits_of_queues(settings: Settings) -> dict[str, QueueLimits]:
    return {
        CALLS_QUEUE: {
            "worker_concurrency": MAX_CONCURRENT_CALLS,
            "partition_concurrency": settings.calls_per_organization,
        },
        JOBS_QUEUE: {"worker_concurrency": MAX_CONCURRENT_JOBS},
        MAIL_QUEUE: {"worker_concurrency": MAX_CONCURRENT_MAILS},
        WEBHOOK_QUEUE: {
            "worker_concurrency": MAX_CONCURRENT_WEBHOOKS,
            "partition_concurrency": WEBHOOKS_PER_ENDPOINT,
        },
        CHECK_QUEUE: {
            "worker_concurrency": MAX_CONCURRENT_CHECKS,
            "partition_concurrency": CHECKS_PER_PARTNER,
        },
        PICTURE_QUEUE: {"worker_concurrency": MAX_CONCURRENT_PICTURES},
        SILENT_QUEUE: {"worker_concurrency": MAX_CONCURRENT_SILENT_CALLS},
        IMPORT_QUEUE: {
            "worker_concurrency": MAX_CONCURRENT_IMPORTS,
            "partition_concurrency": IMPORTS_PER_PARTNER,
        },
        EXPORT_QUEUE: {
            "worker_concurrency": MAX_CONCURRENT_EXPORTS,
            "partition_concurrency": EXPORTS_PER_PARTNER,
        },
    }


def keep_starting_delayed(
    database: Database, wake_event: WakeEvent, poll_seconds: float, stop: Event
) -> None:
    """Start the work whose delay is over, until ``stop`` is set."""
    seconds = 0.0
    while not wake_event.wait(min(seconds, poll_seconds), stop):
        seconds = poll_seconds
        try:
            queues, seconds = dbos_adapter.start_delayed()
            wake_for(database, queues)
        except SQLAlchemyError as error:
            log.warning("delayed work waits for the database (%s)", type(error).__name__)
        except Exception:
            log.exception("delayed work could not be started")


def wake_for(database: Database, queues: Collection[str]) -> None:
    """Wake every worker for work that the engine itself has enqueued."""
    if queues:
        with database.transaction() as session:
            for queue in queues:
                wake(session, queue)
