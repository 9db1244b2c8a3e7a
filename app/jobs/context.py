"""What the workflows of this process work with; set once when the worker starts."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from threading import BoundedSemaphore

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database, make_engine
from app.enums import CarrierKind
from app.gateways.carriers.base import Carrier
from app.gateways.carriers.simulator import Simulator
from app.gateways.files import FileStore, open_files
from app.gateways.writers.base import MessageWriter
from app.gateways.writers.template import TemplateWriter

APPLICATION_CONNECTIONS = 16
LEDGER_CONNECTIONS = 8


class OrderlyDatabase(Database):
    """Hundreds of calls may want to write at once; in turn they are done sooner than in a crowd.

    On SQLite one writes while the others wait without asking; PostgreSQL takes a few. Nothing may
    open a second writing transaction inside a first.
    """

    def __init__(self, engine: Engine):
        super().__init__(engine)
        self._turns = BoundedSemaphore(1 if self.is_sqlite else 4)

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Iterator[Session]:
        turn = nullcontext() if read_only else self._turns
        with turn, super().transaction(read_only=read_only) as session:
            yield session


@dataclass(frozen=True, slots=True)
class WorkerContext:
    settings: Settings
    database: Database
    call_database: OrderlyDatabase
    carriers: dict[CarrierKind, Carrier]
    writer: MessageWriter
    files: FileStore


_current: list[WorkerContext] = []


def open_context(settings: Settings) -> WorkerContext:
    """Opens the connections of a worker process and makes them known to its workflows."""
    url = settings.effective_database_url
    ledger = make_engine(url, pool_size=LEDGER_CONNECTIONS)
    engine = make_engine(url, pool_size=APPLICATION_CONNECTIONS)
    context = WorkerContext(
        settings=settings,
        database=Database(engine),
        call_database=OrderlyDatabase(engine),
        carriers={CarrierKind.SIMULATOR: Simulator(ledger, settings.simulator_pace)},
        writer=TemplateWriter(),
        files=open_files(settings),
    )
    _current[:] = [context]
    return context


def context() -> WorkerContext:
    return _current[0]
