"""Pages of two versions find their assets, whichever version the proxy asks."""

import os
import time
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.database import Database
from app.factory import create_app
from app.http import static_files
from tests.fixtures.settings import settings_for, url_of

OLD, NEW = "js/page.0123456789.js", "js/page.abcdef0123.js"


@pytest.fixture
def backend() -> str:
    return "sqlite"


def version(folder: Path, name: str, code: str) -> Path:
    """The built assets of a version with one file."""
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text(code)
    (folder / "manifest.json").write_text("{}")
    return folder


@pytest.fixture
def clients(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[FlaskClient]:
    """The previous version and this one, started one after the other on one installation."""
    settings = settings_for(url_of(database), tmp_path / "instance")
    started = []
    for name, code in ((OLD, "old"), (NEW, "new")):
        monkeypatch.setattr(static_files, "DIST", version(tmp_path / code, name, code))
        static_files.publish_assets(settings.assets_dir)
        started.append(create_app(settings, database).test_client())
    return started


def test_each_version_serves_the_assets_of_both(clients: list[FlaskClient]) -> None:
    for client in clients:
        for name, code in ((OLD, "old"), (NEW, "new")):
            answer = client.get(f"/static/dist/{name}")
            assert (answer.status_code, answer.text) == (200, code)
            assert "immutable" in answer.headers["Cache-Control"]
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_an_asset_that_was_deleted_is_served_from_the_shared_folder_or_not_found(
    clients: list[FlaskClient], tmp_path: Path
) -> None:
    own, shared = tmp_path / "new" / NEW, tmp_path / "instance" / "assets" / NEW
    statuses = []
    for deleted in (own, shared):
        deleted.unlink()
        with clients[1].get(f"/static/dist/{NEW}") as answer:
            statuses.append(answer.status_code)
    assert statuses == [200, 404]


def test_nothing_else_in_the_folder_is_served(clients: list[FlaskClient], tmp_path: Path) -> None:
    assets = tmp_path / "instance" / "assets"
    (assets / "js" / "plain.js").write_text("x")
    (assets.parent / "secret.0123456789.key").write_text("x")
    for name in ("js/plain.js", "../secret.0123456789.key", "js/../../secret.0123456789.key"):
        assert clients[0].get(f"/static/dist/{name}").status_code == 404


def test_assets_of_no_version_for_half_a_year_are_deleted(
    clients: list[FlaskClient], tmp_path: Path
) -> None:
    assets = tmp_path / "instance" / "assets"
    long_ago = time.time() - static_files.RETENTION_SECONDS - 1
    for name in (OLD, NEW):
        os.utime(assets / name, (long_ago, long_ago))
    static_files.publish_assets(assets)
    found = {str(path.relative_to(assets)) for path in assets.rglob("*") if path.is_file()}
    assert found == {NEW}


def test_a_version_serves_its_own_assets_without_the_folder(
    clients: list[FlaskClient], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    static_files.publish_assets(taken)
    assert "other versions get no assets of this one" in caplog.text
