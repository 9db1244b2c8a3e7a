"""``flask files``: moving files to another store, and declaring a store that of the database."""

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.database import Database
from app.factory import create_app
from app.gateways.files import FileStore
from app.gateways.files.folder import FolderFileStore
from tests.commands.test_doctor import findings
from tests.fixtures.s3_server import BUCKET, S3Server, breakable_connection
from tests.fixtures.settings import settings_for, url_of

CONTENTS = [b"Name\nAnn\n", b"x" * 6 * 1024 * 1024, b""]


def portal(database: Database, folder: Path, **changes: Any) -> Flask:
    return create_app(settings_for(url_of(database), folder, **changes), database)


def run_files(app: Flask, *words: object, status: int = 0) -> str:
    result = app.test_cli_runner().invoke(args=["files", *map(str, words)])
    assert result.exit_code == status, result.output
    return str(result.output)


def contents(store: FileStore) -> dict[str, bytes]:
    found = {}
    for key in store.keys_before(datetime.now(UTC) + timedelta(days=1)):
        with store.open(key) as file:
            found[key] = file.read()
    return found


def test_files_are_copied_to_a_bucket_and_back_and_only_once(
    fresh_database: Database, s3_server: S3Server, tmp_path: Path
) -> None:
    name = tmp_path.name
    app = portal(fresh_database, tmp_path, **s3_server.settings(name) | {"files_url": ""})
    folder, bucket = FolderFileStore(tmp_path / "uploads"), s3_server.files(name)
    for content in CONTENTS:
        folder.save(io.BytesIO(content), max_bytes=len(content))
    folder.mark("this store")
    url = f"s3://{BUCKET}/{name}"
    assert json.loads(run_files(app, "copy", "--to", url, "--json")) == {
        "copied": 3,
        "alreadyThere": 0,
    }
    assert (contents(bucket), bucket.identity()) == (contents(folder), "this store")

    some = min(contents(folder))
    bucket.write(some, io.BytesIO(b"cut off"))
    assert run_files(app, "copy", "--to", url) == (
        f"{url}: 1 files copied, 2 were there already. All are equal.\n"
    )
    assert contents(bucket) == contents(folder)
    back = f"file://{tmp_path / 'back'}"
    assert json.loads(run_files(app, "copy", "--from", url, "--to", back, "--json"))["copied"] == 3
    assert contents(FolderFileStore(tmp_path / "back")) == contents(folder)


def test_a_copy_goes_on_after_an_outage(
    fresh_database: Database, s3_server: S3Server, tmp_path: Path
) -> None:
    name = tmp_path.name
    folder, bucket = FolderFileStore(tmp_path / "uploads"), s3_server.files(name)
    for content in CONTENTS:
        folder.save(io.BytesIO(content), max_bytes=len(content))
    folder.mark("this store")
    with breakable_connection(s3_server) as connection:
        settings = s3_server.settings(name, files_endpoint=connection.url, files_seconds=0.5)
        app = portal(fresh_database, tmp_path, **settings | {"files_url": ""})
        connection.cut = True
        message = run_files(app, "copy", "--to", settings["files_url"], status=1)
        assert "The file storage does not answer." in message
        assert bucket.identity() is None
        connection.cut = False
        run_files(app, "copy", "--to", settings["files_url"])
    assert (contents(bucket), bucket.identity()) == (contents(folder), "this store")


def test_files_are_not_copied_into_those_of_another_database(
    fresh_database: Database, tmp_path: Path
) -> None:
    app = portal(fresh_database, tmp_path)
    FolderFileStore(tmp_path / "uploads").mark("this store")
    other = FolderFileStore(tmp_path / "other")
    other.mark("another store")
    expected = f"{other.location} holds the files of another database. Choose another place."
    assert (
        run_files(app, "copy", "--to", f"file://{other.location}", status=1)
        == f"Error: {expected}\n"
    )
    wrong = run_files(app, "copy", "--to", "https://example.com", status=2)
    assert "--to is written s3://bucket/prefix or file:///a/folder." in wrong


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_doctor_finds_a_file_store_of_another_database_and_adopt_settles_it(
    fresh_database: Database, s3_server: S3Server, tmp_path: Path
) -> None:
    folder = tmp_path / "uploads"
    app = portal(fresh_database, tmp_path)
    assert findings(app, "file store")["file store"] == (
        "warn",
        f"No process has started with {folder}. Start one, and run this again.",
    )
    assert run_files(app, "adopt") == f"The files of this installation are in {folder}.\n"
    assert findings(app, "file store")["file store"] == ("ok", f"{folder}, shared by all hosts")
    other = portal(fresh_database, tmp_path / "other")
    assert findings(other, "file store")["file store"][0] == "fail"

    wrong = s3_server.settings(tmp_path.name, files_key_secret="wrong")
    refused = portal(fresh_database, tmp_path, **wrong)
    assert findings(refused, "file store")["file store"] == (
        "fail",
        f"{wrong['files_url']} can't be used. The log says why. Check PORTAL_FILES_….",
    )
