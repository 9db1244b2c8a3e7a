"""What the workflows of this process work with; set once when the worker starts."""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class WorkerContext:
    settings: Settings
    database: Database
    carriers: dict[CarrierKind, Carrier]
    writer: MessageWriter
    files: FileStore


_current: list[WorkerContext] = []


def open_context(settings: Settings) -> WorkerContext:
    """Opens the connections of a worker process and makes them known to its workflows."""
    url = settings.effective_database_url
    ledger = make_engine(url, pool_size=LEDGER_CONNECTIONS)
    context = WorkerContext(
        settings=settings,
        database=Database(make_engine(url, pool_size=APPLICATION_CONNECTIONS)),
        carriers={CarrierKind.SIMULATOR: Simulator(ledger, settings.simulator_pace)},
        writer=TemplateWriter(),
        files=open_files(settings),
    )
    _current[:] = [context]
    return context


def context() -> WorkerContext:
    return _current[0]
