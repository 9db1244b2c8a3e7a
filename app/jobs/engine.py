"""The durable engine inside the worker: its configuration, start and end.

Web processes hand in work through `app.gateways.job_queue` and never start an engine.
"""

from dbos import DBOS, DBOSConfig
from sqlalchemy import Engine

from app.config import Settings
from app.gateways.job_queue import (
    APPLICATION,
    CALLS_QUEUE,
    JOBS_QUEUE,
    MAIL_QUEUE,
    SCHEMA,
    WEBHOOK_QUEUE,
    make_queue_engine,
)

CALLS_AT_ONCE = 200
JOBS_AT_ONCE = 4
MAILS_AT_ONCE = 4
WEBHOOKS_AT_ONCE = 40
WEBHOOKS_PER_ENDPOINT = 2
"""A slow receiver holds these up, and nobody else's."""
VERSION = "1"
"""Never changed: work under way belongs to a version, and another would strand it. What changes
inside a workflow is marked with `DBOS.patch`."""


def start_engine(settings: Settings, executor_id: str) -> Engine:
    """Starts taking work. ``executor_id`` must be new for each process, or the engine would run
    again what another process is still running. Returns the engine's own connections."""
    connections = make_queue_engine(settings.effective_database_url)
    config: DBOSConfig = {
        "name": APPLICATION,
        "system_database_engine": connections,
        "dbos_system_schema": SCHEMA,
        "executor_id": executor_id,
        "application_version": VERSION,
        "log_level": "WARNING",
        "enable_otlp": False,
    }
    DBOS(config=config)
    DBOS.launch()
    DBOS.register_queue(
        CALLS_QUEUE,
        partition_concurrency=settings.calls_per_organization,
        worker_concurrency=CALLS_AT_ONCE,
        polling_interval_sec=settings.queue_poll_seconds,
        on_conflict="always_update",
    )
    DBOS.register_queue(
        JOBS_QUEUE,
        worker_concurrency=JOBS_AT_ONCE,
        polling_interval_sec=settings.queue_poll_seconds,
        on_conflict="always_update",
    )
    DBOS.register_queue(
        MAIL_QUEUE,
        worker_concurrency=MAILS_AT_ONCE,
        polling_interval_sec=settings.queue_poll_seconds,
        on_conflict="always_update",
    )
    DBOS.register_queue(
        WEBHOOK_QUEUE,
        partition_concurrency=WEBHOOKS_PER_ENDPOINT,
        worker_concurrency=WEBHOOKS_AT_ONCE,
        polling_interval_sec=settings.queue_poll_seconds,
        on_conflict="always_update",
    )
    return connections
