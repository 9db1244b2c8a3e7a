"""The connections that the workflows of this process use; opened once when the worker starts."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, event

from app.config import Settings
from app.database import Database, make_engine
from app.database.connection_budget import (
    WORKER_CALLS,
    WORKER_LEDGER,
    WORKER_RELAXED,
    WORKER_UPLOADS,
)
from app.gateways.carriers.factory import open_carriers
from app.gateways.files import FileStore, open_files
from app.gateways.mailers import Mailer, open_mailer
from app.gateways.processors import open_processor
from app.gateways.processors.base import PaymentProcessor
from app.gateways.writers import open_writer
from app.gateways.writers.base import MessageWriter
from app.jobs.call_signals import CallSignals
from app.jobs.carrier_statistics import CarrierStatistics
from app.jobs.carriers import CarrierRegistry

SQLITE_CONNECTIONS = 4
"""Connections of each pool: only one can write at a time, and each takes a megabyte."""
SQLITE_POOL_SECONDS = 120.0
"""Seconds that calls wait for a pooled connection, instead of each opening its own to wait for the
write lock."""
REPLICA_CONNECTIONS = 1
"""Connections to the replica, which only monthly reports use."""
CACHE_KILOBYTES = 512
"""Page cache of a connection: a call reads a few rows, only uploads gain from more."""


@dataclass(frozen=True, slots=True)
class WorkerContext:
    settings: Settings
    database: Database
    bulk_database: Database
    """For uploads: its connections keep much of an SQLite file in memory."""
    relaxed_database: Database
    """For what can be determined again: its commits become durable with the next one of
    `database`."""
    carriers: CarrierRegistry
    watch: CarrierStatistics
    signals: CallSignals
    writer: MessageWriter
    files: FileStore
    processor: PaymentProcessor
    mailer: Mailer


_current: list[WorkerContext] = []


def open_context(settings: Settings) -> WorkerContext:
    """Open the connections of a worker process for its workflows."""
    url = settings.effective_database_url
    engine = _make_small_engine(url, WORKER_CALLS)
    relaxed = _relax_commits(_make_small_engine(url, WORKER_RELAXED))
    ledger = _relax_commits(_make_small_engine(url, WORKER_LEDGER))
    watch, database = CarrierStatistics(), Database(relaxed)
    calls = Database(engine)
    if settings.replica_database_url and not calls.is_sqlite:
        lag = settings.replica_lag_seconds
        calls.read_at(settings.replica_url, lag, pool_size=REPLICA_CONNECTIONS)
    context = WorkerContext(
        settings=settings,
        database=calls,
        bulk_database=Database(make_engine(url, pool_size=WORKER_UPLOADS)),
        relaxed_database=database,
        carriers=CarrierRegistry(settings, database, open_carriers(settings, ledger), watch),
        watch=watch,
        signals=CallSignals(database),
        writer=open_writer(settings),
        files=open_files(settings),
        processor=open_processor(settings),
        mailer=open_mailer(settings),
    )
    _current[:] = [context]
    return context


def _make_small_engine(url: str, connections: int) -> Engine:
    if url.startswith("sqlite"):
        return make_engine(
            url,
            pool_size=SQLITE_CONNECTIONS,
            max_overflow=0,
            pool_seconds=SQLITE_POOL_SECONDS,
            cache_kilobytes=CACHE_KILOBYTES,
        )
    return make_engine(url, pool_size=connections)


def _relax_commits(engine: Engine) -> Engine:
    """Return the engine, whose commits on SQLite survive every kill, but not every power cut.

    One log holds all commits in order, so a synchronous commit makes those before it durable.
    """
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _synchronous_normal)
    return engine


def _synchronous_normal(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")


def context() -> WorkerContext:
    return _current[0]
