"""What the workflows of this process work with; set once when the worker starts."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, event

from app.config import Settings
from app.database import Database, make_engine
from app.gateways.carriers.opening import open_carriers
from app.gateways.files import FileStore, open_files
from app.gateways.mailers import Mailer, open_mailer
from app.gateways.processors import open_processor
from app.gateways.processors.base import Processor
from app.gateways.writers.base import MessageWriter
from app.gateways.writers.opening import open_writer
from app.jobs.lines import Lines
from app.jobs.news import News
from app.jobs.watching import Watch

APPLICATION_CONNECTIONS = 16
LEDGER_CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class WorkerContext:
    settings: Settings
    database: Database
    note_database: Database
    """For what can be found out again: its commits wait for the next one that must be kept."""
    lines: Lines
    watch: Watch
    news: News
    writer: MessageWriter
    files: FileStore
    processor: Processor
    mailer: Mailer


_current: list[WorkerContext] = []


def open_context(settings: Settings) -> WorkerContext:
    """Opens the connections of a worker process and makes them known to its workflows."""
    url = settings.effective_database_url
    engine = make_engine(url, pool_size=APPLICATION_CONNECTIONS)
    notes = _unhurried(make_engine(url, pool_size=APPLICATION_CONNECTIONS))
    ledger = _unhurried(make_engine(url, pool_size=LEDGER_CONNECTIONS))
    watch, database = Watch(), Database(notes)
    context = WorkerContext(
        settings=settings,
        database=Database(engine),
        note_database=database,
        lines=Lines(settings, database, open_carriers(settings, ledger), watch),
        watch=watch,
        news=News(database),
        writer=open_writer(settings),
        files=open_files(settings),
        processor=open_processor(settings),
        mailer=open_mailer(settings),
    )
    _current[:] = [context]
    return context


def _unhurried(engine: Engine) -> Engine:
    """On SQLite, connections whose commits survive every kill, but not each a power cut.

    One log holds all commits in their order, so a synchronous one keeps those before it.
    """
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _synchronous_normal)
    return engine


def _synchronous_normal(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")


def context() -> WorkerContext:
    return _current[0]
