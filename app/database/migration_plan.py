"""The effect of the pending migrations: their phases, and the locks that they take on PostgreSQL.

Alembic is loaded on demand: see `app.database.migration`.
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from app.config import ROOT
from app.database.migration import current

EXPAND, CONTRACT, STOPPED = "expand", "contract", "stopped"
"""Migrations that declare no phase are "stopped": all processes must be stopped."""

_LOCKS = (
    (r"VACUUM|SET |BEGIN|COMMIT", ""),
    (r"ALTER TABLE (?P<table>\w+) VALIDATE ", "SHARE UPDATE EXCLUSIVE"),
    (r"CREATE (?:UNIQUE )?INDEX CONCURRENTLY .* ON (?P<table>\w+)", "SHARE UPDATE EXCLUSIVE"),
    (r"CREATE (?:UNIQUE )?INDEX .* ON (?P<table>\w+)", "SHARE"),
    (r"ALTER TABLE (?P<table>\w+) ADD CONSTRAINT .* FOREIGN KEY ", "SHARE ROW EXCLUSIVE"),
    (r"(?:ALTER|DROP) TABLE (?P<table>\w+)", "ACCESS EXCLUSIVE"),
    (r"(?:UPDATE|DELETE FROM|INSERT INTO) (?P<table>\w+)", "ROW EXCLUSIVE"),
)
"""The first entry that a statement begins with counts."""
_REFERENCE = re.compile(r"\bREFERENCES (\w+)")
_CREATED = re.compile(r"CREATE TABLE (\w+)")
_SIZES = text(
    "SELECT greatest(reltuples, 0)::bigint, pg_total_relation_size(oid) FROM pg_class "
    "WHERE oid = to_regclass(:table)"
)


@dataclass(frozen=True, slots=True)
class TableLock:
    """A lock on a table. ``rows`` is PostgreSQL's estimate."""

    table: str
    mode: str
    rows: int
    octets: int


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """A pending migration. ``serves`` is whether processes at the database's current migration keep
    working after it; ``oldest_code`` is the migration that all processes must have before it runs
    ("contract" only)."""

    revision: str
    title: str
    phase: str
    serves: bool
    oldest_code: str | None
    locks: tuple[TableLock, ...]


def pending(connection: Connection) -> list[MigrationStep]:
    """Return the pending migrations, next one first. Raises Alembic's `CommandError` if the
    database is at a migration that this version doesn't know."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config(ROOT / "alembic.ini")
    scripts = ScriptDirectory.from_config(config)
    revision = current(connection)
    ahead = list(scripts.iterate_revisions("head", revision or "base"))[::-1]
    before = (
        {each.revision for each in scripts.iterate_revisions(revision, "base")}
        if revision
        else set()
    )
    steps: list[MigrationStep] = []
    for script in ahead:
        phase = getattr(script.module, "PHASE", STOPPED)
        oldest_code = script.module.OLDEST_CODE if phase == CONTRACT and revision else None
        survives = phase == EXPAND or oldest_code in before or revision is None
        serves = survives and all(step.serves for step in steps)
        locks = () if phase == STOPPED else tuple(_table_locks(connection, config, script))
        title = script.doc.partition("\n")[0]
        steps.append(MigrationStep(script.revision, title, phase, serves, oldest_code, locks))
    return steps


def statements(config: Any, revisions: str) -> list[str]:
    """Return the SQL for PostgreSQL of ``from:to``, one statement per line. ``config`` is
    Alembic's."""
    from alembic import command

    output = io.StringIO()
    config.output_buffer = output
    command.upgrade(config, revisions, sql=True)
    without_comments = re.sub(r"--.*", "", output.getvalue())
    in_one_line = (" ".join(each.split()) for each in without_comments.split(";\n"))
    return [each for each in in_one_line if each]


def _table_locks(connection: Connection, config: Any, script: Any) -> Iterator[TableLock]:
    if connection.dialect.name != "postgresql":
        return
    locks: set[tuple[str, str]] = set()
    created = {"alembic_version"}
    for statement in statements(config, f"{script.down_revision}:{script.revision}"):
        created |= set(_CREATED.findall(statement))
        locks |= set(locks_of(statement))
    for table, mode in sorted(locks):
        if table not in created:
            size: Any = connection.execute(_SIZES, {"table": table}).one_or_none() or (0, 0)
            yield TableLock(table, mode, *size)


def locks_of(statement: str) -> Iterator[tuple[str, str]]:
    """The tables that a statement locks on PostgreSQL, and the modes."""
    statement = " ".join(statement.split())
    for pattern, mode in _LOCKS:
        match = re.match(pattern, statement)
        if match:
            if mode:
                yield match["table"], mode
            break
    for parent in _REFERENCE.findall(statement):
        yield parent, "SHARE ROW EXCLUSIVE"
