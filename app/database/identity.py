"""The identity of a database: names that no dump, copy or recovery of it has.

An ordinary role of PostgreSQL may read all of them.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

_NAMES = """
    SELECT
        (SELECT system_identifier FROM pg_control_system()),
        ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint,
        (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
"""
"""The timeline is that of the log being written. The last checkpoint still names the previous one
for some minutes after a recovery."""
# nosemgrep: sql-made-of-values - the constant above
_POSTGRESQL = text(f"{_NAMES}, pg_current_xact_id()::text::bigint % 4294967296")


@dataclass(frozen=True, slots=True)
class DatabaseIdentity:
    """``server`` is PostgreSQL's system identifier, ``timeline`` changes with each recovery and
    each promoted standby, ``database`` is an OID or the inode of SQLite's file.

    ``transaction`` is the current one, as its rows show it in ``xmin``.
    """

    database: int
    server: int | None = None
    timeline: int | None = None
    transaction: int | None = None


def read(session: Session) -> DatabaseIdentity | None:
    """Return the identity of the session's database; None if it can't be read. Not for use in a
    savepoint, whose rows show a transaction of their own."""
    if session.get_bind().dialect.name == "sqlite":
        return _file_identity(str(session.get_bind().engine.url.database))
    try:
        with session.begin_nested():
            server, timeline, database, transaction = session.execute(_POSTGRESQL).one()
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
        return None
    return DatabaseIdentity(int(database), int(server), int(timeline), int(transaction))


def check_connections(engine: Engine, is_other: Callable[[], None]) -> None:
    """Call ``is_other`` when a new connection of PostgreSQL leads to another database than the
    first one did: it was restored or recovered under a running process."""
    first: list[Any] = []

    def check(connection: Any, _record: Any) -> None:
        try:
            names = connection.execute(_NAMES).fetchone()
        except psycopg.Error:
            return
        if not first:
            first.append(names)
        elif names != first[0]:
            is_other()

    if engine.dialect.name == "postgresql":
        event.listen(engine, "connect", check)


def _file_identity(path: str) -> DatabaseIdentity | None:
    """Without the device number, which may change when the machine restarts."""
    try:
        return DatabaseIdentity(os.stat(path).st_ino)  # noqa: PTH116 - nothing else is done with the path
    except OSError:
        return None
