"""/healthz says that the process answers, /readyz that work can be done, or what is in the way."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.database import Database, make_engine
from app.database.migration import head
from app.factory import create_app
from app.models import WorkerHeartbeat, utcnow
from tests.fixtures.settings import settings_for
from tests.fixtures.small_disk import MB, small_disk

OTHERS = {"disk": "ok", "database": "ok", "migrations": "ok"}


def beat(session: Session, ago: timedelta, stopped_at: datetime | None = None) -> datetime:
    """Records a worker that was last heard of that long ago."""
    at = utcnow() - ago
    session.add(
        WorkerHeartbeat(
            executor_id=f"w{at.timestamp()}",
            hostname="here",
            pid=7,
            beat_at=at,
            stopped_at=stopped_at,
        )
    )
    session.commit()
    return at


def unready(client: FlaskClient) -> dict[str, Any]:
    answer = client.get("/readyz")
    body = answer.get_json()
    assert (answer.status_code, body["status"]) == (503, "unavailable")
    checks: dict[str, Any] = body["checks"]
    return checks


def test_the_process_answers_without_a_database(client: FlaskClient) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ok"})


def test_ready_while_a_worker_beats(client: FlaskClient, session: Session) -> None:
    beat(session, timedelta(hours=3))
    beat(session, timedelta(seconds=5))
    answer = client.get("/readyz")
    checks = OTHERS | {"worker": "ok"}
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ready", "checks": checks})
    assert answer.headers["Cache-Control"] == "no-store"


def test_not_ready_without_a_worker(client: FlaskClient) -> None:
    no_worker = "no worker is running"
    assert unready(client) == OTHERS | {"worker": no_worker}


def test_a_web_process_is_ready_without_a_worker(client: FlaskClient) -> None:
    answer = client.get("/readyz/web")
    checks = {"database": "ok", "migrations": "ok"}
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ready", "checks": checks})


def test_not_ready_when_the_worker_has_fallen_silent(client: FlaskClient, session: Session) -> None:
    at = beat(session, timedelta(seconds=16))
    silent = f"no worker has been heard of since {at.isoformat(timespec='seconds')}"
    assert unready(client) == OTHERS | {"worker": silent}


def test_a_worker_that_has_stopped_does_not_count(client: FlaskClient, session: Session) -> None:
    beat(session, timedelta(seconds=1), stopped_at=utcnow())
    assert unready(client)["worker"] == "no worker is running"


def test_not_ready_before_the_newest_migration(client: FlaskClient, session: Session) -> None:
    session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    session.commit()
    assert unready(client) == {
        "disk": "ok",
        "database": "ok",
        "migrations": f"the database is at migration 0000, this version needs {head()}",
        "worker": "not checked",
    }


@pytest.mark.parametrize("url", ["sqlite:////absent/portal.db", "postgresql://127.0.0.1:1/portal"])
def test_not_ready_without_the_database(url: str, tmp_path: Path) -> None:
    app = create_app(settings_for(url, tmp_path), Database(make_engine(url)))
    assert unready(app.test_client()) == {
        "disk": "ok",
        "database": "the database does not answer",
        "migrations": "not checked",
        "worker": "not checked",
    }


def test_not_ready_while_a_disk_is_almost_full(
    make_app: Callable[..., Flask], session: Session
) -> None:
    beat(session, timedelta(seconds=5))
    client = make_app(disk_reserve_bytes=10**15).test_client()
    reason = "under 1,000,000,000 MB are free in the instance folder"
    assert unready(client) == OTHERS | {"disk": reason, "worker": "ok"}
    assert client.get("/readyz/web").status_code == 200, "pages are served, to delete data too"


def test_the_disk_of_the_files_counts(make_app: Callable[..., Flask], tmp_path: Path) -> None:
    with small_disk(tmp_path / "files", 5) as disk:
        if disk is None:
            pytest.skip("only root can mount a disk")
        client = make_app(files_url=disk.folder.as_uri(), disk_reserve_bytes=20 * MB).test_client()
        assert unready(client)["disk"] == "under 20 MB are free in the folder of the files"


def test_a_large_body_is_refused_while_a_disk_is_almost_full(
    make_app: Callable[..., Flask],
) -> None:
    client = make_app(disk_reserve_bytes=10**15).test_client()
    answer = client.post("/sign-in", data={"email": "a" * 70_000})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert "<h1>There is no room for this file</h1>" in answer.text
    assert "Nothing was stored. Try again later." in answer.text
    assert "what you typed" not in answer.text
    assert client.post("/sign-in", data={"email": "a" * 60_000}).status_code != 503
