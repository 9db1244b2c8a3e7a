"""The tests' own databases: what one test writes, no other sees."""

from contextlib import suppress

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.database import Database
from app.models import CarrierPace, utcnow


def pace(carrier: str) -> CarrierPace:
    return CarrierPace(carrier=carrier, next_at=utcnow())


def carriers(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(CarrierPace)) or 0


@pytest.mark.parametrize("turn", [1, 2])
def test_what_a_test_commits_is_seen_in_it_and_gone_after_it(
    database: Database, session: Session, turn: int
) -> None:
    with database.transaction() as writing:
        writing.add(pace("one"))
    session.add(pace("two"))
    session.commit()
    with database.transaction(read_only=True) as reading:
        assert carriers(reading) == 2


def test_a_transaction_that_fails_takes_back_its_own_work_alone(database: Database) -> None:
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
