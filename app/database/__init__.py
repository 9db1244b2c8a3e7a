"""One engine factory for web, worker, command line, migrations and tests.

SQLite runs through pysqlite3 (a current SQLite inside its wheel), never through the standard
library: two SQLite libraries in one process would cancel each other's locks.
"""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from tempfile import NamedTemporaryFile
from time import monotonic, sleep
from typing import Any, Self, TypeVar, cast

import psycopg
import pysqlite3.dbapi2 as sqlite
from sqlalchemy import (
    URL,
    Connection,
    CursorResult,
    Delete,
    Engine,
    Update,
    create_engine,
    event,
)
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from app.config import database_urls
from app.database.replica import Replica
from app.database.scope import INSTALLATION, SCOPE, DatabaseScope, begin
from app.database.sqlite_write_lock import (
    BUSY_SECONDS,
    QueueingConnection,
    acquire_write_lock,
    queue_writers,
)

WAL_IS_SOUND_FROM = (3, 51, 3)
"""Older SQLite can corrupt a write-ahead log when several connections reset it."""

READ_ONLY = "read_only"
"""Execution option: the transaction will not write, so it takes no write lock on SQLite."""

SQLITE_ARGUMENTS = {
    "timeout": BUSY_SECONDS,
    "check_same_thread": False,
    "factory": QueueingConnection,
}

BULK_CACHE_KILOBYTES = 32768
PAGE_BATCH = 500
"""Pages freed per transaction (8 kB each)."""
KEPT_PAGES = 1000
"""Free pages left in the file for new rows."""
TRUSTED_SECONDS = 1.0
"""Seconds since its last use during which a connection is assumed to be alive."""

T = TypeVar("T")

log = logging.getLogger(__name__)

# Without these adapters the driver searches for one for each None and each truth value, which takes
# ten times as long as binding: a third of the time for thousands of rows.
sqlite.register_adapter(type(None), lambda _: None)  # type: ignore[attr-defined]  # the driver has no types
sqlite.register_adapter(bool, int)  # type: ignore[attr-defined]  # as above


def make_engine(
    url: str | URL,
    *,
    pool_size: int = 8,
    max_overflow: int | None = None,
    pool_seconds: float = 30.0,
    cache_kilobytes: int = BULK_CACHE_KILOBYTES,
) -> Engine:
    """Create an engine for ``sqlite:///path`` or ``postgresql+psycopg://...``.

    Each connection to SQLite has a page cache of ``cache_kilobytes``. The pool opens up to
    ``max_overflow`` more connections at peaks (default: ``pool_size``); callers wait
    ``pool_seconds`` for a free one."""
    parsed = database_urls.parse(url)
    if max_overflow is None:
        max_overflow = pool_size
    if parsed.get_backend_name() == "sqlite":
        engine = create_engine(
            parsed,
            module=sqlite,
            pool_size=pool_size,
            pool_use_lifo=True,  # idle connections of a peak don't fill their caches
            max_overflow=max_overflow,
            pool_timeout=pool_seconds,
            hide_parameters=True,
            connect_args=SQLITE_ARGUMENTS,
        )
        queue_writers(engine, str(parsed.database))

        def prepare(connection: Any, _record: Any) -> None:
            _prepare_sqlite_connection(connection, cache_kilobytes)

        event.listen(engine, "connect", prepare)
        event.listen(engine, "begin", _begin_sqlite_transaction)
        return engine
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    engine = create_engine(
        parsed,
        pool_size=pool_size,
        max_overflow=max_overflow,
        pool_timeout=pool_seconds,
        hide_parameters=True,
        json_deserializer=_read_json,
        # A prepared statement would keep the plan that was made while its tables were small, and
        # scan them for each look-up after a file has filled them. Only the begin hook opens
        # transactions, because it declares their scope with it.
        connect_args={"prepare_threshold": None, "autocommit": True},
    )
    _ping_idle_connections(engine)
    event.listen(engine, "begin", begin_in_scope)
    return engine


def _read_json(stored: str | bytes) -> Any:
    """Parse the value of a JSON column. PostgreSQL writes 1e300 as 301 digits: such a number is
    read as the float that was stored, because requests and responses hold no integer beyond 64
    bits."""
    return json.loads(stored, parse_int=_integer_or_float)


def _integer_or_float(digits: str) -> int | float:
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else float(digits)


def _ping_idle_connections(engine: Engine) -> None:
    """Check that a connection is alive before it is handed out, unless it was in use a moment ago.
    This detects a restarted database at no cost to busy work."""

    def remember(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["used_at"] = monotonic()

    def ping(connection: Any, record: ConnectionPoolEntry, _fairy: Any) -> None:
        used_at = record.info.get("used_at")
        if used_at is None or monotonic() - used_at < TRUSTED_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except psycopg.OperationalError as error:
            raise InvalidatePoolError from error  # the pool connects again

    event.listen(engine, "checkin", remember)
    event.listen(engine, "checkout", ping)


def open_scratch() -> Any:
    """Open a database for intermediate results, in an unnamed file that no other process can open
    and that ends when it is closed. It keeps no journal: a failure loses it."""
    # This SQLite keeps its so-called temporary databases in memory, however large.
    with NamedTemporaryFile() as file:
        connection = sqlite.connect(file.name, isolation_level=None, check_same_thread=False)  # type: ignore[attr-defined]  # the driver has no types
    connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA cache_size=-16384")
    return connection


def _prepare_sqlite_connection(connection: Any, cache_kilobytes: int) -> None:
    connection.isolation_level = None  # only the begin hook opens transactions
    cursor = connection.cursor()
    # Larger pages, and a cache that holds the pages of a bulk request, take a third off its time.
    # The page size applies to a new database; SQLite ignores it later.
    cursor.execute("PRAGMA page_size=8192")
    if cursor.execute("PRAGMA page_count").fetchone() == (0,):
        # Lets SQLite return the pages of deleted rows. Setting it later would wait for writers.
        cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")
    # nosemgrep: sql-made-of-values - a number of the settings
    cursor.execute(f"PRAGMA cache_size=-{cache_kilobytes}")
    if sqlite.sqlite_version_info >= WAL_IS_SOUND_FROM:
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")
    else:
        log.warning("SQLite %s: using a rollback journal", sqlite.sqlite_version_info)
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()
    # The built-in function knows ASCII letters only: a search for "ünal" must find "Ünal".
    connection.create_function("lower", 1, _lower, deterministic=True)


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _begin_sqlite_transaction(connection: Connection) -> None:
    # A deferred transaction that reads and then writes fails under concurrency, so every
    # transaction that may write takes the lock at its start.
    read_only = connection.get_execution_options().get(READ_ONLY, False)
    if not read_only:
        acquire_write_lock(connection)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


def begin_in_scope(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("isolation_level") != "AUTOCOMMIT":
        begin(connection, options.get(SCOPE, INSTALLATION))


def read_once(session: Session, key: tuple[Any, ...], read: Callable[[], T]) -> T:
    """Return what ``read`` returns; in a read-only transaction, return its earlier result for the
    same key."""
    if not session.info.get(READ_ONLY):
        return read()
    cache: dict[tuple[Any, ...], T] = session.info.setdefault("read_once", {})
    if key not in cache:
        cache[key] = read()
    return cache[key]


def changed_rows(session: Session, statement: Update | Delete) -> int:
    """Execute an update or a deletion; return how many rows it changed."""
    return cast("CursorResult[Any]", session.execute(statement)).rowcount


class Database:
    """Opens transactions, each committed at the end of its block. Only entry points open them,
    services never do."""

    def __init__(self, engine: Engine, sessions: sessionmaker[Session] | None = None):
        self.engine = engine
        self._sessions = sessions or sessionmaker(engine, expire_on_commit=False)
        self.scope = INSTALLATION
        self.replica: Replica | None = None

    def within(self, scope: DatabaseScope) -> Self:
        """Return the same database, limited to transactions of this scope."""
        narrowed = copy(self)
        narrowed.scope = scope
        return narrowed

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Iterator[Session]:
        """Open a session in one transaction: committed at the end, rolled back on any exception."""
        with self._sessions() as session:
            if read_only or self.scope is not INSTALLATION:
                session.connection(execution_options={READ_ONLY: read_only, SCOPE: self.scope})
            session.info[READ_ONLY] = read_only
            yield session
            session.commit()

    def read_at(self, replica_url: str, max_seconds: float, *, pool_size: int) -> None:
        """Let `figures` read from a standby of PostgreSQL while its rows are at most
        ``max_seconds`` old."""
        engine = make_engine(replica_url, pool_size=pool_size)
        self.replica = Replica(self.engine, engine, max_seconds)

    @contextmanager
    def figures(self, after: int = 0) -> Iterator[Session]:
        """Open a session for reading: on the replica, if it is recent and contains everything up to
        the position ``after`` of the primary's log."""
        opened = self.replica.open(self.scope, after) if self.replica else None
        if opened is None:
            with self.transaction(read_only=True) as session:
                yield session
            return
        with opened as session:
            session.info[READ_ONLY] = True
            yield session
            session.commit()

    def gather_statistics(self) -> None:
        """Update SQLite's index statistics; without them it chooses indexes blindly.

        Samples only tables whose size has changed much, one per transaction, so that writers wait
        for one table at most. PostgreSQL updates its own.
        """
        if not self.is_sqlite:
            return
        connection = self.engine.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute("PRAGMA analysis_limit=400")
            cursor.execute("PRAGMA optimize=0x10002")  # all tables, used or not since the start
            cursor.close()
        finally:
            connection.close()

    def release_space(self, pause_seconds: float = 0.05) -> int:
        """Shrink SQLite's file by the pages that deleted rows left, some at a time, so that other
        writers have their turn; return how many bytes that gave back.

        Files of earlier versions shrink only after `compact`. On PostgreSQL, autovacuum makes the
        space available to new rows.
        """
        if not self.is_sqlite:
            return 0
        given_back = 0
        while True:
            with self.engine.connect() as connection, connection.begin():
                free = connection.exec_driver_sql("PRAGMA freelist_count").scalar() or 0
                if free <= KEPT_PAGES:
                    return given_back
                cursor = connection.connection.cursor()  # which runs it to completion
                step = min(PAGE_BATCH, free - KEPT_PAGES)
                # nosemgrep: sql-made-of-values - a number; PRAGMA takes no parameters
                cursor.execute(f"PRAGMA incremental_vacuum({step})").fetchall()
                cursor.close()
                free_after = connection.exec_driver_sql("PRAGMA freelist_count").scalar() or 0
                page = connection.exec_driver_sql("PRAGMA page_size").scalar() or 0
            if free_after >= free:
                return given_back
            given_back += (free - free_after) * page
            sleep(pause_seconds)

    def compact(self) -> int:
        """Rewrite SQLite's file without free pages, so that `release_space` works from now on;
        return how many bytes that gave back. Nothing can be written meanwhile, and the disk needs
        room for a second file."""
        if not self.is_sqlite:
            return 0
        with self.engine.connect() as connection:
            raw: Any = connection.connection.dbapi_connection
            raw.acquire_write_lock()
            try:
                (pages,) = raw.execute("PRAGMA page_count").fetchone()
                raw.execute("PRAGMA auto_vacuum=INCREMENTAL")
                raw.execute("VACUUM")
                (pages_after,) = raw.execute("PRAGMA page_count").fetchone()
                (page,) = raw.execute("PRAGMA page_size").fetchone()
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                raw.rollback()
        return int((pages - pages_after) * page)

    def dispose(self) -> None:
        self.engine.dispose()
        if self.replica:
            self.replica.engine.dispose()
