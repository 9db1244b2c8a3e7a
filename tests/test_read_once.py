"""A read-only transaction doesn't read the same data twice."""

from sqlalchemy.orm import Session

from app.database import Database, read_once


def read_twice(session: Session, *keys: str) -> list[str]:
    letters = iter("ab")
    return [read_once(session, (key,), lambda: next(letters)) for key in keys]


def test_a_transaction_that_only_reads_reads_once_under_a_key(database: Database) -> None:
    with database.transaction(read_only=True) as session:
        assert read_twice(session, "letter", "letter") == ["a", "a"]
        assert read_twice(session, "other", "more") == ["a", "b"]
    with database.figures() as session:
        assert read_twice(session, "letter", "letter") == ["a", "a"]


def test_a_transaction_that_may_write_reads_each_time(database: Database) -> None:
    with database.transaction() as session:
        assert read_twice(session, "letter", "letter") == ["a", "b"]


def test_a_transaction_knows_nothing_of_another(database: Database) -> None:
    for _transaction in range(2):
        with database.transaction(read_only=True) as session:
            assert read_twice(session, "letter", "other") == ["a", "b"]
