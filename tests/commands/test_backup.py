"""``flask backup``: what an operator types to make, check and restore backups."""

import json
from pathlib import Path

import pytest
from flask import Flask

from app.database import Database
from app.database.migration import head
from app.factory import create_app
from tests.fixtures.databases import Databases
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.worker import create_calling_organization


@pytest.fixture
def backup_key(tmp_path: Path, app: Flask) -> tuple[str, Path]:
    """What `backup key` prints: the public key, and the file of the private one."""
    result = app.test_cli_runner().invoke(args=["backup", "key"])
    path = tmp_path / "key.txt"
    path.write_text(result.stdout)
    return result.stderr.strip().removeprefix("PORTAL_BACKUP_PUBLIC_KEY="), path


def portal(database: Database, folder: Path, **changes: object) -> Flask:
    return create_app(settings_for(url_of(database), folder, **changes), database)


def run_backup(app: Flask, *words: object, status: int = 0) -> str:
    result = app.test_cli_runner().invoke(args=["backup", *map(str, words)])
    assert result.exit_code == status, result.output
    return result.output.strip()


def test_a_backup_is_created_verified_listed_and_restored(
    fresh_database: Database, databases: Databases, backup_key: tuple[str, Path], tmp_path: Path
) -> None:
    create_calling_organization(fresh_database)
    app = portal(fresh_database, tmp_path / "instance", backup_public_key=backup_key[0])
    made = json.loads(run_backup(app, "create", "--to", tmp_path / "backups", "--json"))
    assert (made["unverified"], made["files"]) == (None, 0)
    (listed,) = json.loads(run_backup(app, "list", "--json"))
    assert (listed["file"], listed["state"]) == (made["file"], "verified")

    opened = ("--identity", backup_key[1])
    verified = run_backup(app, "verify", made["file"], *opened)
    counts = f"{made['rows']} rows in {made['tables']} tables, 0 files."
    assert verified == f"The backup is complete: migration {head()}, {counts}"
    empty = f"sqlite:///{tmp_path / 'new.db'}"
    if not fresh_database.is_sqlite:
        empty = databases.create("postgresql", like=None)
    target = ("--into", empty, "--instance", tmp_path / "new")
    restored = run_backup(app, "restore", made["file"], *opened, *target)
    assert restored == f"Restored: migration {head()}, {counts}"
    refused = run_backup(app, "restore", made["file"], *opened, *target, status=1)
    assert refused.startswith("Error: ")
    databases.drop(empty)


def test_backup_commands_name_missing_options_and_unreadable_files(
    fresh_database: Database, backup_key: tuple[str, Path], tmp_path: Path
) -> None:
    app = portal(fresh_database, tmp_path)
    without = run_backup(app, "create", status=2)
    assert without.endswith("Name a folder with --to, or set PORTAL_BACKUP_DIR.")
    without = run_backup(app, "create", "--to", tmp_path, status=2)
    assert without.endswith("Set PORTAL_BACKUP_PUBLIC_KEY. `backup key` makes a pair of keys.")
    (tmp_path / "plain").write_text("nothing")
    broken = run_backup(
        app, "verify", tmp_path / "plain", "--identity", tmp_path / "plain", status=1
    )
    assert "holds no private keys" in broken
    unreadable = run_backup(
        app, "verify", tmp_path / "plain", "--identity", backup_key[1], status=1
    )
    assert unreadable.startswith(f"Error: {tmp_path / 'plain'} can't be read")
    assert run_backup(app, "list") == "No backup was made."


def test_the_list_warns_by_its_exit_code_when_the_daily_backup_is_missing(
    fresh_database: Database, backup_key: tuple[str, Path], tmp_path: Path
) -> None:
    daily = {"backup_dir": tmp_path / "backups", "backup_public_key": backup_key[0]}
    app = portal(fresh_database, tmp_path / "instance", **daily)
    assert run_backup(app, "list", status=1) == "No backup was made."
    run_backup(app, "create")
    assert run_backup(app, "list").endswith(".tar.gz.age")
