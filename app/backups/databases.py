"""Snapshots of a database as a file, and back, by the tools of SQLite and PostgreSQL.

The tables of the durable queue are in the same database and belong to the snapshot.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pysqlite3.dbapi2 as sqlite
from psycopg import sql

from app.config.database_urls import for_libpq, parse

_sqlite: Any = sqlite
"""The driver has no types."""
_connect_sqlite = _sqlite.connect
_SqliteError: type[Exception] = _sqlite.DatabaseError
_SCOPE = "-c app.scope=installation"
"""Row-level security also applies to the owner of the tables."""
_TABLES = """
    SELECT relnamespace::regnamespace::text, relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
    ORDER BY 1, 2
"""


class DatabaseToolFailed(Exception):
    """A tool of the database failed; the message is its own."""


class NoThrowAway(DatabaseToolFailed):
    """A database to verify in can't be created."""


@dataclass(frozen=True, slots=True)
class DatabaseContent:
    """``tables`` are row counts by table; ``revision`` is the migration."""

    server: str
    revision: str | None
    tables: dict[str, int]


def differences(expected: DatabaseContent, actual: DatabaseContent) -> str:
    """Return what a restored database lacks or has too much, as a sentence; empty if nothing."""
    expected_counts: dict[str, object] = expected.tables | {"migration": expected.revision}
    actual_counts: dict[str, object] = actual.tables | {"migration": actual.revision}
    lines = [
        f"{name}: {expected_counts.get(name)} expected, {actual_counts.get(name)} found"
        for name in sorted(expected_counts | actual_counts)
        if expected_counts.get(name) != actual_counts.get(name)
    ]
    return f"The restored database differs. {'; '.join(lines[:5])}." if lines else ""


def kind_of(url: str) -> str:
    """Return ``sqlite`` or ``postgresql``."""
    return parse(url).get_backend_name()


def dump(url: str, target: Path) -> DatabaseContent:
    """Write a consistent snapshot while others write, and return what is in it. Raises
    `DatabaseToolFailed`."""
    if kind_of(url) == "sqlite":
        return _copy_sqlite(str(parse(url).database), target)
    try:
        with psycopg.connect(for_libpq(url), options=_SCOPE) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            ((snapshot,),) = connection.execute("SELECT pg_export_snapshot()").fetchall()
            content = _content_of(connection)
            options = ["--format=custom", f"--snapshot={snapshot}", "--enable-row-security"]
            _run_tool("pg_dump", url, *options, f"--file={target}")
    except psycopg.Error as error:
        raise DatabaseToolFailed(str(error).strip()) from None
    return content


def restore(source: Path, url: str) -> DatabaseContent:
    """Write a snapshot into an empty database, and return what is in it then. On SQLite the file
    must not exist. Raises `DatabaseToolFailed`."""
    if kind_of(url) == "sqlite":
        target = Path(str(parse(url).database))
        if target.exists():
            message = f"{target} exists already."
            raise DatabaseToolFailed(message)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o600)
        return _content_of_sqlite(target)
    try:
        with psycopg.connect(for_libpq(url), options=_SCOPE) as connection:
            if connection.execute(_TABLES).fetchone():
                message = "The database isn't empty."
                raise DatabaseToolFailed(message)
        options = ["--exit-on-error", "--no-owner", "--no-privileges", "--no-comments"]
        _run_tool("pg_restore", url, *options, "--enable-row-security", str(source))
        with psycopg.connect(for_libpq(url), options=_SCOPE) as connection:
            return _content_of(connection)
    except psycopg.Error as error:
        raise DatabaseToolFailed(str(error).strip()) from None


@contextmanager
def throw_away(kind: str, server: str, folder: Path) -> Iterator[str]:
    """Create an empty database that is removed at the end, and yield its URL: a file in the folder,
    or a database next to the one of the URL ``server``, whose role may create databases. Raises
    `NoThrowAway`."""
    name = f"portal_verify_{uuid4().hex[:12]}"
    if kind == "sqlite":
        yield f"sqlite:///{folder / name}.db"
        return
    identifier = sql.Identifier(name)
    try:
        _administer(server, sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(identifier))
    except DatabaseToolFailed as error:
        message = f"No database could be created to verify in: {error}"
        raise NoThrowAway(message) from None
    try:
        yield parse(server).set(database=name).render_as_string(hide_password=False)
    finally:
        drop = sql.SQL("DROP DATABASE IF EXISTS {}").format(identifier)
        try:
            _administer(server, drop)  # it ends autovacuum, which FORCE may not
        except DatabaseToolFailed:
            _administer(server, drop + sql.SQL(" WITH (FORCE)"))


def _administer(url: str, statement: sql.Composed) -> None:
    try:
        with psycopg.connect(for_libpq(url), autocommit=True) as connection:
            connection.execute(statement)
    except psycopg.Error as error:
        raise DatabaseToolFailed(str(error).strip()) from None


def _copy_sqlite(path: str, target: Path) -> DatabaseContent:
    """Copy all pages in one step, and so of one moment. With a write-ahead log it blocks no
    writer."""
    try:
        with (
            closing(_connect_sqlite(path, timeout=30)) as source,
            closing(_open_sqlite(target)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
    except _SqliteError as error:
        raise DatabaseToolFailed(str(error)) from None
    target.chmod(0o600)
    return _content_of_sqlite(target)


def _open_sqlite(path: Path) -> Any:
    return _connect_sqlite(str(path), isolation_level=None)


def _content_of_sqlite(path: Path) -> DatabaseContent:
    try:
        with closing(_open_sqlite(path)) as connection:
            ((verdict,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
            if verdict != "ok":
                raise DatabaseToolFailed(str(verdict))
            query = (
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
            names = sorted(name for (name,) in connection.execute(query))
            tables = {name: _count_rows(connection, f'"{name}"') for name in names}
            revision = None
            if "alembic_version" in tables:
                ((revision,),) = connection.execute("SELECT version_num FROM alembic_version")
    except _SqliteError as error:
        raise DatabaseToolFailed(str(error)) from None
    return DatabaseContent(f"SQLite {_sqlite.sqlite_version}", revision, tables)


def _count_rows(connection: Any, table: str) -> int:
    query = f"SELECT count(*) FROM {table}"  # noqa: S608 - a name from the database's own catalogue
    ((count,),) = connection.execute(query).fetchall()
    return int(count)


def _content_of(connection: psycopg.Connection[Any]) -> DatabaseContent:
    names = connection.execute(_TABLES).fetchall()
    tables = {}
    for schema, name in names:
        count_query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, name))
        ((tables[f"{schema}.{name}"],),) = connection.execute(count_query).fetchall()
    revision = None
    if "public.alembic_version" in tables:
        ((revision,),) = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    number = connection.info.server_version
    return DatabaseContent(f"PostgreSQL {number // 10000}.{number % 10000}", revision, tables)


def _run_tool(program: str, url: str, *options: str) -> None:
    """Run a tool of PostgreSQL. The password is in its environment, because arguments are visible
    to others."""
    parsed = parse(url)
    address = for_libpq(parsed.set(password=None))
    environment = {**os.environ, "PGOPTIONS": _SCOPE}
    if parsed.password:
        environment["PGPASSWORD"] = str(parsed.password)
    result = subprocess.run(  # noqa: S603 - a tool of the database
        [_find_tool(program), f"--dbname={address}", *options],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    if result.returncode:
        raise DatabaseToolFailed(result.stderr.strip()[-400:] or f"{program} failed.")


def _find_tool(name: str) -> str:
    """The newest of Debian's versions, which reads every older server; else the one on the path."""
    paths = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3])
    )
    tool_path = str(paths[-1]) if paths else shutil.which(name)
    if tool_path is None:
        message = f"{name} is not installed: install the package postgresql-client."
        raise DatabaseToolFailed(message)
    return tool_path
