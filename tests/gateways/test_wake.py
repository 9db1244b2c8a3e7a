"""Wake-ups are sent with the commit, and set the event of the process that listens."""

import threading
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from app.database import Database
from app.gateways import wake
from app.gateways.wake import WakeEvent, WakeEvents
from tests.fixtures.worker import wait_until


@pytest.fixture
def wake_events(fresh_database: Database) -> Iterator[WakeEvents]:
    """Those of a process that listens; the ring on arrival is answered already."""
    listening, stop = WakeEvents(), threading.Event()
    url = fresh_database.engine.url.render_as_string(hide_password=False)
    thread = threading.Thread(target=wake.keep_listening, args=(url, listening, stop), daemon=True)
    thread.start()

    def hears() -> bool:
        with fresh_database.transaction() as session:
            wake.wake(session, "hello")
        return woken(listening.of("hello"), 0.2)

    for topic in ("hello", "calls", "mail"):
        listening.of(topic).wait(0, stop)
    wait_until(hears, 10)
    for topic in ("calls", "mail"):  # PostgreSQL's listener rings all on its arrival
        listening.of(topic).wait(0, stop)
    yield listening
    stop.set()
    with fresh_database.transaction() as session:
        wake.wake(session, "calls")
    thread.join(5)


def woken(wake_event: WakeEvent, seconds: float) -> bool:
    begun = time.monotonic()
    wake_event.wait(seconds, threading.Event())
    return time.monotonic() - begun < seconds


def test_a_commit_wakes_the_readers_of_its_topic_alone(
    fresh_database: Database, wake_events: WakeEvents
) -> None:
    with fresh_database.transaction() as session:
        wake.wake(session, "calls")
        wake.wake(session, "calls")
        assert woken(wake_events.of("calls"), 0.3) is False  # nothing is committed yet
    assert woken(wake_events.of("calls"), 5) is True
    assert woken(wake_events.of("mail"), 0.3) is False


def test_a_rolled_back_savepoint_does_not_hide_a_later_wake_up(
    fresh_database: Database, wake_events: WakeEvents
) -> None:
    with fresh_database.transaction() as session:
        with session.begin_nested() as savepoint:
            wake.wake(session, "calls")
            savepoint.rollback()
        wake.wake(session, "calls")
    assert woken(wake_events.of("calls"), 5) is True


def test_a_session_wakes_in_each_of_its_transactions(
    fresh_database: Database, wake_events: WakeEvents
) -> None:
    with fresh_database.transaction() as session:
        wake.wake(session, "calls")
        session.commit()
        assert woken(wake_events.of("calls"), 5) is True
        wake.wake(session, "calls")
    assert woken(wake_events.of("calls"), 5) is True


def test_a_commit_without_a_listener_succeeds(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        session.execute(text("CREATE TABLE written (id INTEGER)"))
        wake.wake(session, "calls")
    with fresh_database.transaction(read_only=True) as session:
        assert session.scalar(text("SELECT count(*) FROM written")) == 0


def test_a_flood_of_wake_ups_is_answered_ten_times_a_second() -> None:
    wake_event, stop, turns = WakeEvent(), threading.Event(), 0
    wake_event.wait(0, stop)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        wake_event.wake()
        wake_event.wait(5, stop)
        turns += 1
    assert turns in (4, 5, 6)


def test_an_event_ends_the_first_wait_and_each_wait_after_a_wake_up() -> None:
    wake_event = WakeEvent()
    assert woken(wake_event, 5) is True
    assert woken(wake_event, 0.2) is False
    wake_event.wake()
    assert woken(wake_event, 5) is True
    assert woken(wake_event, 0.2) is False
