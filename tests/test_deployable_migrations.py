"""Migrations run while the previous version serves: expand first, contract later, no long locks."""

import ast
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import pytest_alembic
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import IntegrityError

from app.config import ROOT
from app.database import Database, migration
from app.database.migration import OLDEST_SCHEMA, check_schema, downgrade, head, upgrade
from app.database.migration_plan import statements
from app.models import Base
from migrations import online
from migrations.filters import belongs_to_us
from migrations.online import PHASED_FROM, limits
from tests.fixtures.newer_version import MIGRATIONS

NOT_OURS = (
    "prefer-text-field",  # lengths are part of the models
    "prefer-bigint-over-int",
    "ban-drop-constraint",  # old code works without a constraint; `add_constraint` repeats itself
)
DROPS = ("ban-drop-column", "ban-drop-table", "ban-drop-not-null", "ban-drop-database")
"""What only contract migrations may do."""
SERVED_WITHOUT = {
    "0109": "ALTER TABLE webhook_endpoints ALTER COLUMN organization_id DROP NOT NULL"
}
"""By migration, the column that expand migrations let be null (`online.allow_null`): a person has
checked that the version before serves such rows. It may be repeated."""


def become_the_previous_version(as_next_version: pytest.MonkeyPatch) -> None:
    as_next_version.undo()
    migration.history.cache_clear()


def phased(root: Path) -> list[Script]:
    scripts = ScriptDirectory.from_config(Config(root / "alembic.ini")).walk_revisions()
    return [each for each in scripts if each.revision >= PHASED_FROM]


def squawk(sql: str, *excluded: str) -> list[str]:
    """The rules that these statements break."""
    program = str(Path(sys.executable).with_name("squawk"))
    options = [f"--exclude={rule}" for rule in (*NOT_OURS, *excluded)]
    command = [program, "--reporter=json", "--pg-version=15", *options]
    done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False)
    return sorted({finding["rule_name"] for finding in json.loads(done.stdout)})


def findings(root: Path, script: Script) -> list[str]:
    revisions = f"{script.down_revision}:{script.revision}"
    planned = statements(Config(root / "alembic.ini"), revisions)
    checked = [each for each in planned if each != SERVED_WITHOUT.get(script.revision)]
    sql = ";\n".join([*checked, ""])
    return squawk(sql, *(DROPS if script.module.PHASE == "contract" else ()))


def test_each_new_migration_declares_its_phase(next_version_migrations: Path) -> None:
    known = set(migration.history()) | {revision for revision, *_ in MIGRATIONS}
    for script in phased(ROOT) + phased(next_version_migrations):
        phase = getattr(script.module, "PHASE", None)
        assert phase in ("expand", "contract"), f"{script.path} needs a PHASE"
        if phase == "contract":
            assert script.module.OLDEST_CODE in known, f"{script.path} needs an OLDEST_CODE"


def test_new_migrations_hold_no_long_lock(next_version_migrations: Path) -> None:
    checked = {each.path: findings(ROOT, each) for each in phased(ROOT)}
    samples = {
        each.path: findings(next_version_migrations, each)
        for each in phased(next_version_migrations)
    }
    assert {path: found for path, found in (checked | samples).items() if found} == {}


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        ("CREATE INDEX IF NOT EXISTS a ON contacts (phone)", ["require-concurrent-index-creation"]),
        ("ALTER TABLE contacts ADD COLUMN a text NOT NULL", ["adding-required-field"]),
        ("ALTER TABLE contacts DROP COLUMN phone", ["ban-drop-column"]),
        (
            "ALTER TABLE contacts ALTER COLUMN phone DROP NOT NULL",
            ["ban-drop-not-null"],
        ),
        ("ALTER TABLE contacts RENAME COLUMN phone TO a", ["renaming-column"]),
        ("ALTER TABLE contacts RENAME TO a", ["renaming-table"]),
        ("ALTER TABLE contacts ALTER COLUMN phone TYPE text", ["changing-column-type"]),
        ("ALTER TABLE contacts ADD CONSTRAINT a CHECK (true)", ["constraint-missing-not-valid"]),
        (
            "ALTER TABLE contacts ADD CONSTRAINT a FOREIGN KEY (id) REFERENCES calls (id)",
            ["adding-foreign-key-constraint", "constraint-missing-not-valid"],
        ),
    ],
)
def test_a_change_that_would_stop_the_previous_version_is_found(
    statement: str, rules: list[str]
) -> None:
    sql = ";\n".join([*limits(phased=True), "BEGIN", statement, "COMMIT", ""])
    assert squawk(sql) == rules


def test_a_migration_that_commits_in_between_does_nothing_else(
    next_version_migrations: Path,
) -> None:
    """An attempt that failed is repeated from the beginning."""
    for script in phased(ROOT) + phased(next_version_migrations):
        tree = ast.parse(Path(script.path).read_text())
        upgrades = next(each for each in tree.body if getattr(each, "name", "") == "upgrade")
        names = {each.id for each in ast.walk(upgrades) if isinstance(each, ast.Name)}
        assert not {"op", "online"} <= names, f"{script.path}: split it, see migrations/online.py"


def test_new_migrations_go_up_down_and_up_again(
    next_version_migrations: Path, fresh_database: Database
) -> None:
    config = pytest_alembic.Config(alembic_config=Config(next_version_migrations / "alembic.ini"))
    with pytest_alembic.runner(config=config, engine=fresh_database.engine) as runner:
        assert runner.heads == [MIGRATIONS[-1][0]]
        for revision, *_ in MIGRATIONS:
            runner.migrate_up_to(revision)
            runner.migrate_down_one()
            runner.migrate_up_one()
            assert runner.current == revision
        runner.migrate_down_to(head())
        assert runner.current == head()


def test_the_models_need_no_newer_schema_than_is_declared(fresh_database: Database) -> None:
    if head() != OLDEST_SCHEMA:
        downgrade(fresh_database, OLDEST_SCHEMA)
    with fresh_database.engine.connect() as connection:
        options: dict[str, Any] = {"include_object": belongs_to_us}
        context = MigrationContext.configure(connection, opts=options)
        differences = compare_metadata(context, Base.metadata)
    kinds = {difference[0] for difference in differences if isinstance(difference, tuple)}
    missing = kinds & {"add_table", "add_column"}
    assert missing == set(), "set OLDEST_SCHEMA to the migration that adds what the models need"


def seen(database: Database) -> str:
    with database.engine.connect() as connection:
        return check_schema(connection).problem


@pytest.mark.usefixtures("as_next_version")
def test_a_version_starts_on_an_older_schema_that_it_declares(fresh_database: Database) -> None:
    assert seen(fresh_database) == ""
    upgrade(fresh_database, "9990")
    assert seen(fresh_database) == ""


def test_a_version_does_not_start_on_a_schema_before_the_oldest(
    fresh_database: Database, as_next_version: pytest.MonkeyPatch
) -> None:
    as_next_version.setattr(migration, "OLDEST_SCHEMA", "9991")
    upgrade(fresh_database, "9990")
    assert seen(fresh_database) == "the database is at migration 9990, this version needs 9992"


def test_the_previous_version_serves_after_expand_migrations(
    fresh_database: Database, as_next_version: pytest.MonkeyPatch
) -> None:
    upgrade(fresh_database, "9991")
    become_the_previous_version(as_next_version)
    with fresh_database.engine.connect() as connection:
        found = check_schema(connection)
    assert (found.revision, found.problem, found.is_newest) == ("9991", "", False)


def test_the_previous_version_does_not_serve_after_a_contract_migration(
    fresh_database: Database, as_next_version: pytest.MonkeyPatch
) -> None:
    upgrade(fresh_database, "9992")
    become_the_previous_version(as_next_version)
    assert seen(fresh_database) == (
        "the database is at migration 9992, which needs a version with migration 9991; "
        f"this one has {head()}"
    )


def test_the_previous_version_serves_again_when_the_contract_migration_is_taken_back(
    fresh_database: Database, as_next_version: pytest.MonkeyPatch
) -> None:
    upgrade(fresh_database, "9992")
    downgrade(fresh_database, "9991")
    become_the_previous_version(as_next_version)
    assert seen(fresh_database) == ""


def test_a_table_is_filled_some_rows_a_transaction(
    fresh_database: Database, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(online, "ROW_BATCH", 3)
    engine, changed = fresh_database.engine, list[int]()
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE notes (id integer PRIMARY KEY, word text)"))
        words = [{"id": number, "word": "kept" if number == 4 else ""} for number in range(1, 9)]
        connection.execute(text("INSERT INTO notes VALUES (:id, :word)"), words)
        if backend == "postgresql":
            connection.execute(text("ALTER TABLE notes ENABLE ROW LEVEL SECURITY"))
            connection.execute(text("ALTER TABLE notes FORCE ROW LEVEL SECURITY"))
            seen = "current_setting('app.scope', true) = 'installation'"
            connection.execute(text(f"CREATE POLICY notes ON notes USING ({seen})"))

    def count(_connection: Any, cursor: Any, statement: str, *_more: Any) -> None:
        if statement.startswith("UPDATE notes"):
            changed.append(cursor.rowcount)

    event.listen(engine, "after_cursor_execute", count)
    for _ in "12":  # the second time as after a failure
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"transactional_ddl": True})
            with Operations.context(context), context.begin_transaction():
                online.fill("notes", "word = 'new'", "word = ''")
    with engine.connect() as connection:
        found = list(connection.scalars(text("SELECT word FROM notes ORDER BY id")))
    assert found == ["new", "new", "new", "kept", "new", "new", "new", "new"]
    assert changed == ([7, 0] if backend == "sqlite" else [3, 2, 2, 0, 0, 0])


def test_a_check_allows_other_values_without_a_long_lock(
    fresh_database: Database, backend: str
) -> None:
    check = "CONSTRAINT ck_notes_kind CHECK (word IN ('a', 'b'))"
    with fresh_database.engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE notes (word text {check})"))
        connection.execute(text("INSERT INTO notes VALUES ('a')"))
    with fresh_database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"transactional_ddl": True})
        with Operations.context(context), context.begin_transaction():
            online.allow_only("notes", "word", "kind", ["a", "c"])
    with fresh_database.engine.begin() as connection:
        connection.execute(text("INSERT INTO notes VALUES ('c')"))
    with pytest.raises(IntegrityError), fresh_database.engine.begin() as connection:
        connection.execute(text("INSERT INTO notes VALUES ('b')"))
    if backend == "postgresql":
        with fresh_database.engine.connect() as connection:
            is_valid = "SELECT convalidated FROM pg_constraint WHERE conname = 'ck_notes_kind'"
            assert connection.scalar(text(is_valid)) is True


@pytest.mark.usefixtures("as_next_version")
@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_migration_that_gets_no_lock_lets_others_pass_and_tries_again(
    fresh_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    longest = 0.0

    def read(connection: Connection) -> float:
        began = time.monotonic()
        connection.execute(text("SELECT count(*) FROM contacts")).scalar()
        return time.monotonic() - began

    with fresh_database.engine.connect() as busy:
        read(busy)  # and its transaction stays open
        migrating = threading.Thread(target=upgrade, args=(fresh_database, "9990"))
        migrating.start()
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            with fresh_database.engine.connect() as other:
                longest = max(longest, read(other))
    migrating.join()
    assert "a table is in use; attempt 1 of" in caplog.text
    assert longest < 2.0  # as long as the lock waits, and a busy machine
    with fresh_database.engine.connect() as connection:
        assert migration.current(connection) == "9990"
        assert connection.scalar(text("SHOW lock_timeout")) == "0"


@pytest.mark.usefixtures("as_next_version")
@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_migration_waits_for_autovacuum_while_others_read_and_write(
    fresh_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = text("""
        SELECT mode FROM pg_locks WHERE NOT granted AND relation = 'contacts'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """)
    seen = set[str]()
    with fresh_database.engine.connect() as vacuum, fresh_database.engine.connect() as watch:
        # The lock of autovacuum, for the second after which PostgreSQL cancels it.
        vacuum.execute(text("LOCK TABLE contacts IN SHARE UPDATE EXCLUSIVE MODE"))
        migrating = threading.Thread(target=upgrade, args=(fresh_database, "9990"))
        migrating.start()
        end = time.monotonic() + 30
        while not seen and time.monotonic() < end:
            seen |= set(watch.scalars(waiting))
        end = time.monotonic() + 1
        while time.monotonic() < end:
            seen |= set(watch.scalars(waiting))
    migrating.join()
    assert seen == {"ShareUpdateExclusiveLock"}  # a lock behind which no one waits
    assert caplog.messages == []  # no attempt failed
    with fresh_database.engine.connect() as connection:
        assert migration.current(connection) == "9990"
