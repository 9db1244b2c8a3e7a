"""An import that a command had begun is finished by the worker when the command is killed."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, update

from app.database import Database
from app.enums import ImportState
from app.models import ContactImport
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.uploads import Desk, make_desk, number, table
from tests.fixtures.worker import ROOT, Worker, until
from tests.matrix import rotating

pytestmark = pytest.mark.alternating

ROWS = 4000


backend = runs_on(rotating("database of a killed command", BACKENDS))


@pytest.fixture
def desk(fresh_database: Database, tmp_path: Path) -> Desk:
    with fresh_database.transaction() as session:
        return make_desk(session, fresh_database, tmp_path)


@pytest.mark.crash
def test_the_worker_continues_the_work_of_a_killed_command(
    desk: Desk, make_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    """The worker runs at the same time as the command, leaves the import alone and then finishes
    it."""
    worker = make_worker(PORTAL_INSTANCE_DIR=str(tmp_path))
    worker.start()
    people = tmp_path / "people.csv"
    people.write_text(table("Name,Phone", [(f"P{i}", number(i)) for i in range(ROWS)]))
    command = subprocess.Popen(
        [
            *(sys.executable, "-m", "flask", "--app", "wsgi", "contacts", "import"),
            *(str(people), "--campaign", str(desk.campaign_id)),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "PORTAL_ENV": "test",
            "PORTAL_INSTANCE_DIR": str(tmp_path),
            "DATABASE_URL": desk.database.engine.url.render_as_string(hide_password=False),
        },
    )
    until(lambda: (now(desk) is not None) or command.poll() is not None)
    until(lambda: applied(desk) > 0)
    command.kill()
    command.wait()
    stopped = applied(desk)
    assert 0 < stopped < ROWS
    # Its lease would run out by itself, a little later.
    with desk.database.transaction() as session:
        session.execute(update(ContactImport).values(lease_until=ContactImport.created_at))
    until(lambda: state(desk) is ImportState.DONE)
    assert applied(desk) == ROWS
    assert len(desk.people()) == ROWS


def now(desk: Desk) -> ContactImport | None:
    with desk.database.transaction(read_only=True) as session:
        return session.scalars(select(ContactImport)).one_or_none()


def applied(desk: Desk) -> int:
    upload = now(desk)
    return upload.rows_applied if upload else 0


def state(desk: Desk) -> ImportState | None:
    upload = now(desk)
    return upload.state if upload else None
