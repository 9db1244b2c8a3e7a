"""On a machine whose clock is an hour wrong, the database's time counts."""

import time
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Self
from uuid import UUID

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.database import Database
from app.gateways import job_queue
from app.jobs import heartbeat
from app.jobs.restore_detection import MarkFile
from app.models import WorkerHeartbeat, base, utcnow
from app.models.base import Clock, id_at, new_id, new_ids
from app.services import common_time, workers

HOUR = timedelta(hours=1)


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_a_web_process_asks_the_database_for_the_time(
    app: Flask,
    client: FlaskClient,
    session: Session,
    wrong: timedelta,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = datetime.now(UTC)
    session.add(WorkerHeartbeat(executor_id="w", hostname="here", pid=7, beat_at=now))
    session.commit()
    monkeypatch.setattr(Clock, "read", staticmethod(lambda: datetime.now(UTC) + wrong))
    assert client.get("/readyz").status_code == 200, "a heartbeat is as old as the database says"
    app.extensions["common_time"].compare()
    assert abs(utcnow() - datetime.now(UTC)) < timedelta(seconds=2)


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_a_clock_that_jumps_is_not_used_until_the_database_was_asked_again(
    jump: timedelta, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Jumped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return super().now(tz) + jump

    monkeypatch.setattr(Clock, "read", staticmethod(lambda: vars(base)["datetime"].now(UTC)))
    common_time.use_database_time(datetime.now(UTC), time.monotonic())
    for module in (base, common_time):
        monkeypatch.setattr(module, "datetime", Jumped)
    assert abs(utcnow() - datetime.now(UTC)) < timedelta(seconds=2)
    assert caplog.records == []
    common_time.use_database_time(datetime.now(UTC), time.monotonic())
    assert abs(utcnow() - datetime.now(UTC)) < timedelta(seconds=2)
    assert "3600 s" in caplog.text
    caplog.clear()
    common_time.use_database_time(datetime.now(UTC), time.monotonic())
    assert caplog.records == [], "said once"


@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_ids_have_the_time_of_the_database(
    wrong: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Clock.nanoseconds
    by = int(wrong.total_seconds() * 1e9)
    monkeypatch.setattr(Clock, "nanoseconds", staticmethod(lambda: here() + by))
    monkeypatch.setattr(Clock, "read", staticmethod(lambda: datetime.now(UTC) + wrong))
    now = datetime.now(UTC)
    common_time.use_database_time(now, time.monotonic())
    first, last = (id_at(now + timedelta(seconds=seconds)) for seconds in (-2, 2))
    assert [first < each < last for each in (new_id(), *map(UUID, new_ids(2)))] == [True] * 3


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize("wrong", [HOUR, -HOUR], ids=["ahead", "behind"])
def test_a_delay_ends_by_the_time_of_the_database(
    session: Session, wrong: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + wrong.total_seconds())
    job_queue.enqueue_mail(session, UUID(int=1), 2, delay_seconds=300)
    until = session.scalar(text("SELECT delay_until_epoch_ms FROM dbos.workflow_status"))
    assert abs(until / 1000 - real() - 300) < 30


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_slow_heartbeats_leave_the_clock_alone_where_the_database_has_none(
    fresh_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Clock, "read", staticmethod(lambda: datetime.now(UTC)))
    mark, pulse = MarkFile(tmp_path, fresh_database), workers.HeartbeatSeries(timedelta(seconds=15))
    real = workers.record_heartbeat

    def slow_beat(session: Session, executor_id: str) -> datetime | None:
        beat_at = real(session, executor_id)
        time.sleep(0.3)
        return beat_at

    monkeypatch.setattr(workers, "record_heartbeat", slow_beat)
    heartbeat.register_worker(fresh_database, "one", mark, pulse)
    for _ in range(3):
        assert heartbeat.send_heartbeat(fresh_database, "one", mark, pulse)
    assert abs(utcnow() - datetime.now(UTC)) < timedelta(seconds=0.2)
