"""Checks of a process before it serves: files that others can read, and demo accounts."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app import start_checks
from app.config import Settings
from app.database import Database, make_engine, migration
from app.database.migration import head
from app.services.users import operators
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.tenants import OPERATOR


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """An instance folder as it was made under an ordinary umask."""
    folder = tmp_path / "instance"
    (folder / "uploads").mkdir(parents=True)
    for name in ("portal.db", "portal.db-wal", "secret.key"):
        (folder / name).touch()
    return folder


def modes(folder: Path) -> dict[str, str]:
    paths = (folder, *folder.iterdir())
    return {path.name: f"{stat.S_IMODE(path.stat().st_mode):o}" for path in paths}


def settings_in(folder: Path, env: str) -> Settings:
    kind = {"env": env, "public_url": "https://portal.example"}
    return settings_for(f"sqlite:///{folder}/portal.db", folder, **kind)


def test_in_development_the_modes_of_files_are_corrected(open_folder: Path) -> None:
    start_checks.check(settings_in(open_folder, "development"))
    assert modes(open_folder) == {
        "instance": "700",
        "uploads": "700",
        "portal.db": "600",
        "portal.db-wal": "600",
        "secret.key": "600",
    }


def test_production_does_not_start_with_files_that_others_can_read(open_folder: Path) -> None:
    before = modes(open_folder)
    with pytest.raises(SystemExit) as refusal:
        start_checks.check(settings_in(open_folder, "production"))
    assert str(refusal.value.code).split("\n") == [
        f"Other accounts can read {path} (mode {mode}). Run: chmod {wanted} {path}"
        for path, mode, wanted in (
            (open_folder, "755", "700"),
            (open_folder / "secret.key", "644", "600"),
            (open_folder / "uploads", "755", "700"),
            (open_folder / "portal.db", "644", "600"),
            (open_folder / "portal.db-wal", "644", "600"),
        )
    ]
    assert modes(open_folder) == before


def test_only_its_own_account_can_read_the_files_of_a_process(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    settings = settings_in(folder, "development").model_copy(update={"secret_key": ""})
    start_checks.check(settings)
    assert settings.effective_secret_key
    with Database(make_engine(settings.effective_database_url)).transaction() as own:
        own.connection().exec_driver_sql("CREATE TABLE a (b)")
        assert set(modes(folder).values()) == {"700", "600"}
    assert {"new", "secret.key", "portal.db", "portal.db-wal", "portal.db-shm"} <= set(
        modes(folder)
    )


@pytest.mark.parametrize("address", ["operator@demo.example", "sam@larkfield.example"])
def test_production_does_not_start_with_accounts_of_the_demo(
    fresh_database: Database, tmp_path: Path, address: str
) -> None:
    kind = {"env": "production", "public_url": "https://portal.example"}
    settings = settings_for(url_of(fresh_database), tmp_path / "absent", **kind)
    for path in Path(str(fresh_database.engine.url.database)).parent.glob("*.db*"):
        path.chmod(0o600)
    start_checks.check(settings)
    with fresh_database.transaction() as session:
        _add(session, address)
    with pytest.raises(SystemExit) as refusal:
        start_checks.check(settings)
    assert refusal.value.code == (
        f"The database holds demo accounts (1, {address} first), whose passwords are in demo.json. "
        "Production needs a database of its own (DATABASE_URL)."
    )


def test_production_does_not_start_on_a_schema_that_this_version_does_not_know(
    fresh_database: Database, tmp_path: Path, as_next_version: pytest.MonkeyPatch
) -> None:
    kind = {"env": "production", "public_url": "https://portal.example"}
    settings = settings_for(url_of(fresh_database), tmp_path / "absent", **kind)
    for path in Path(str(fresh_database.engine.url.database)).parent.glob("*.db*"):
        path.chmod(0o600)
    start_checks.check(settings)
    as_next_version.setattr(migration, "OLDEST_SCHEMA", "9990")
    with pytest.raises(SystemExit) as refusal:
        start_checks.check(settings)
    as_next_version.undo()
    migration.history.cache_clear()
    assert refusal.value.code == (
        f"The database is at migration {head()}, this version needs 9992. "
        'docs/operations.md, "Upgrades", says in which order to migrate and start.'
    )


def _add(session: Session, address: str) -> None:
    operators.create(session, OPERATOR, email=address, name=None, password_hash="x")
