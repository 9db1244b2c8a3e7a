"""The migration of the database, as the command line and /readyz report it."""

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from app.database import Database, make_engine
from app.database.migration import current, downgrade, head
from tests.fixtures.databases import Databases

ROOT = Path(__file__).resolve().parents[2]


def test_the_newest_migration_is_the_one_that_alembic_finds() -> None:
    found = ScriptDirectory.from_config(Config(ROOT / "alembic.ini")).get_heads()
    assert found == [head()]


def test_a_database_is_at_no_migration_then_at_the_newest_then_at_none_again(
    databases: Databases, backend: str, fresh_database: Database
) -> None:
    empty = Database(make_engine(databases.create(backend, like=None)))
    with empty.engine.connect() as connection:
        assert current(connection) is None
    empty.dispose()
    with fresh_database.engine.connect() as connection:
        assert current(connection) == head()
    downgrade(fresh_database)
    with fresh_database.engine.connect() as connection:
        assert current(connection) is None
