"""Each process finds out whether it has the files of the other processes, before it works."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from app import start_checks
from app.database import Database
from app.gateways.files import FileStore, open_files
from app.gateways.files.folder import FolderFileStore
from app.models import FileStoreMark
from app.services import file_identity
from tests.fixtures.s3_server import S3Server, breakable_connection
from tests.fixtures.settings import settings_for, url_of

SHARED = (
    "{place} isn't where this installation keeps its files: they are shared by all hosts. Mount "
    "the shared folder there, or set PORTAL_FILES_URL as on the other hosts. If the files were "
    "moved or lost, run: flask --app wsgi files adopt"
)
OTHER = (
    "{place} holds the files of another database. Set PORTAL_FILES_URL to an own folder or "
    "prefix. If the files are of this database, run: flask --app wsgi files adopt"
)


def start(database: Database, folder: Path, **changes: Any) -> FileStore:
    """The first step of a process on a host with this instance folder."""
    settings = settings_for(url_of(database), folder, **changes)
    files = open_files(settings)
    start_checks.check_files(settings, database, files)
    return files


def refusal(database: Database, folder: Path, **changes: Any) -> str:
    with pytest.raises(SystemExit) as refused:
        start(database, folder, **changes)
    return str(refused.value.code)


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_host_with_another_folder_than_the_shared_one_does_not_start(
    fresh_database: Database, tmp_path: Path
) -> None:
    first = start(fresh_database, tmp_path / "host1")
    start(fresh_database, tmp_path / "host1")
    expected = SHARED.format(place=tmp_path / "host2" / "uploads")
    assert refusal(fresh_database, tmp_path / "host2") == expected
    shared = {"files_url": f"file://{first.location}"}
    start(fresh_database, tmp_path / "host2", **shared)

    second = FolderFileStore(tmp_path / "host2" / "uploads")
    with fresh_database.transaction() as session:
        file_identity.adopt(session, second)
    start(fresh_database, tmp_path / "host2")
    assert refusal(fresh_database, tmp_path / "host1") == SHARED.format(place=first.location)


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_folder_that_cannot_be_written_is_named(fresh_database: Database, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "folder"
    expected = (
        f"{place} can't be used for files: [Errno 20] Not a directory: '{place}'. "
        "Check PORTAL_FILES_URL."
    )
    assert refusal(fresh_database, tmp_path, files_url=place.as_uri()) == expected


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_folder_beside_sqlite_is_of_one_host(fresh_database: Database, tmp_path: Path) -> None:
    for name in ("host1", "moved"):
        assert start(fresh_database, tmp_path / name).identity() is None


def test_hosts_with_one_bucket_start_and_one_with_another_prefix_does_not(
    fresh_database: Database, tmp_path: Path, s3_server: S3Server
) -> None:
    name = tmp_path.name
    for host in ("host1", "host2"):
        start(fresh_database, tmp_path / host, **s3_server.settings(name))
    other = s3_server.settings(f"{name}-other")
    place = str(other["files_url"])
    assert refusal(fresh_database, tmp_path / "host2", **other) == SHARED.format(place=place)


def test_a_new_database_does_not_take_the_files_of_another_in_production(
    fresh_database: Database, tmp_path: Path, s3_server: S3Server
) -> None:
    bucket = s3_server.settings(tmp_path.name)
    files = start(fresh_database, tmp_path, **bucket)
    before = files.identity()
    with fresh_database.transaction() as session:
        session.execute(delete(FileStoreMark))
    production = {"env": "production", "public_url": "https://portal.example"}
    settings = settings_for(url_of(fresh_database), tmp_path, **bucket).model_copy(
        update=production
    )
    with pytest.raises(SystemExit) as refused:
        start_checks.check_files(settings, fresh_database, files)
    assert refused.value.code == OTHER.format(place=bucket["files_url"])
    with fresh_database.transaction(read_only=True) as session:
        assert file_identity.identity(session) is None
    start(fresh_database, tmp_path, **bucket)
    assert files.identity() == before


def test_an_outage_of_the_bucket_or_the_database_keeps_no_process_from_starting(
    fresh_database: Database,
    tmp_path: Path,
    s3_server: S3Server,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with breakable_connection(s3_server) as connection:
        connection.cut = True
        cut = {"files_endpoint": connection.url, "files_seconds": 0.5}
        start(fresh_database, tmp_path, **s3_server.settings(tmp_path.name, **cut))
    assert caplog.messages[-1] == (
        "the file storage was not compared with the database's: it does not answer"
    )
    with fresh_database.transaction(read_only=True) as session:
        assert file_identity.identity(session) is None


def test_a_changed_identity_is_found(fresh_database: Database, tmp_path: Path) -> None:
    folder = FolderFileStore(tmp_path / "uploads")
    with fresh_database.transaction() as session:
        file_identity.check(session, folder, must_be_own=True)
        session.execute(update(FileStoreMark).values(identity="another"))
        with pytest.raises(file_identity.OtherStore):
            file_identity.check(session, folder, must_be_own=True)
