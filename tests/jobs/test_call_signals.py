"""A call's worker gets the signals of its attempt, and of no other."""

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy.exc import OperationalError

from app.database import Database
from app.jobs.call_signals import CallSignals
from app.models import new_id
from app.services.calls import events
from tests.fixtures.worker import wait_until

MINE, OTHER = new_id(), new_id()


@pytest.fixture
def call_signals(fresh_database: Database) -> Iterator[CallSignals]:
    stop, read = threading.Event(), CallSignals(fresh_database)
    thread = threading.Thread(target=read.keep_reading, args=(stop,))
    thread.start()
    yield read
    stop.set()
    thread.join()


def remaining_signals(database: Database) -> set[object]:
    with database.transaction(read_only=True) as session:
        return set(events.signaled_attempts(session))


def test_a_signal_of_an_attempt_wakes_its_call_session(
    fresh_database: Database, call_signals: CallSignals
) -> None:
    with call_signals.of(MINE) as reported:
        with fresh_database.transaction() as session:
            events.signal(session, OTHER)
            events.signal(session, MINE)
            events.signal(session, MINE)
        assert reported.wait(30)
        reported.clear()
        wait_until(lambda: remaining_signals(fresh_database) == {OTHER})
        assert not reported.wait(1)
        with call_signals.of(OTHER) as taken_over:
            assert taken_over.wait(30)
    assert remaining_signals(fresh_database) == set()


def test_signals_are_read_again_when_the_database_is_back(
    fresh_database: Database, call_signals: CallSignals, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = threading.Event()

    def reported_of(_session: object) -> set[object]:
        away.set()
        raise OperationalError("", {}, Exception("away"))

    with call_signals.of(MINE) as reported:
        with monkeypatch.context() as outage:
            outage.setattr(events, "signaled_attempts", reported_of)
            assert away.wait(30)
        with fresh_database.transaction() as session:
            events.signal(session, MINE)
        assert reported.wait(30)
