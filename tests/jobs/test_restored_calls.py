"""Seven calls are placed after a backup; whatever the kind of restore, none is placed again."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select

from app.database import Database, make_engine
from app.database.migration import upgrade
from app.gateways.job_queue import migrate_engine
from app.jobs.restore_detection import MarkFile
from app.models import HeldCall, SimulatedCall
from app.services import pauses
from tests.fixtures import postgres
from tests.fixtures.recoverable_server import OWNER, OwnServer, own_server
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.worker import Worker, create_calling_organization, outcome, wait_until
from tests.matrix import rotating

pytestmark = pytest.mark.alternating

CALLS = 7
COPIED = "restored from a backup, or a copy of another installation"
REASONS = {
    "same host": COPIED,
    "new host": COPIED,
    "older folder": "restored from a backup",
    "point in time": "the database was recovered or its standby took over; "
    "recent calls may be missing",
    "copied database": COPIED,
}


@dataclass
class PortalServer:
    """A server with the database ``portal``, and the instance folder of its worker."""

    server: OwnServer
    folder: Path
    dumped: Path

    @property
    def database(self) -> Database:
        return self.opened("portal")

    def opened(self, name: str) -> Database:
        return Database(make_engine(self.server.url(name)))

    def dump(self) -> None:
        self._tool("pg_dump", self.server, "portal", "--format=custom", f"--file={self.dumped}")

    def restore(self, server: OwnServer) -> None:
        self._tool("pg_restore", server, "portal", str(self.dumped))

    def _tool(self, program: str, server: OwnServer, name: str, *options: str) -> None:
        address = ["--host=127.0.0.1", f"--port={server.port}", "--username=portal"]
        tool = str(postgres.programs() / program)
        subprocess.run([tool, *address, f"--dbname={name}", *options], check=True)


@pytest.fixture
def portal_server(tmp_path: Path) -> Iterator[PortalServer]:
    with own_server() as server:
        server.ask(f"CREATE DATABASE portal OWNER {OWNER}")
        made = PortalServer(server, tmp_path / "instance", tmp_path / "dump")
        database = made.database
        upgrade(database)
        migrate_engine(server.url("portal"))
        mark = MarkFile(made.folder, database)
        with database.transaction() as session:
            mark.advance(session)
        mark.write_committed()
        database.dispose()
        yield made


def wait_for_seven(portal_server: PortalServer) -> list[UUID]:
    database = portal_server.database
    calling_organization = create_calling_organization(database)
    accepted = [
        calling_organization.dial(database, f"+1212555{1000 + number}") for number in range(CALLS)
    ]
    database.dispose()
    return accepted


def place(portal_server: PortalServer, accepted: list[UUID]) -> None:
    """A worker places the calls after the backup."""
    database = portal_server.database
    worker = Worker(
        database, PORTAL_INSTANCE_DIR=str(portal_server.folder), PORTAL_SECRET_KEY=SECRET_KEY
    )
    worker.start()
    try:
        assert {outcome(database, call_id)[0] for call_id in accepted} == {"completed"}
        worker.stop()
    finally:
        worker.close()
        database.dispose()


def same_host(portal_server: PortalServer, tmp_path: Path) -> tuple[str, Path]:
    accepted = wait_for_seven(portal_server)
    portal_server.dump()
    place(portal_server, accepted)
    portal_server.server.ask("DROP DATABASE portal WITH (FORCE)")
    portal_server.server.ask(f"CREATE DATABASE portal OWNER {OWNER}")
    portal_server.restore(portal_server.server)
    (portal_server.folder / "dialler.mark").unlink()  # without it, only the identity differs
    return portal_server.server.url("portal"), portal_server.folder


def new_host(portal_server: PortalServer, tmp_path: Path) -> tuple[str, Path]:
    accepted = wait_for_seven(portal_server)
    portal_server.dump()
    place(portal_server, accepted)
    other = portal_server.server.another()
    other.ask(f"CREATE DATABASE portal OWNER {OWNER}")
    portal_server.restore(other)
    return other.url("portal"), tmp_path / "new host"


def older_folder(portal_server: PortalServer, tmp_path: Path) -> tuple[str, Path]:
    shutil.copytree(portal_server.folder, tmp_path / "older")
    accepted = wait_for_seven(portal_server)
    portal_server.dump()
    place(portal_server, accepted)
    portal_server.server.ask(f"DROP OWNED BY {OWNER}", "portal")  # only the mark differs
    portal_server.restore(portal_server.server)
    return portal_server.server.url("portal"), tmp_path / "older"


def point_in_time(portal_server: PortalServer, tmp_path: Path) -> tuple[str, Path]:
    portal_server.server.back_up()
    accepted = wait_for_seven(portal_server)
    moment = str(portal_server.server.ask("SELECT clock_timestamp()")[0])
    place(portal_server, accepted)
    portal_server.server.recover(moment)
    return portal_server.server.url("portal"), tmp_path / "new host"


def copied_database(portal_server: PortalServer, tmp_path: Path) -> tuple[str, Path]:
    accepted = wait_for_seven(portal_server)
    portal_server.server.ask(f"CREATE DATABASE copy OWNER {OWNER} TEMPLATE portal")
    place(portal_server, accepted)
    return portal_server.server.url("copy"), tmp_path / "new host"


SHAPES: dict[str, Callable[[PortalServer, Path], tuple[str, Path]]] = {
    "same host": same_host,
    "new host": new_host,
    "older folder": older_folder,
    "point in time": point_in_time,
    "copied database": copied_database,
}


@pytest.mark.worker
@pytest.mark.crash
@pytest.mark.parametrize("shape", rotating("way of a restore", list(SHAPES)))
def test_no_call_is_placed_again_after_a_restore(
    portal_server: PortalServer, tmp_path: Path, shape: str
) -> None:
    url, folder = SHAPES[shape](portal_server, tmp_path)
    restored = Database(make_engine(url))
    worker = Worker(restored, PORTAL_INSTANCE_DIR=str(folder), PORTAL_SECRET_KEY=SECRET_KEY)
    try:
        worker.start()
        wait_until(lambda: counted(restored, HeldCall.call_id) == CALLS)
        with restored.transaction(read_only=True) as session:
            found = [pause.reason for pause in pauses.listing(session)]
        placed_again = counted(restored, SimulatedCall.id)
    finally:
        worker.close()
        restored.dispose()
    assert (found, placed_again) == ([REASONS[shape]], 0)


def counted(database: Database, column: object) -> int:
    with database.transaction(read_only=True) as session:
        return session.scalar(select(func.count(column))) or 0  # type: ignore[arg-type]  # any column
