"""Dead workers, by heartbeats and the database's time."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from app.gateways.job_queue import QUEUES
from app.models import WorkerHeartbeat
from app.services import workers
from app.services.workers import HeartbeatSeries

DEAD_AFTER = timedelta(seconds=10)
NOON = datetime(2026, 10, 15, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def pulse_of(*beats: float) -> HeartbeatSeries:
    pulse = HeartbeatSeries(DEAD_AFTER)
    for seconds in beats:
        pulse.add(at(seconds))
    return pulse


@pytest.mark.parametrize(
    ("beats", "now", "may_judge"),
    [
        ((), 0, False),
        ((0, 2, 4, 6, 8), 9, False),
        ((0, 2, 4, 6, 8, 10), 10, True),
        ((0, 5, 10), 15, True),
        ((0, 5, 10), 15.1, False),
        ((0, 2, 4, 6, 8, 10, 25), 26, False),
        ((0, 2, 4, 6, 8, 10, 25, 27, 29, 31, 33, 35), 35, True),
        ((0, 2, 4, 6, 8, 10, 4), 5, False),
        ((0, 2, 4, 6, 8, 10), 9, False),
    ],
    ids=[
        "it has just started",
        "it has not beaten for long enough",
        "it has",
        "gaps of half that time",
        "its own last heartbeat is old",
        "right after an outage",
        "as long after an outage as others may be silent",
        "the database's clock was set back",
        "and is behind its last heartbeat",
    ],
)
def test_a_worker_judges_after_an_unbroken_series_of_its_own_heartbeats(
    beats: tuple[float, ...], now: float, *, may_judge: bool
) -> None:
    assert pulse_of(*beats).may_judge(at(now)) is may_judge


def test_a_worker_that_left_is_dead_at_once_and_a_silent_one_when_judged(session: Session) -> None:
    for name in ("living", "silent"):
        workers.announce(session, name)
    now = workers.database_time(session)
    session.get_one(WorkerHeartbeat, "silent").beat_at = now - DEAD_AFTER - timedelta(seconds=1)
    session.flush()
    judge, newcomer = HeartbeatSeries(DEAD_AFTER), HeartbeatSeries(DEAD_AFTER)
    for seconds in (10, 8, 6, 4, 2, 0):
        judge.add(now - timedelta(seconds=seconds))
    newcomer.add(now)
    known = ["living", "silent", "gone"]
    assert workers.dead(session, known, judge) == {"silent", "gone"}
    assert workers.dead(session, known, newcomer) == {"gone"}


def test_each_queue_counts_the_living_workers_that_serve_it(session: Session) -> None:
    no_one = dict.fromkeys(QUEUES, 0)
    assert workers.by_queue(workers.listing(session, 15).online) == no_one
    assert workers.unserved_queues(no_one) == []
    workers.announce(session, "one", ["calls", "mail"])
    workers.announce(session, "two", ["mail", "a queue of a newer version"])
    workers.announce(session, "silent")
    long_ago = workers.database_time(session) - timedelta(seconds=16)
    session.get_one(WorkerHeartbeat, "silent").beat_at = long_ago
    session.flush()
    counts = workers.by_queue(workers.listing(session, 15).online)
    assert counts == no_one | {"calls": 1, "mail": 2}
    assert workers.unserved_queues(counts) == [n for n in QUEUES if n not in ("calls", "mail")]
    workers.announce(session, "of all")
    assert workers.unserved_queues(workers.by_queue(workers.listing(session, 15).online)) == []


def test_a_heartbeat_returns_the_databases_time_or_that_the_worker_is_dead(
    session: Session,
) -> None:
    workers.announce(session, "worker-1")
    beat_at = workers.record_heartbeat(session, "worker-1")
    assert beat_at is not None
    assert abs(beat_at - workers.database_time(session)) < timedelta(seconds=5)
    workers.declare_dead(session, ["worker-1"])
    assert workers.record_heartbeat(session, "worker-1") is None
