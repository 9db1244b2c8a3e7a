"""On PostgreSQL a transaction begins and declares its scope in one message."""

from uuid import uuid4

import pytest
from sqlalchemy import Connection, text

from app.database import Database, make_engine
from app.database.scope import of_tenant

pytestmark = pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
SCOPE = text("SELECT current_setting('app.scope', true)")


def is_in_transaction(connection: Connection) -> bool:
    """Return whether the time of the transaction is the same for each statement."""
    first, second = (connection.scalar(text("SELECT now()")) for _each in range(2))
    return bool(first == second)


def test_an_error_rolls_back_its_transaction(fresh_database: Database) -> None:
    def count() -> int:
        with fresh_database.transaction(read_only=True) as session:
            return session.scalar(text("SELECT count(*) FROM installation_marks")) or 0

    before = count()
    add = text("INSERT INTO installation_marks (id, lineage, generation) VALUES (7, 'x', 1)")

    def fail() -> None:
        with fresh_database.transaction() as session:
            session.execute(add)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert count() == before
    with fresh_database.transaction() as session:
        session.execute(add)
    assert count() == before + 1


def test_each_transaction_of_a_connection_has_its_own_scope(fresh_database: Database) -> None:
    single = Database(make_engine(fresh_database.engine.url, pool_size=1, max_overflow=0))
    found = []
    for database in (single.within(of_tenant(uuid4(), None)), single):
        with database.transaction(read_only=True) as session:
            found.append((session.scalar(SCOPE), is_in_transaction(session.connection())))
    single.dispose()
    assert found == [("partner", True), ("installation", True)]


def test_a_connection_keeps_the_isolation_level_that_it_is_given(fresh_database: Database) -> None:
    single = make_engine(fresh_database.engine.url, pool_size=1, max_overflow=0)
    level = text("SHOW transaction_isolation")
    found = []
    for wanted in ("AUTOCOMMIT", "SERIALIZABLE", None):
        with single.connect() as connection:
            if wanted:
                connection.execution_options(isolation_level=wanted)
            found.append((connection.scalar(level), is_in_transaction(connection)))
    single.dispose()
    assert found == [("read committed", False), ("serializable", True), ("read committed", True)]
