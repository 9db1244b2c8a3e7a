"""Reports and lists are read at a standby: recent, and never without what the user wrote."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.api.partner_admin import figures
from app.database import Database, make_engine
from app.database.migration import upgrade
from app.database.replica import AWAY_SECONDS, Replica
from app.enums import Role
from app.factory import create_app
from app.gateways.job_queue import migrate_engine
from app.jobs import housekeeping
from app.jobs.context import open_context
from app.models import User, utcnow
from app.services import monthly_reports
from app.services.auth import sessions
from app.services.billing.usage import ModelRate
from tests.fixtures.browser_session import give_session
from tests.fixtures.recoverable_server import OWNER, OwnServer, own_server
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import bearer, make_tenant
from tests.fixtures.worker import wait_until
from tests.portal.conftest import Browser
from tests.portal.test_organizations import NEW

MAX_SECONDS = 2.0

pytestmark = [pytest.mark.alternating, pytest.mark.crash]


@pytest.fixture(scope="module")
def primary() -> Iterator[OwnServer]:
    with own_server() as server:
        server.ask(f"CREATE DATABASE portal OWNER {OWNER}")
        database = Database(make_engine(server.url("portal")))
        upgrade(database)
        migrate_engine(server.url("portal"))
        database.dispose()
        yield server


@pytest.fixture(scope="module")
def standby(primary: OwnServer) -> OwnServer:
    return primary.standby(is_waited_for=False)


@pytest.fixture
def app(primary: OwnServer, standby: OwnServer, tmp_path: Path) -> Iterator[Flask]:
    replica = {"replica_database_url": standby.url("portal"), "replica_lag_seconds": MAX_SECONDS}
    app = create_app(settings_for(primary.url("portal"), tmp_path, **replica))
    yield app
    app.extensions["database"].dispose()
    standby.ask("SELECT pg_wal_replay_resume()")


@pytest.fixture
def database(app: Flask) -> Database:
    found: Database = app.extensions["database"]
    wait_until(lambda: is_at_replica(found), 20)
    return found


def is_at_replica(database: Database, after: int = 0) -> bool:
    with database.figures(after) as session:
        return bool(session.scalar(text("SELECT pg_is_in_recovery()")))


def write(database: Database) -> int:
    """Write something; returns the position after it."""
    with database.transaction() as session:
        session.execute(text("SELECT pg_logical_emit_message(true, 'tests', 'x')"))
    assert database.replica is not None
    return database.replica.position()


def test_writes_are_read_at_the_primary_until_the_replica_has_them(
    database: Database, standby: OwnServer
) -> None:
    standby.ask("SELECT pg_wal_replay_pause()")
    written = write(database)
    assert (is_at_replica(database, written), is_at_replica(database)) == (False, True)
    standby.ask("SELECT pg_wal_replay_resume()")
    wait_until(lambda: is_at_replica(database, written), 20)


def test_a_replica_that_lags_too_much_is_not_read(database: Database, standby: OwnServer) -> None:
    standby.ask("SELECT pg_wal_replay_pause()")
    write(database)
    wait_until(lambda: not is_at_replica(database), 3 * MAX_SECONDS)
    standby.ask("SELECT pg_wal_replay_resume()")
    wait_until(lambda: is_at_replica(database), 20)


def test_an_idle_primary_causes_no_lag(database: Database) -> None:
    time.sleep(2 * MAX_SECONDS)
    assert [is_at_replica(database) for _ in "123"] == [True] * 3


def test_the_primary_is_read_if_the_replica_does_not_answer(
    database: Database, standby: OwnServer
) -> None:
    standby.stop()
    assert not is_at_replica(database)
    standby.start()
    wait_until(lambda: is_at_replica(database), AWAY_SECONDS + 20)


def test_a_standby_that_took_over_is_not_read(
    database: Database, primary: OwnServer, tmp_path: Path
) -> None:
    promoted = primary.standby(is_waited_for=False)
    replica = {"replica_database_url": promoted.url("portal"), "replica_lag_seconds": 60}
    app = create_app(settings_for(primary.url("portal"), tmp_path, **replica))
    found: Database = app.extensions["database"]
    wait_until(lambda: is_at_replica(found), 20)
    promoted.promote()
    assert not is_at_replica(found)
    found.dispose()


def test_users_see_their_changes_at_once_and_others_a_little_later(
    app: Flask, database: Database, standby: OwnServer
) -> None:
    with database.transaction() as session:
        partner = make_tenant(session)
        admin, editor = (partner.staff[role] for role in (Role.PARTNER_ADMIN, Role.PARTNER_EDITOR))
    wait_until(lambda: is_at_replica(database, write(database)), 20)
    writer, reader = signed_in(app, database, admin), signed_in(app, database, editor)
    assert database.replica is not None
    database.replica.max_seconds = 600.0
    assert is_at_replica(database)  # from here on it may lag
    standby.ask("SELECT pg_wal_replay_pause()")
    assert "wrote_at" not in str(writer.get("/").headers.getlist("Set-Cookie"))
    made = writer.post("/organizations/new", NEW, page="/organizations/new")
    assert "wrote_at" in str(made.headers.getlist("Set-Cookie"))
    pages = ("/", "/lists/organizations/export.csv")
    assert [page for page in pages if NEW["name"] not in writer.get(page).text] == []
    assert [page for page in pages if NEW["name"] in reader.get(page).text] == []
    standby.ask("SELECT pg_wal_replay_resume()")
    wait_until(lambda: NEW["name"] in reader.get("/").text, 20)
    for page in ("/report", "/usage", "/report/month", "/usage.csv"):
        assert reader.get(page).status_code == 200
    assert is_at_replica(database)


def test_scripts_see_their_changes_and_are_served_by_the_replica_later(
    app: Flask, database: Database, standby: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        partner_id = make_tenant(session, "Southgate").partner.id
        header = bearer(session, app.extensions["settings"], Role.PARTNER_ADMIN, partner_id)
    assert database.replica is not None
    database.replica.max_seconds = 600.0
    wait_until(lambda: is_at_replica(database, write(database)), 20)
    standby.ask("SELECT pg_wal_replay_pause()")

    def count() -> int:
        path = f"/api/partners/{partner_id}/admin-report"
        report: Any = app.test_client().get(path, headers=header).json
        return int(report["userCount"])

    before = count()
    new = {"email": "new@northwind.example", "userType": "standard", "businessName": "Hillside"}
    assert app.test_client().post("/api/users", json=new, headers=header).status_code == 200
    assert count() == before + 1
    an_hour_later = utcnow() + timedelta(hours=1)
    monkeypatch.setattr(figures, "utcnow", lambda: an_hour_later)
    assert count() == before
    standby.ask("SELECT pg_wal_replay_resume()")
    wait_until(lambda: count() == before + 1, 20)


def test_monthly_reports_are_read_at_the_replica(
    app: Flask, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_at: list[bool] = []

    def send_due(_session: Session, _now: datetime, _model: ModelRate, figures: Session) -> int:
        read_at.append(bool(figures.scalar(text("SELECT pg_is_in_recovery()"))))
        return 0

    monkeypatch.setattr(monthly_reports, "is_any_due", lambda _session, _now: True)
    monkeypatch.setattr(monthly_reports, "send_due", send_due)
    worker = open_context(app.extensions["settings"])
    wait_until(lambda: is_at_replica(worker.database), 20)
    housekeeping.send_reports()
    assert read_at == [True]
    worker.database.dispose()


def test_a_write_is_answered_even_if_its_position_is_unknown(
    app: Flask, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        admin = make_tenant(session, "Westgate").staff[Role.PARTNER_ADMIN]
    writer = signed_in(app, database, admin)
    away = make_engine("postgresql://127.0.0.1:1/portal")
    monkeypatch.setattr(database, "replica", Replica(away, away, 10))
    made = writer.post("/organizations/new", NEW, page="/organizations/new")
    assert made.status_code == 303
    assert "wrote_at" not in str(made.headers)


def signed_in(app: Flask, database: Database, user: User) -> Browser:
    with database.transaction() as session:
        token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
    client = app.test_client()
    give_session(client, token)
    return Browser(client)
