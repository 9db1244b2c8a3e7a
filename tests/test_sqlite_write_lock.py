"""Writers of one SQLite file wait for one another in a queue."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError

from app.database import Database, make_engine, sqlite_write_lock
from tests.fixtures.hung_process import WAITER, WRITER, hung
from tests.fixtures.worker import ROOT

HOLDER = """
import sys, time
from sqlalchemy import text
from app.database import Database, make_engine
with Database(make_engine(sys.argv[1])).transaction() as session:
    session.execute(text("INSERT INTO notes VALUES ('theirs')"))
    print("writing", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/portal.db"


@pytest.fixture
def database(url: str) -> Database:
    database = Database(make_engine(url))
    with database.transaction() as session:
        session.execute(text("CREATE TABLE notes (words TEXT)"))
    return database


def write(database: Database, words: str) -> None:
    with database.transaction() as session:
        session.execute(text("INSERT INTO notes VALUES (:words)"), {"words": words})


def written(database: Database) -> list[str]:
    with database.transaction(read_only=True) as session:
        return list(session.scalars(text("SELECT words FROM notes")))


def test_a_writer_continues_as_soon_as_a_killed_process_has_left_its_turn(
    database: Database, url: str
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, url], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "writing\n"
    waiting = threading.Thread(target=write, args=(database, "ours"))
    waiting.start()
    waiting.join(0.5)
    assert waiting.is_alive()
    assert written(database) == []
    os.kill(holder.pid, signal.SIGKILL)
    waiting.join()
    assert written(database) == ["ours"]
    holder.wait()
    holder.stdout.close()


def test_without_memory_for_a_thread_a_writer_waits_for_sqlite(
    database: Database, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_args: object, **_options: object) -> None:
        message = "can't start new thread"
        raise RuntimeError(message)

    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, url], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "writing\n"
    waiting = threading.Thread(target=write, args=(database, "ours"))
    monkeypatch.setattr(sqlite_write_lock, "Thread", no_memory)
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    os.kill(holder.pid, signal.SIGKILL)
    waiting.join()
    assert written(database) == ["ours"]
    holder.wait()
    holder.stdout.close()


def test_an_engine_may_be_made_before_the_folder_of_its_database(tmp_path: Path) -> None:
    database = Database(make_engine(f"sqlite:///{tmp_path}/later/portal.db"))
    (tmp_path / "later").mkdir()
    with database.transaction() as session:
        session.execute(text("CREATE TABLE notes (words TEXT)"))
    write(database, "first")
    assert written(database) == ["first"]


def test_many_threads_of_several_engines_write_each_its_own(database: Database, url: str) -> None:
    others = [Database(make_engine(url)) for _ in range(3)]
    names = [f"{engine}:{number}" for engine in range(3) for number in range(20)]
    threads = [threading.Thread(target=write, args=(others[int(name[0])], name)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(written(database)) == sorted(names)


def test_a_writer_that_failed_passes_its_turn_on(database: Database) -> None:
    with pytest.raises(OperationalError), database.transaction() as session:
        session.execute(text("INSERT INTO nothing VALUES (1)"))
    write(database, "next")
    assert written(database) == ["next"]


def test_a_writer_whose_commit_failed_passes_its_turn_on(database: Database, url: str) -> None:
    checked = "INTEGER REFERENCES parents(id) DEFERRABLE INITIALLY DEFERRED"
    with database.transaction() as session:
        session.execute(text("CREATE TABLE parents (id INTEGER PRIMARY KEY)"))
        session.execute(text(f"CREATE TABLE children (parent {checked})"))
    with pytest.raises(IntegrityError), database.transaction() as session:
        session.execute(text("INSERT INTO children VALUES (1)"))
    next_one = threading.Thread(
        target=write, args=(Database(make_engine(url)), "next"), daemon=True
    )
    next_one.start()
    next_one.join(5)
    assert not next_one.is_alive()
    assert written(database) == ["next"]


def test_a_writer_that_could_not_ask_for_the_lock_blocks_no_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_write_lock, "WAIT_SECONDS", 0.05)
    with monkeypatch.context() as refusing:
        refusing.setattr("fcntl.flock", refuse)
        with pytest.raises(OSError, match="no locks"):
            write(database, "lost")
    write(database, "next")
    with database.transaction() as session:
        raw: Any = session.connection().connection.dbapi_connection
        assert raw._has_turn
    assert written(database) == ["next"]


def refuse(_file: int, _operation: int) -> None:
    message = "no locks"
    raise OSError(message)


def test_readers_do_not_wait(database: Database) -> None:
    with database.transaction() as session:
        session.execute(text("INSERT INTO notes VALUES ('not yet')"))
        assert written(database) == []


def test_a_writer_without_a_turn_gets_the_error_of_sqlite_for_a_locked_file(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_write_lock, "WAIT_SECONDS", 0.05)
    heard: list[str] = []

    def write_late() -> None:
        with database.engine.connect().execution_options(read_only=True) as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=50")
        try:
            write(database, "too late")
        except OperationalError as error:
            heard.append(str(error.orig))

    with database.transaction() as session:
        session.execute(text("INSERT INTO notes VALUES ('first')"))
        late = threading.Thread(target=write_late)
        late.start()
        late.join()
    assert heard == ["database is locked"]
    assert written(database) == ["first"]


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_write_lock, "WAIT_SECONDS", 1.0)
    monkeypatch.setattr(sqlite_write_lock, "HUNG_SECONDS", 0.1)


@pytest.mark.usefixtures("short_waits")
def test_writers_do_not_wait_for_ever_for_a_process_that_hangs(
    database: Database, url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = []

    def write_in_vain() -> None:
        began = monotonic()
        with pytest.raises(OperationalError, match="database is locked"):
            write(database, "ours")
        seconds.append(monotonic() - began)

    with hung(WRITER, url) as holder:
        together = [threading.Thread(target=write_in_vain) for _ in range(4)]
        for each in together:
            each.start()
        for each in together:
            each.join()
        write_in_vain()
        assert max(seconds[:4]) < 10
        assert seconds[4] < 1, "the turn is known to be kept"
        assert sqlite_write_lock.lock_holders(f"{tmp_path}/portal.db") == [holder.pid]
        assert [record.getMessage() for record in caplog.records] == [
            f"others can't write: SQLite's write lock is held by process {holder.pid}"
        ]
        assert written(database) == []
    write(database, "ours")
    write(Database(make_engine(url)), "of another engine")
    assert written(database) == ["ours", "of another engine"]
    with database.transaction() as session:
        raw: Any = session.connection().connection.dbapi_connection
        assert raw.execute("PRAGMA busy_timeout").fetchone() == (30_000,)
        assert sqlite_write_lock.lock_holders(f"{tmp_path}/portal.db") == [os.getpid()]
    assert sqlite_write_lock.lock_holders(f"{tmp_path}/portal.db") == []


@pytest.mark.usefixtures("short_waits")
def test_a_process_that_hangs_before_it_writes_lets_others_write(
    database: Database, tmp_path: Path
) -> None:
    with hung(WAITER, f"{tmp_path}/portal.db-turns"):
        write(database, "first")
        write(database, "second")
    assert written(database) == ["first", "second"]
