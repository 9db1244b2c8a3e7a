"""An import that a command had begun is finished by the worker when the command is killed."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, update

from app.enums import ImportStatus
from app.models import ContactImport
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.uploads import Importer, number, table
from tests.fixtures.worker import ROOT, Worker, wait_until
from tests.matrix import rotating

pytestmark = pytest.mark.alternating

ROWS = 4000


backend = runs_on(rotating("database of a killed command", BACKENDS))


@pytest.mark.crash
def test_the_worker_continues_the_work_of_a_killed_command(
    importer: Importer, make_worker: Callable[..., Worker], tmp_path: Path
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
            *(str(people), "--campaign", str(importer.campaign_id)),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "PORTAL_ENV": "test",
            "PORTAL_INSTANCE_DIR": str(tmp_path),
            "DATABASE_URL": importer.database.engine.url.render_as_string(hide_password=False),
        },
    )
    wait_until(lambda: (now(importer) is not None) or command.poll() is not None)
    wait_until(lambda: applied(importer) > 0)
    command.kill()
    command.wait()
    stopped = applied(importer)
    assert 0 < stopped < ROWS
    # Its lease would run out by itself, a little later.
    with importer.database.transaction() as session:
        session.execute(update(ContactImport).values(lease_until=ContactImport.created_at))
    wait_until(lambda: state(importer) is ImportStatus.DONE)
    assert applied(importer) == ROWS
    assert len(importer.people()) == ROWS


def now(importer: Importer) -> ContactImport | None:
    with importer.database.transaction(read_only=True) as session:
        return session.scalars(select(ContactImport)).one_or_none()


def applied(importer: Importer) -> int:
    upload = now(importer)
    return upload.rows_applied if upload else 0


def state(importer: Importer) -> ImportStatus | None:
    upload = now(importer)
    return upload.status if upload else None
