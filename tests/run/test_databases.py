"""The tests' own databases: what one test writes, no other sees."""

import subprocess
import sys
from contextlib import suppress

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from app.database import Database, make_engine
from app.models import CarrierPace, utcnow
from tests.fixtures.databases import Databases

WRITER = """
import os, sys
from sqlalchemy import text
from app.database import make_engine
connection = make_engine(sys.argv[1]).connect()
connection.execute(text("CREATE TABLE kept AS SELECT 7 AS number"))
connection.commit()
os._exit(0)
"""


def pace(carrier: str) -> CarrierPace:
    return CarrierPace(carrier=carrier, next_at=utcnow())


def carriers(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(CarrierPace)) or 0


@pytest.mark.parametrize("turn", [1, 2])
def test_a_test_sees_its_own_commits_and_later_tests_do_not(
    database: Database, session: Session, turn: int
) -> None:
    with database.transaction() as writing:
        writing.add(pace("one"))
    session.add(pace("two"))
    session.commit()
    with database.transaction(read_only=True) as reading:
        assert carriers(reading) == 2


def test_a_failed_transaction_rolls_back_only_its_own_work(database: Database) -> None:
    with database.transaction() as writing:
        writing.add(pace("one"))
    with suppress(ZeroDivisionError), database.transaction() as writing:
        writing.add(pace("two"))
        writing.flush()
        raise ZeroDivisionError
    with database.transaction(read_only=True) as reading:
        assert reading.scalars(select(CarrierPace.carrier)).all() == ["one"]


@pytest.mark.parametrize("turn", [1, 2])
def test_a_fresh_database_commits_for_every_connection(fresh_database: Database, turn: int) -> None:
    with fresh_database.transaction() as writing:
        writing.add(pace("one"))
    with fresh_database.engine.connect() as elsewhere:
        assert elsewhere.scalar(select(func.count()).select_from(CarrierPace)) == 1


def test_a_copy_holds_what_a_process_wrote_that_ended_without_closing(databases: Databases) -> None:
    def fill(url: str) -> None:
        subprocess.run([sys.executable, "-c", WRITER, url], check=True)

    databases.template("sqlite", "left_open", fill)
    url = databases.create("sqlite", like="left_open")
    engine = make_engine(url)
    with engine.connect() as connection:
        assert connection.scalars(text("SELECT number FROM kept")).all() == [7]
    engine.dispose()
    databases.drop(url)
