"""An export is written by a process of the worker, and again by the next worker when that dies."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from sqlalchemy import select

from app.database import Database
from app.enums import ExportFormat, ExportStatus, Role
from app.gateways.files import open_files
from app.jobs import write_export
from app.jobs.write_export import PROGRAM, run_writer
from app.models import Contact, ListExport, Mail, MailKind, new_id
from app.services import campaigns, exports
from app.services.exports import ExportInput
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import make_tenant
from tests.fixtures.worker import ROOT, Worker, wait_until
from tests.matrix import rotating

ROWS = 30_000


backend = runs_on(rotating("database of exports", BACKENDS))


def requested(database: Database) -> UUID:
    """An export of the contacts of a campaign."""
    with database.transaction() as session:
        tenant = make_tenant(session)
        admin = tenant.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, admin, tenant.organization.id, name="Recall")
        session.bulk_insert_mappings(
            Contact.__mapper__,
            [
                {
                    "id": new_id(),
                    "campaign_id": campaign.id,
                    "organization_id": tenant.organization.id,
                    "phone": f"+1202{number:07d}",
                    "first_name": f"Ann {number}",
                    "search_name": f" ann {number}",
                }
                for number in range(ROWS)
            ],
        )
        query = f"campaign_id={campaign.id}&sort=created&column=name"
        wanted = ExportInput("contacts", query, ExportFormat.CSV, "UTC")
        return exports.create(session, admin, wanted).id


@pytest.mark.alternating
@pytest.mark.crash
def test_an_export_survives_its_worker_and_is_mailed_once(
    fresh_database: Database, make_worker: Callable[..., Worker], tmp_path: Path
) -> None:
    export_id = requested(fresh_database)

    def now() -> ListExport:
        with fresh_database.transaction(read_only=True) as session:
            return session.get_one(ListExport, export_id)

    worker = make_worker(PORTAL_INSTANCE_DIR=str(tmp_path))
    worker.start()
    wait_until(lambda: now().attempt_number == 1)
    worker.kill()
    assert now().status is ExportStatus.WAITING
    worker.start()
    wait_until(lambda: now().status is not ExportStatus.WAITING)
    export = now()
    assert (export.status, export.rows, export.attempt_number) == (ExportStatus.READY, ROWS, 2)
    files = open_files(settings_for(url_of(fresh_database), tmp_path))
    with files.open(export.file_key) as file:
        lines = file.read().decode("utf-8-sig").splitlines()
    assert lines == ["Name", *(f"Ann {number}" for number in range(ROWS))]
    kept = {path.name for path in (tmp_path / "uploads").iterdir()}
    assert kept - {"store.id"} == {export.file_key}  # the mark of the store, on PostgreSQL
    with fresh_database.transaction(read_only=True) as session:
        kinds = select(Mail.id).where(Mail.kind == MailKind.EXPORT_FINISHED.value)
        assert len(session.scalars(kinds).all()) == 1


def test_a_writer_that_never_ends_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(write_export, "PROGRAM", ("sleep",))
    monkeypatch.setattr(write_export, "MAX_SECONDS", 0.1)
    monkeypatch.setattr(write_export, "time", SimpleNamespace(sleep=pauses.append))
    with pytest.raises(RuntimeError, match="the writer failed 3 times"):
        run_writer("600")
    assert pauses == [5, 10]


@pytest.mark.crash
def test_the_writer_ends_cleanly_while_its_worker_waits(
    fresh_database: Database, tmp_path: Path
) -> None:
    """The end of a process must not wait for the thread that watches its standard input."""
    nothing_to_write = str(new_id())
    environment = {
        **os.environ,
        "PORTAL_ENV": "test",
        "PORTAL_INSTANCE_DIR": str(tmp_path),
        "DATABASE_URL": fresh_database.engine.url.render_as_string(hide_password=False),
    }
    with subprocess.Popen(
        [*PROGRAM, nothing_to_write], cwd=ROOT, env=environment, stdin=subprocess.PIPE
    ) as writer:
        assert writer.wait() == 0
