"""A restored, recovered or copied database pauses calls, even if no mark outside reveals it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite
import pytest
from sqlalchemy import make_url, text

from app.database import Database, make_engine
from app.database.identity import check_connections
from app.database.migration import upgrade
from app.jobs.restore_detection import LABEL, MarkFile
from app.models import InstallationMark, SimulatedCall, WorkerHeartbeat, utcnow
from app.policy.caller import system_caller
from app.private_files import MARK_FILE
from app.services import pauses
from tests.fixtures import postgres
from tests.fixtures.databases import POSTGRES_ADMIN, Databases
from tests.fixtures.recoverable_server import OWNER, OwnServer, own_server
from tests.fixtures.settings import url_of
from tests.jobs.conftest import pause_reasons

pytestmark = pytest.mark.alternating

RESTORED = ["restored from a backup"]
connect: Any = sqlite.connect  # type: ignore[attr-defined]  # the driver has no types
COPIED = ["restored from a backup, or a copy of another installation"]
RECOVERED = ["the database was recovered or its standby took over; recent calls may be missing"]
NEW_HOST = ["started on a new host after an outage; recent calls may be missing"]

sqlite_only = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
postgresql_only = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)


def beat(database: Database, folder: Path, times: int = 2) -> None:
    """A worker that starts and beats so often."""
    mark_file = MarkFile(folder, database)
    for _ in range(times):
        with database.transaction() as session:
            mark_file.advance(session)
        mark_file.write_committed()


def opened(url: str) -> Database:
    return Database(make_engine(url))


def call_was_placed(database: Database) -> None:
    with database.transaction() as session:
        call = SimulatedCall(reference="x", from_number="", to_number="+1", placed_at=utcnow())
        session.add(call)


def found_by_new_host(url: str, folder: Path) -> list[str]:
    """The pauses after a worker without a mark has started on the database."""
    database = opened(url)
    beat(database, folder)
    found = pause_reasons(database)
    beat(database, folder)
    assert pause_reasons(database) == found
    database.dispose()
    return found


def path_of(database: Database) -> Path:
    return Path(str(database.engine.url.database))


@pytest.fixture
def used_database(fresh_database: Database, tmp_path: Path) -> Database:
    """A database with a call, on which a worker ran."""
    call_was_placed(fresh_database)
    beat(fresh_database, tmp_path / "instance")
    return fresh_database


@pytest.fixture
def server() -> Iterator[OwnServer]:
    with own_server() as running:
        yield running


def migrated(server: OwnServer) -> Database:
    server.ask(f"CREATE DATABASE portal OWNER {OWNER}")
    database = opened(server.url("portal"))
    upgrade(database)
    call_was_placed(database)
    return database


def dump(url: str, file: Path) -> None:
    """As `flask backup` and any operator does it."""
    run_tool("pg_dump", url, "--format=custom", f"--file={file}")


def restore(url: str, file: Path, *more: str) -> None:
    run_tool("pg_restore", url, "--exit-on-error", *more, str(file))


def run_tool(program: str, url: str, *options: str) -> None:
    parsed = make_url(url)
    address = [f"--host={parsed.host}", f"--port={parsed.port}", f"--username={POSTGRES_ADMIN}"]
    command = [
        str(postgres.programs() / program),
        *address,
        f"--dbname={parsed.database}",
        *options,
    ]
    subprocess.run(command, check=True)


@sqlite_only
@pytest.mark.parametrize("how", ["cp", "cp -a", "backup", "vacuum into"])
def test_a_copied_sqlite_file_is_noticed_without_a_mark(
    used_database: Database, tmp_path: Path, how: str
) -> None:
    copy, own = tmp_path / "copy.db", path_of(used_database)
    if how == "vacuum into":
        with used_database.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.exec_driver_sql("COMMIT")
            connection.execute(text("VACUUM INTO :path"), {"path": str(copy)})
    elif how == "backup":
        with (
            closing(connect(str(own))) as source,
            closing(connect(str(copy))) as target,
        ):
            source.backup(target)
    else:
        used_database.dispose()
        subprocess.run([*how.split(), own, copy], check=True)
    assert found_by_new_host(f"sqlite:///{copy}", tmp_path / "new host") == COPIED


@sqlite_only
def test_an_older_file_written_over_the_database_is_noticed_without_a_mark(
    used_database: Database, tmp_path: Path
) -> None:
    own, backup = path_of(used_database), tmp_path / "backup.db"
    used_database.dispose()
    shutil.copy(own, backup)
    beat(used_database, tmp_path / "instance")
    used_database.dispose()
    inode = own.stat().st_ino
    shutil.copyfile(backup, own)
    assert own.stat().st_ino == inode
    assert found_by_new_host(url_of(used_database), tmp_path / "new host") == RESTORED


@sqlite_only
def test_a_copy_that_got_the_inode_of_the_original_is_noticed(
    used_database: Database, tmp_path: Path
) -> None:
    os.removexattr(path_of(used_database), LABEL)
    assert found_by_new_host(url_of(used_database), tmp_path / "new host") == COPIED


@sqlite_only
def test_restarting_moving_and_vacuuming_a_sqlite_file_are_no_restore(
    used_database: Database, tmp_path: Path
) -> None:
    own, moved = path_of(used_database), tmp_path / "moved.db"
    used_database.compact()
    used_database.release_space()
    beat(used_database, tmp_path / "instance")
    used_database.dispose()
    own.rename(moved)
    assert found_by_new_host(f"sqlite:///{moved}", tmp_path / "new host") == []


def test_a_database_of_an_earlier_version_is_no_restore(
    used_database: Database, tmp_path: Path
) -> None:
    with used_database.transaction() as session:
        row = session.get_one(InstallationMark, 1)
        row.server = row.timeline = row.database = row.written_by = None
        row.is_labelled = False
    beat(used_database, tmp_path / "instance")
    assert pause_reasons(used_database) == []


def test_a_new_host_after_an_outage_pauses_and_beside_a_living_worker_does_not(
    used_database: Database, tmp_path: Path
) -> None:
    beats = {"hostname": "a", "pid": 1}
    with used_database.transaction() as session:
        session.add(WorkerHeartbeat(executor_id="living", beat_at=utcnow(), **beats))
        session.add(WorkerHeartbeat(executor_id="current", beat_at=utcnow(), **beats))
        before = utcnow() - timedelta(minutes=10)
        session.add(WorkerHeartbeat(executor_id="dead", beat_at=before, **beats))
    beat(used_database, tmp_path / "another host")
    assert pause_reasons(used_database) == []
    with used_database.transaction() as session:
        session.delete(session.get_one(WorkerHeartbeat, "living"))
    beat(used_database, tmp_path / "instance")
    assert pause_reasons(used_database) == []
    beat(used_database, tmp_path / "new host")
    assert pause_reasons(used_database) == NEW_HOST


@postgresql_only
def test_a_dump_in_another_database_is_noticed_without_a_mark(
    used_database: Database, databases: Databases, tmp_path: Path
) -> None:
    dump(url_of(used_database), tmp_path / "dump")
    url = databases.create("postgresql", like=None)
    restore(url, tmp_path / "dump")
    assert found_by_new_host(url, tmp_path / "new host") == COPIED
    databases.drop(url)


@postgresql_only
@pytest.mark.parametrize("how", ["whole", "--data-only"])
def test_a_dump_read_into_its_own_database_is_noticed_with_an_older_mark(
    used_database: Database, tmp_path: Path, how: str
) -> None:
    beat(used_database, tmp_path / "instance")
    shutil.copytree(tmp_path / "instance", tmp_path / "older")
    beat(used_database, tmp_path / "instance")
    dump(url_of(used_database), tmp_path / "dump")
    beat(used_database, tmp_path / "instance")
    if how == "--data-only":
        with used_database.engine.begin() as connection:
            connection.execute(text("TRUNCATE installation_marks"))
        restore(url_of(used_database), tmp_path / "dump", how, "--table=installation_marks")
    else:  # emptied first: pg_restore --clean can't drop partitions
        with used_database.engine.begin() as connection:
            for schema in ("public", "dbos"):
                connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        used_database.dispose()
        restore(url_of(used_database), tmp_path / "dump")
    beat(used_database, tmp_path / "older")
    assert pause_reasons(used_database) == RESTORED


@postgresql_only
def test_a_database_made_from_another_is_noticed_without_a_mark(
    used_database: Database, databases: Databases, tmp_path: Path
) -> None:
    used_database.dispose()
    url = databases.create("postgresql", like=path_of(used_database).name)
    assert found_by_new_host(url, tmp_path / "new host") == COPIED
    databases.drop(url)


@postgresql_only
def test_maintenance_of_postgresql_is_no_restore(used_database: Database, tmp_path: Path) -> None:
    with used_database.engine.connect() as opened_one:
        connection = opened_one.execution_options(isolation_level="AUTOCOMMIT")
        for statement in ("VACUUM FULL installation_marks", "VACUUM FREEZE", "REINDEX TABLE calls"):
            connection.exec_driver_sql(statement)
    beat(used_database, tmp_path / "instance")
    assert found_by_new_host(url_of(used_database), tmp_path / "new host") == []


@pytest.mark.crash
def test_a_recovery_to_a_point_in_time_is_noticed_without_a_mark(
    server: OwnServer, tmp_path: Path
) -> None:
    database = migrated(server)
    server.back_up()
    beat(database, tmp_path / "instance")
    moment = str(server.ask("SELECT clock_timestamp()")[0])
    call_was_placed(database)
    database.dispose()
    server.recover(moment)
    assert found_by_new_host(server.url("portal"), tmp_path / "new host") == RECOVERED


@pytest.mark.crash
def test_a_connection_that_leads_to_another_database_is_noticed_at_once(
    server: OwnServer, tmp_path: Path
) -> None:
    noticed: list[str] = []
    engine = make_engine(migrated(server).engine.url)
    check_connections(engine, lambda: noticed.append("another"))
    for _ in "12":
        engine.connect().close()
        engine.dispose()
        server.stop()
        server.start()
    engine.connect().close()
    engine.dispose()
    assert noticed == []
    server.ask("DROP DATABASE portal WITH (FORCE)")
    server.ask(f"CREATE DATABASE portal OWNER {OWNER}")
    engine.connect().close()
    engine.dispose()
    assert noticed == ["another"]


@pytest.mark.crash
def test_a_restarted_or_crashed_server_is_no_restore(server: OwnServer, tmp_path: Path) -> None:
    database = migrated(server)
    beat(database, tmp_path / "instance")
    for how in ("fast", "immediate"):
        database.dispose()
        server.stop(how)
        server.start()
        beat(database, tmp_path / "instance")
    assert pause_reasons(database) == []
    database.dispose()


@pytest.mark.crash
def test_a_copy_of_a_running_servers_disk_is_noticed_on_a_new_host(
    server: OwnServer, tmp_path: Path
) -> None:
    database = migrated(server)
    with database.transaction() as session:
        before = utcnow() - timedelta(minutes=10)
        dead = WorkerHeartbeat(executor_id="a", hostname="a", pid=1, beat_at=before)
        session.add(dead)
    beat(database, tmp_path / "instance")
    base = server.base_backup()
    database.dispose()
    server.put(base)
    assert found_by_new_host(server.url("portal"), tmp_path / "new host") == NEW_HOST


@pytest.mark.crash
def test_a_dump_on_another_server_is_noticed_without_a_mark(
    databases: Databases, server: OwnServer, tmp_path: Path
) -> None:
    source = opened(databases.create("postgresql"))
    call_was_placed(source)
    beat(source, tmp_path / "instance")
    dump(url_of(source), tmp_path / "dump")
    server.ask(f"CREATE DATABASE portal OWNER {OWNER}")
    restore(server.url("portal"), tmp_path / "dump")
    assert found_by_new_host(server.url("portal"), tmp_path / "new host") == COPIED
    source.dispose()
    databases.drop(url_of(source))


def test_the_same_restore_does_not_pause_calls_again_after_an_operator_resumes(
    used_database: Database, tmp_path: Path
) -> None:
    with used_database.transaction() as session:
        session.get_one(InstallationMark, 1).generation -= 60_000
    folder = tmp_path / "instance"
    beat(used_database, folder)
    assert pause_reasons(used_database) == RESTORED
    with used_database.transaction() as session:
        assert pauses.resume(session, system_caller("tests"), pauses.PauseScope())
    beat(used_database, folder)
    assert pause_reasons(used_database) == []
    (folder / MARK_FILE).unlink()
    beat(used_database, folder)
    assert pause_reasons(used_database) == []
