"""SQLite's file gets smaller when much was deleted."""

from pathlib import Path

import pysqlite3.dbapi2 as sqlite
import pytest
from sqlalchemy import Connection, text

from app.database import KEPT_PAGES, Database, make_engine

PAGE = 8192
ROWS = 3000


def pages(connection: Connection) -> tuple[int, int]:
    """All, and the free ones."""
    read = (connection.exec_driver_sql(f"PRAGMA {name}_count") for name in ("page", "freelist"))
    all_, free = (int(one.scalar() or 0) for one in read)
    return all_, free


def fill_and_empty(database: Database) -> None:
    with database.engine.begin() as connection:
        connection.execute(text("CREATE TABLE pieces (content BLOB)"))
        for _ in range(ROWS):
            connection.execute(text("INSERT INTO pieces VALUES (zeroblob(8000))"))
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM pieces"))
        assert pages(connection)[1] >= ROWS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "portal.db"


def test_free_pages_are_returned_except_a_reserve(path: Path) -> None:
    database = Database(make_engine(f"sqlite:///{path}"))
    fill_and_empty(database)
    given_back = database.release_space(pause_seconds=0)
    with database.engine.connect() as connection:
        assert pages(connection)[1] == KEPT_PAGES
    assert given_back >= (ROWS - KEPT_PAGES) * PAGE
    assert database.release_space() == 0
    database.dispose()  # the last connection empties the log into the file
    assert path.stat().st_size < (KEPT_PAGES + 50) * PAGE


def test_a_file_of_an_earlier_version_returns_space_once_it_was_compacted(path: Path) -> None:
    old = sqlite.connect(str(path))  # type: ignore[attr-defined]  # the driver has no types
    old.execute("PRAGMA page_size=8192")
    old.execute("CREATE TABLE earlier (id INTEGER)")
    old.commit()
    old.close()
    database = Database(make_engine(f"sqlite:///{path}"))
    fill_and_empty(database)
    assert database.release_space(pause_seconds=0) == 0
    assert database.compact() >= ROWS * PAGE
    assert path.stat().st_size < 10 * PAGE
    with database.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA auto_vacuum").scalar() == 2
    database.dispose()
