"""A database restored from a backup is known by its mark, and no call is placed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import text

from app.database import Database
from app.enums import CallStatus
from app.factory import install_extensions
from app.gateways.carriers.simulator import SIMULATED_NUMBERS
from app.jobs.restore_detection import MarkFile
from app.models import InstallationMark, SimulatedCall, utcnow
from app.private_files import MARK_FILE
from app.services import pauses
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker import (
    Worker,
    create_calling_organization,
    outcome,
    read_call,
    wait_until,
)
from tests.jobs.conftest import pause_reasons

HUMAN = SIMULATED_NUMBERS["human"]


def beat(database: Database, folder: Path, times: int = 1) -> MarkFile:
    """A worker that starts and beats so often."""
    mark_file = MarkFile(folder, database)
    for _ in range(times):
        with database.transaction() as session:
            mark_file.advance(session)
        mark_file.write_committed()
    return mark_file


def go_back(database: Database, generation: int) -> None:
    with database.transaction() as session:
        session.get_one(InstallationMark, 1).generation = generation


def generation(database: Database) -> int:
    with database.transaction(read_only=True) as session:
        return session.get_one(InstallationMark, 1).generation


def called_once(database: Database) -> None:
    with database.transaction() as session:
        session.add(
            SimulatedCall(reference="x", from_number="", to_number=HUMAN, placed_at=utcnow())
        )


def test_a_database_older_than_the_mark_of_a_host_counts_as_restored(
    fresh_database: Database, tmp_path: Path
) -> None:
    beat(fresh_database, tmp_path, 3)
    backup = generation(fresh_database)
    beat(fresh_database, tmp_path, 2)
    assert pause_reasons(fresh_database) == []
    go_back(fresh_database, backup)
    beat(fresh_database, tmp_path)
    assert pause_reasons(fresh_database) == ["restored from a backup"]


def test_a_worker_that_ran_on_through_the_restore_notices(
    fresh_database: Database, tmp_path: Path
) -> None:
    mark_file = beat(fresh_database, tmp_path, 2)
    go_back(fresh_database, generation(fresh_database) - 1)
    with fresh_database.transaction() as session:
        mark_file.advance(session)
    assert pause_reasons(fresh_database) == ["restored from a backup"]


def test_hosts_with_marks_of_their_own_notice_it_once(
    fresh_database: Database, tmp_path: Path
) -> None:
    hosts = [tmp_path / name for name in ("a", "b", "c")]
    for host in hosts:
        beat(fresh_database, host)
    backup = generation(fresh_database) - 60_000
    go_back(fresh_database, backup)
    beat(fresh_database, hosts[0])
    with fresh_database.transaction() as session:
        pause = pauses.listing(session)[0]
        session.delete(pause)
    beat(fresh_database, hosts[1])
    beat(fresh_database, hosts[2])
    assert pause_reasons(fresh_database) == []


def test_a_new_host_another_database_and_a_damaged_mark_are_no_restore(
    fresh_database: Database, tmp_path: Path
) -> None:
    beat(fresh_database, tmp_path / "old host")
    called_once(fresh_database)
    beat(fresh_database, tmp_path / "new host")
    other = {"lineage": "another", "generation": 2**52, "inode": 1, "written": 0}
    (tmp_path / "old host" / MARK_FILE).write_text(json.dumps(other))
    beat(fresh_database, tmp_path / "old host")
    (tmp_path / "new host" / MARK_FILE).write_text("{")
    beat(fresh_database, tmp_path / "new host")
    assert pause_reasons(fresh_database) == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_folder_that_was_copied_with_its_database_dials_nothing(
    fresh_database: Database, tmp_path: Path
) -> None:
    beat(fresh_database, tmp_path / "instance")
    shutil.copytree(tmp_path / "instance", tmp_path / "copy")
    beat(fresh_database, tmp_path / "copy")
    assert pause_reasons(fresh_database) == []  # no call was ever placed here
    called_once(fresh_database)
    beat(fresh_database, tmp_path / "instance")
    shutil.copytree(tmp_path / "instance", tmp_path / "second copy")
    (tmp_path / "instance").rename(tmp_path / "moved")
    beat(fresh_database, tmp_path / "moved")
    assert pause_reasons(fresh_database) == []
    beat(fresh_database, tmp_path / "second copy")
    assert pause_reasons(fresh_database) == [
        "restored from a backup, or a copy of another installation"
    ]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_after_a_restore_no_call_is_placed_until_an_operator_resumes(
    fresh_database: Database,
    make_worker: Callable[..., Worker],
    make_app: Callable[..., Flask],
    tmp_path: Path,
) -> None:
    folder = tmp_path / "instance"
    worker = make_worker(PORTAL_INSTANCE_DIR=str(folder))
    calling_organization = create_calling_organization(fresh_database)
    path = Path(str(fresh_database.engine.url.database))
    beat(fresh_database, folder)
    queued = calling_organization.dial(fresh_database, "+12125551000")
    with fresh_database.engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.exec_driver_sql("COMMIT")
        connection.execute(text("VACUUM INTO :path"), {"path": str(tmp_path / "backup.db")})
    worker.start()
    assert outcome(fresh_database, queued)[0] == "completed"
    worker.stop()

    fresh_database.dispose()
    for old in path.parent.glob(f"{path.name}-*"):
        old.unlink()
    shutil.copy(tmp_path / "backup.db", path)
    worker.start()
    wait_until(lambda: read_call(fresh_database, queued).status_detail)
    call = read_call(fresh_database, queued)
    assert (call.status, call.status_detail) == (
        CallStatus.QUEUED,
        "Calling is paused (restored from a backup).",
    )
    app = make_app()
    install_extensions(app, settings_for(url_of(fresh_database), folder), fresh_database)
    reported = app.test_cli_runner().invoke(args=["calls", "status"]).output
    assert reported.startswith("Paused for every call since ")
    assert "by system: restored from a backup\nCompare with the carrier and resume: " in reported
    app.test_cli_runner().invoke(args=["calls", "resume"])
    assert outcome(fresh_database, queued)[0] == "completed"
