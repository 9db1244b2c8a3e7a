"""The database's structure: bringing it to the newest migration, and asking how far it is.

Asking is what a running web process does, and it needs no Alembic: loading that costs 11 MB.
"""

import re
from functools import cache
from typing import Any

from sqlalchemy import Connection, inspect, text

from app.config import ROOT
from app.database import Database

_REVISION = re.compile(r'^revision\b.*= "(\w+)"$', re.MULTILINE)
_DOWN_REVISION = re.compile(r'^down_revision\b.*= "(\w+)"$', re.MULTILINE)


@cache
def head() -> str:
    """The newest migration that this code has: the one that no other follows."""
    sources = [path.read_text() for path in (ROOT / "migrations" / "versions").glob("*.py")]
    revisions: set[str] = {match for source in sources for match in _REVISION.findall(source)}
    followed = {match for source in sources for match in _DOWN_REVISION.findall(source)}
    (newest,) = revisions - followed
    return newest


def current(connection: Connection) -> str | None:
    """The migration that the database is at, None where none has run."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found


def upgrade(database: Database, target: str = "head") -> None:
    """Runs every migration up to ``target`` in one transaction."""
    _run("upgrade", database, target)


def downgrade(database: Database, target: str = "base") -> None:
    """Takes migrations back down to ``target`` in one transaction."""
    _run("downgrade", database, target)


def _run(direction: str, database: Database, target: str) -> None:
    from alembic import command  # noqa: PLC0415 - see the head of this file
    from alembic.config import Config  # noqa: PLC0415 - see the head of this file

    with database.engine.begin() as connection:
        config = Config(ROOT / "alembic.ini")
        config.attributes["connection"] = connection
        run: Any = getattr(command, direction)
        run(config, target)
