"""Bring the database to the newest migration, and check whether this code works with it.

Running web processes only check, which needs no Alembic: loading it costs 11 MB.
"""

import logging
import random
import re
import time
from dataclasses import dataclass
from functools import cache
from typing import Any

from psycopg.errors import LockNotAvailable
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import OperationalError

from app.config import ROOT
from app.database import Database

OLDEST_SCHEMA = "0115"
"""The oldest migration that this code works with; the newest is `head`. Raise it together with the
first model that needs a migration."""

CODE_FLOOR = "schema_code_floor"
"""The table in which contract migrations record the oldest code that works after them, for older
processes to read. ``migrations/env.py`` writes it next to Alembic's own table."""

LOCK_ATTEMPTS = 40
_LOCK_PAUSES = (0.5, 3.0)
"""Range of the random pause between two attempts, in seconds: waiting statements run meanwhile."""

_REVISION = re.compile(r'^revision\b.*= "(\w+)"$', re.MULTILINE)
_DOWN_REVISION = re.compile(r'^down_revision\b.*= "(\w+)"$', re.MULTILINE)

log = logging.getLogger(__name__)


@cache
def history() -> tuple[str, ...]:
    """Return the migrations that this code has, oldest first. Raises `RuntimeError` for a
    circle."""
    sources = [path.read_text() for path in (ROOT / "migrations" / "versions").glob("*.py")]
    followers: dict[str | None, str] = {}
    for source in sources:
        before = _DOWN_REVISION.search(source)
        for revision in _REVISION.findall(source):
            followers[before[1] if before else None] = revision
    ordered: list[str] = []
    while (following := followers.get(ordered[-1] if ordered else None)) is not None:
        if following in ordered:
            message = f"two migrations have the revision {following}, or it follows itself"
            raise RuntimeError(message)
        ordered.append(following)
    return tuple(ordered)


def head() -> str:
    """Return the newest migration of this code: no other follows it."""
    return history()[-1]


def current(connection: Connection) -> str | None:
    """Return the current migration of the database; None if none has run."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


@dataclass(frozen=True, slots=True)
class SchemaCompatibility:
    """Whether code and database work together. ``problem`` says why not, without a capital and a
    full stop; empty if they do."""

    revision: str | None
    problem: str = ""

    @property
    def is_newest(self) -> bool:
        """Whether the database is at the newest migration of this code."""
        return self.revision == head()


def check_schema(connection: Connection) -> SchemaCompatibility:
    """Compare the database with the range of this code: from `OLDEST_SCHEMA` to `head`, and beyond
    it up to the first contract migration that this code doesn't survive."""
    revision, revisions = current(connection), history()
    if revision in revisions:
        if revisions.index(revision) >= revisions.index(OLDEST_SCHEMA):
            return SchemaCompatibility(revision)
        return SchemaCompatibility(
            revision, f"the database is at migration {revision}, this version needs {head()}"
        )
    if revision is None or revision < head():
        missing = f"the database is at migration {revision or 'none'}, this version needs {head()}"
        return SchemaCompatibility(revision, missing)
    floor = code_floor(connection)
    if floor is None or floor in revisions:
        return SchemaCompatibility(revision)
    beyond = (
        f"the database is at migration {revision}, which needs a version with migration {floor}; "
        f"this one has {head()}"
    )
    return SchemaCompatibility(revision, beyond)


def code_floor(connection: Connection) -> str | None:
    """The migration that code must have to work with this database; None if any code does."""
    if not inspect(connection).has_table(CODE_FLOOR):
        return None
    newest = text(f"SELECT max(oldest_code) FROM {CODE_FLOOR}")  # noqa: S608 - our own name
    revision: str | None = connection.scalar(newest)
    return revision


def upgrade(database: Database, target: str = "head") -> None:
    """Run every migration up to ``target``, each in its own transaction."""
    _run_alembic("upgrade", database, target)


def downgrade(database: Database, target: str = "base") -> None:
    """Revert migrations down to ``target``, each in its own transaction."""
    _run_alembic("downgrade", database, target)


def _run_alembic(direction: str, database: Database, target: str) -> None:
    """Retry when a lock isn't granted: completed migrations stay, the rest follow."""
    from alembic import command
    from alembic.config import Config

    run: Any = getattr(command, direction)
    for attempt in range(1, LOCK_ATTEMPTS + 1):
        config = Config(ROOT / "alembic.ini")
        try:
            with database.engine.connect() as connection:
                config.attributes["connection"] = connection
                try:
                    run(config, target)
                finally:
                    connection.invalidate()  # this ends its lock and statement timeouts
        except OperationalError as error:
            if not isinstance(error.orig, LockNotAvailable) or attempt == LOCK_ATTEMPTS:
                raise
            log.warning("a table is in use; attempt %s of %s failed", attempt, LOCK_ATTEMPTS)
        else:
            return
        time.sleep(random.uniform(*_LOCK_PAUSES))  # noqa: S311 - no secret
