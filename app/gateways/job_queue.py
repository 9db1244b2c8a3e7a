"""The durable queue outside of the worker: enqueue work.

Work is enqueued in the caller's transaction, so a row and its work are committed together or not at
all. The worker's half is in `app.jobs`.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

import pysqlite3.dbapi2 as sqlite
from dbos import DBOS, DBOSClient, EnqueueOptions
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    TableClause,
    column,
    create_engine,
    event,
    func,
    literal_column,
    make_url,
    select,
    table,
)
from sqlalchemy.orm import Session

from app.database import SQLITE_ARGUMENTS, make_engine
from app.database.connection_budget import WORKER_QUEUE
from app.database.sqlite_write_lock import acquire_write_lock, queue_writers
from app.gateways import dbos_adapter
from app.gateways.wake import wake
from app.telemetry import tracing

APPLICATION = "portal"
SCHEMA = "dbos"
CALLS_QUEUE = "calls"
JOBS_QUEUE = "jobs"
MAIL_QUEUE = "mail"
WEBHOOK_QUEUE = "webhooks"
CHECK_QUEUE = "checks"
IMPORT_QUEUE = "imports"
EXPORT_QUEUE = "exports"
PICTURE_QUEUE = "pictures"
SILENT_QUEUE = "silent calls"
QUEUES = (
    CALLS_QUEUE,
    IMPORT_QUEUE,
    MAIL_QUEUE,
    WEBHOOK_QUEUE,
    CHECK_QUEUE,
    PICTURE_QUEUE,
    SILENT_QUEUE,
    EXPORT_QUEUE,
    JOBS_QUEUE,
)
DELAYED, CAMPAIGNS = "delayed work", "campaigns"
"""Topics of wake-ups besides those of the queues: a delay has begun, a campaign was started."""
FRONT, BEHIND = 1, 2
"""A call's priority in its organization's queue; among equals the oldest comes first."""

MAX_CONNECTIONS = 2 * WORKER_QUEUE
"""Maximum connections of the engine, for all threads together."""
SQLITE_CONNECTIONS = 6
"""Connections that stay open: only one can write at a time, and each takes a megabyte."""

_clients: WeakKeyDictionary[Engine, DBOSClient] = WeakKeyDictionary()


def make_queue_engine(url: str) -> Engine:
    """Return the engine's own connections: they begin transactions differently from ours."""
    if not url.startswith("sqlite"):
        return make_engine(url, pool_size=WORKER_QUEUE)
    parsed = make_url(url)
    engine = create_engine(
        parsed,
        module=sqlite,
        pool_size=SQLITE_CONNECTIONS,
        pool_use_lifo=True,
        max_overflow=MAX_CONNECTIONS - SQLITE_CONNECTIONS,
        hide_parameters=True,
        connect_args=SQLITE_ARGUMENTS,
    )
    queue_writers(engine, str(parsed.database))
    event.listen(engine, "connect", _prepare_sqlite_connection)
    event.listen(engine, "before_cursor_execute", _before_writing)
    return engine


def _prepare_sqlite_connection(connection: Any, _record: Any) -> None:
    connection.isolation_level = "IMMEDIATE"
    connection.execute("PRAGMA journal_mode=WAL")
    # The engine repeats what it loses in a power cut. Our own commits are synchronous and flush the
    # shared log up to their own position.
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA cache_size=-512")
    connection.execute("PRAGMA foreign_keys=ON")


def _before_writing(connection: Connection, _cursor: Any, statement: str, *_more: Any) -> None:
    # The driver begins a transaction before statements that change data.
    if statement.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE"):
        acquire_write_lock(connection)


def migrate_engine(url: str) -> None:
    """Create or update the engine's tables; no effect if they are up to date.

    Web processes enqueue work before a worker has ever run, so this is part of every migration.
    """
    if not url.startswith("sqlite"):
        DBOS.migrate(url, schema=SCHEMA)
        return
    # The public function would open the file with the standard library's SQLite.
    engine = make_queue_engine(url)
    try:
        dbos_adapter.migrate(url, engine)
    finally:
        engine.dispose()


def enqueue_call(
    session: Session,
    *,
    call_id: UUID,
    attempt_id: UUID,
    organization_id: UUID,
    live: bool,
    delay_seconds: float = 0,
    had_its_turn: bool = False,
) -> None:
    """Enqueue one attempt of a call; a delayed one takes no slot of the queue. A call with
    ``had_its_turn`` comes before all that are still waiting. Calls of test keys don't delay the
    organization's ``live`` calls."""
    enqueue(
        session,
        CALLS_QUEUE,
        "place_call",
        str(attempt_id),
        str(call_id),
        str(attempt_id),
        partition=str(organization_id) if live else f"{organization_id} test",
        priority=FRONT if had_its_turn else BEHIND,
        delay_seconds=delay_seconds,
    )


def enqueue_silent_call(
    session: Session, attempt_id: UUID, query_number: int, silent_since: str, delay_seconds: float
) -> None:
    """Enqueue one question about a call whose carrier doesn't answer. It takes no slot of the calls
    of its organization."""
    enqueue(
        session,
        SILENT_QUEUE,
        "follow_silent_call",
        f"silent:{attempt_id}:{query_number}",
        str(attempt_id),
        query_number,
        silent_since,
        delay_seconds=delay_seconds,
    )


def enqueue_job(session: Session, workflow: str, workflow_id: str, *args: str) -> None:
    """Enqueue any other workflow by its registered name. The same id twice is one workflow."""
    enqueue(session, JOBS_QUEUE, workflow, workflow_id, *args)


def enqueue_import(
    session: Session, workflow: str, workflow_id: str, partner_id: UUID, *args: str
) -> None:
    """Queue the work on a contact file. One partner's files don't delay those of others."""
    enqueue(session, IMPORT_QUEUE, workflow, workflow_id, *args, partition=str(partner_id))


def enqueue_export(session: Session, export_id: UUID, partition: UUID) -> None:
    """Enqueue the writing of an export. Those of one partition are written one after another."""
    job_id, one_by_one = f"export:{export_id}", str(partition)
    enqueue(session, EXPORT_QUEUE, "write_export", job_id, str(export_id), partition=one_by_one)


def enqueue_mail(session: Session, mail_id: UUID, attempt: int, delay_seconds: float) -> None:
    """Enqueue one attempt to send a mail; a delayed one takes no slot of the queue."""
    job_id, arguments = f"mail:{mail_id}:{attempt}", (str(mail_id), attempt)
    enqueue(session, MAIL_QUEUE, "send_mail", job_id, *arguments, delay_seconds=delay_seconds)


def enqueue_webhook(
    session: Session,
    webhook_id: UUID,
    delivery_id: UUID,
    attempt_number: int,
    delay_seconds: float,
) -> None:
    """Enqueue one attempt to deliver a webhook; a delayed one takes no slot of the queue."""
    enqueue(
        session,
        WEBHOOK_QUEUE,
        "send_webhook",
        f"webhook:{delivery_id}:{attempt_number}",
        str(delivery_id),
        attempt_number,
        partition=str(webhook_id),
        delay_seconds=delay_seconds,
    )


def enqueue_held_webhooks(session: Session, webhook_id: UUID, act_id: UUID) -> None:
    """Enqueue the workflow that continues every held delivery of a webhook."""
    job_id, webhook = f"held-webhooks:{act_id}", str(webhook_id)
    enqueue(session, WEBHOOK_QUEUE, "send_held_webhooks", job_id, webhook, partition=webhook)


def enqueue_check(
    session: Session, workflow: str, check_id: UUID, partner_id: UUID, *args: str
) -> None:
    """Enqueue a check of an outside service that a user of the partner waits for."""
    enqueue(session, CHECK_QUEUE, workflow, f"check:{check_id}", *args, partition=str(partner_id))


def enqueue_picture(session: Session, partner_id: UUID, kind: str, act_id: UUID) -> None:
    """Enqueue fetching a picture of a brand from another host."""
    job_id = f"picture:{act_id}"
    enqueue(session, PICTURE_QUEUE, "fetch_picture", job_id, str(partner_id), kind)


def enqueue_recording(
    session: Session, recording_id: UUID, attempt_number: int, delay_seconds: float = 0.0
) -> None:
    """Enqueue one attempt to fetch the recording of a call."""
    job_id, arguments = (
        f"recording:{recording_id}:{attempt_number}",
        (str(recording_id), attempt_number),
    )
    enqueue(session, JOBS_QUEUE, "fetch_recording", job_id, *arguments, delay_seconds=delay_seconds)


def enqueue(
    session: Session,
    queue: str,
    workflow: str,
    workflow_id: str,
    *args: str | int,
    partition: str | None = None,
    priority: int | None = None,
    delay_seconds: float = 0,
) -> None:
    """Enqueue a workflow with these arguments. What has a ``partition`` of the queue waits only for
    what is in the same one."""
    options: EnqueueOptions = {
        "workflow_name": workflow,
        "queue_name": queue,
        "workflow_id": workflow_id,
    }
    if partition is not None:
        options["queue_partition_key"] = partition
    if priority is not None:
        options["priority"] = priority
    if delay_seconds > 0:
        # DBOS adds the delay to the time of this machine.
        ahead = dbos_adapter.database_seconds(session.connection()) - time.time()
        options["delay_seconds"] = delay_seconds + ahead
    parent = tracing.trace_parent()
    more = {"trace_parent": parent} if parent else {}
    _client(session).enqueue_in_transaction(session, options, *args, **more)
    wake(session, DELAYED if delay_seconds > 0 else queue)


def _client(session: Session) -> DBOSClient:
    engine = session.get_bind().engine
    client = _clients.get(engine)
    if client is None:
        client = DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=SCHEMA,
            application_name=APPLICATION,
            lazy=True,
        )
        _clients[engine] = client
    return client


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How much of a queue waits and runs now, and since when its oldest work waits."""

    name: str
    waiting: int
    running: int
    oldest_at: datetime | None


def depths(session: Session) -> list[QueueDepth]:
    """Return the depth of every queue of the worker, by one query."""
    work = engine_table(session, "workflow_status", "queue_name", "status", "created_at")
    # Written out, so that the engine's index of unfinished work is used.
    waits: ColumnElement[bool] = literal_column("status = 'ENQUEUED'")
    rows = session.execute(
        select(
            work.c.queue_name,
            func.count().filter(waits),
            func.count().filter(~waits),
            func.min(work.c.created_at).filter(waits),
        )
        .where(literal_column("status IN ('ENQUEUED', 'PENDING')"))
        .group_by(work.c.queue_name)
    )
    counts_by_queue = {row[0]: row[1:] for row in rows}
    queue_depths = []
    for name in QUEUES:
        waiting, running, oldest = counts_by_queue.get(name, (0, 0, None))
        since = None if oldest is None else datetime.fromtimestamp(oldest / 1000, UTC)
        queue_depths.append(QueueDepth(name, waiting, running, since))
    return queue_depths


def engine_table(session: Session, name: str, *columns: str) -> TableClause:
    """Return a table of the engine, for reading with the session."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    return table(name, *map(column, columns), schema=None if is_sqlite else SCHEMA)
