"""Autovacuum beside migrations, on PostgreSQL.

Autovacuum makes way for a lock only after it has kept it waiting for a second (``deadlock_timeout``).
All readers would wait behind a strong lock for so long. So a migration waits first with a lock that
stops neither readers nor writers, and takes the strong one once autovacuum is gone.
"""

from typing import Any

from sqlalchemy import Connection, text

from app.database.migration_plan import locks_of

PATIENCE = "4s"
"""Longer than autovacuum needs to make way, shorter than `online.STATEMENT_TIMEOUT`."""
HARMLESS = ("ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE")
"""Locks that stop neither readers nor writers."""
_EXISTS = text("SELECT to_regclass(:table) IS NOT NULL")
_STOPS_OTHERS = text("""
    SELECT EXISTS (SELECT 1 FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'
    AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'AccessExclusiveLock'))
""")
"""Whether this transaction has a strong lock already, which must not be kept for long."""


def wait_for_autovacuum(
    connection: Connection, _cursor: Any, statement: str, *_more: object
) -> None:
    """Before a statement that locks tables strongly: hold the lock that autovacuum leaves them for.
    A listener of SQLAlchemy's event ``before_cursor_execute``."""
    wanted = {table for table, mode in locks_of(statement) if mode not in HARMLESS}
    tables = [table for table in sorted(wanted) if connection.scalar(_EXISTS, {"table": table})]
    if not tables or connection.scalar(_STOPS_OTHERS):
        return
    limit = connection.scalar(text("SHOW lock_timeout"))
    connection.execute(text(f"SET LOCAL lock_timeout = '{PATIENCE}'"))
    connection.execute(text(f"LOCK TABLE {', '.join(tables)} IN SHARE UPDATE EXCLUSIVE MODE"))
    connection.execute(text(f"SET LOCAL lock_timeout = '{limit}'"))
