"""``flask upgrade`` describes an upgrade and shares assets; ``migrate --expand`` does half of
it."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import text

from app.database import Database
from app.database.migration import current, downgrade, head, upgrade
from app.factory import create_app
from app.http.static_files import DIST
from app.models import Backup, WorkerHeartbeat, utcnow
from tests.fixtures.settings import settings_for, url_of

PREVIOUS = head()
BACKUP = "Make a backup, since none is younger than 26 hours: flask --app wsgi backup create"
REPLACE = "Replace the processes one by one: first workers, then web processes."


@pytest.fixture
def app(fresh_database: Database, tmp_path: Path) -> Flask:
    return create_app(settings_for(url_of(fresh_database), tmp_path), fresh_database)


def run(app: Flask, *words: str) -> Result:
    with app.app_context():
        return app.test_cli_runner().invoke(args=list(words))


def check_upgrade(app: Flask) -> tuple[int, dict[str, Any]]:
    result = run(app, "upgrade", "check", "--json")
    return result.exit_code, json.loads(result.stdout)


def test_nothing_is_pending_on_a_current_database(app: Flask) -> None:
    assert check_upgrade(app) == (
        0,
        {
            "current": PREVIOUS,
            "target": PREVIOUS,
            "gapless": True,
            "workers": 0,
            "migrations": [],
            "todo": [],
        },
    )


@pytest.mark.usefixtures("as_next_version")
def test_expand_migrations_run_while_the_previous_version_serves(
    app: Flask, fresh_database: Database, as_next_version: pytest.MonkeyPatch
) -> None:
    upgrade(fresh_database, "9991")
    downgrade(fresh_database, "9990")
    with fresh_database.transaction() as session:
        now = utcnow()
        session.add(Backup(started_at=now, finished_at=now, file="a"))
        session.add(WorkerHeartbeat(executor_id="w", hostname="here", pid=7, beat_at=now))
        gone = now - timedelta(minutes=1)
        session.add(WorkerHeartbeat(executor_id="x", hostname="here", pid=8, beat_at=gone))
    status, answer = check_upgrade(app)
    assert (status, answer["workers"], answer["gapless"]) == (1, 1, False)
    assert [(each["revision"], each["phase"], each["serves"]) for each in answer["migrations"]] == [
        ("9991", "expand", True),
        ("9992", "contract", False),
    ]
    assert answer["todo"] == [
        "Migrate as far as the previous version serves: flask --app wsgi migrate --expand",
        REPLACE,
        "When all processes have migration 9991: flask --app wsgi migrate",
    ]
    upgrade(fresh_database, "9991")
    status, answer = check_upgrade(app)
    assert (status, answer["todo"]) == (
        0,
        ["When all processes have migration 9991: flask --app wsgi migrate"],
    )


@pytest.mark.usefixtures("as_next_version")
@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_each_lock_is_named_with_the_size_of_its_table(
    app: Flask, fresh_database: Database
) -> None:
    with fresh_database.engine.begin() as connection:
        connection.execute(text("ANALYZE contacts"))
    _status, answer = check_upgrade(app)
    locks = [[(lock["mode"], lock["table"]) for lock in m["locks"]] for m in answer["migrations"]]
    assert locks == [
        [("ACCESS EXCLUSIVE", "contacts")],
        [
            ("ACCESS EXCLUSIVE", "calls"),
            ("SHARE UPDATE EXCLUSIVE", "calls"),
            ("ACCESS EXCLUSIVE", "contacts"),
            ("ROW EXCLUSIVE", "contacts"),
            ("SHARE UPDATE EXCLUSIVE", "contacts"),
        ],
        [],
    ]
    lines = run(app, "upgrade", "check").output.splitlines()
    assert lines[:4] == [
        f"The database is at migration {PREVIOUS}, this version at 9992.",
        "Workers connected: 0.",
        "9990  expand: Add a greeting to contacts. Older processes keep working.",
        "      ACCESS EXCLUSIVE on contacts (0 rows, 0 MB)",
    ]
    assert lines[-4] == f"1. {BACKUP}"


@pytest.mark.usefixtures("as_next_version")
def test_the_first_half_stops_before_the_first_contract_migration(
    app: Flask, fresh_database: Database
) -> None:
    for arguments, reached in ((["--expand"], "9991"), (["--expand"], "9992"), ([], "9992")):
        assert run(app, "migrate", *arguments).exit_code == 0
        with fresh_database.engine.connect() as connection:
            assert current(connection) == reached


def test_a_migration_without_a_phase_needs_a_stop(app: Flask, fresh_database: Database) -> None:
    downgrade(fresh_database, "0083")
    status, answer = check_upgrade(app)
    assert (status, answer["migrations"][0]["revision"]) == (1, "0084")
    assert answer["migrations"][0]["phase"] == "stopped"
    assert answer["todo"] == [
        BACKUP,
        "Stop all web processes and workers.",
        "Migrate: flask --app wsgi migrate",
        "Start the processes of this version.",
    ]
    assert run(app, "migrate", "--expand").exit_code == 0
    with fresh_database.engine.connect() as connection:
        assert current(connection) != PREVIOUS


def test_a_host_gets_the_assets_of_the_next_version_in_advance(app: Flask) -> None:
    folder = app.extensions["settings"].assets_dir

    result = run(app, "upgrade", "assets")

    built = {path.relative_to(DIST) for path in DIST.rglob("*.css")}
    assert result.output == f"The assets of this version are in {folder}.\n"
    assert {path.relative_to(folder) for path in folder.rglob("*.css")} == built != set()
