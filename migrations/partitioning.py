"""Turning a table into monthly partitions, and back. On SQLite nothing happens.

The table itself becomes the first partition: no row is rewritten. The slow check that its rows
belong there is done before and outside of the migrations' transaction, while others read and write.
"""

import re
from datetime import UTC, datetime

from alembic import op
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from app.calendar_months import month_after
from app.database import partitions
from app.database.partitions import KEYS, first_id

_BOUND = "partition_bound"
_CONSTRAINTS = text("""
    SELECT conname, contype::text, pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE conrelid = to_regclass(:table) AND contype IN ('p', 'u', 'f') ORDER BY contype DESC, 1
""")
_INDEXES = text("""
    SELECT indexname, indexdef AS definition FROM pg_indexes
    WHERE schemaname = current_schema() AND tablename = :table AND indexname NOT IN (
        SELECT conname FROM pg_constraint WHERE conrelid = to_regclass(:table))
""")
_IS_PLAIN = text("SELECT relkind = 'r' FROM pg_class WHERE oid = to_regclass(:table)")
_HAS_BOUND = text("""
    SELECT EXISTS (SELECT 1 FROM pg_constraint
    WHERE conrelid = to_regclass(:table) AND conname = 'partition_bound')
""")


def split_by_month(table: str) -> None:
    """Make the table partitioned: all its rows in the first partition, which ends with the next
    month, then one per month, and a default one."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    now = datetime.now(UTC)
    end = month_after(now, 2)
    _check_beside(connection, table, end)
    first = f"{table}_first"
    constraints, indexes = _described(connection, table)
    waits = connection.scalar(text("SELECT current_setting('lock_timeout')"))
    partitions.wait_briefly(connection)
    op.execute(f"ALTER TABLE {table} RENAME TO {first}")
    for name, _kind, _definition in constraints:
        op.execute(f"ALTER TABLE {first} RENAME CONSTRAINT {name} TO {_of_first(name)}")
    for name, _definition in indexes:
        op.execute(f"ALTER INDEX {name} RENAME TO {_of_first(name)}")
    if not connection.scalar(_HAS_BOUND, {"table": first}):
        op.execute(_bound(first, table, end))
    key = KEYS[table]
    # A key without the column that decides the month can't be unique over all partitions.
    kept = [each for each in constraints if each[1] == "f" or key in _columns(each[2])]
    _create(f"(LIKE {first} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)", table, f"RANGE ({key})")
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {_BOUND}")
    _describe(table, kept, indexes)
    partitions.protect(connection, first, table)
    partitions.attach(connection, table, first, f"FROM (MINVALUE) TO ('{first_id(end)}')")
    op.execute(f"ALTER TABLE {first} DROP CONSTRAINT {_BOUND}")
    rest = f"{table}_rest"
    partitions.create(connection, table, rest)
    partitions.attach(connection, table, rest, None)
    partitions.make_ahead(connection, table, now)
    op.execute(f"SET LOCAL lock_timeout = '{waits}'")


def join(table: str, primary_key: str) -> None:
    """Rewrite all rows into one plain table again, which takes long and locks out others."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    constraints, indexes = _described(connection, table)
    if not any(kind == "p" for _name, kind, _definition in constraints):
        constraints.insert(0, (f"pk_{table}", "p", f"PRIMARY KEY ({primary_key})"))
    parted = f"{table}_parted"
    op.execute(f"ALTER TABLE {table} RENAME TO {parted}")
    _create(f"(LIKE {parted} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)", table)
    op.execute(f"INSERT INTO {table} SELECT * FROM {parted}")  # noqa: S608 - names of tables
    partitions.protect(connection, parted, table)
    op.execute(f"DROP TABLE {parted}")
    _describe(table, constraints, indexes)


Constraint = tuple[str, str, str]


def _create(columns: str, table: str, by: str = "") -> None:
    op.execute(f"CREATE TABLE {table} {columns} {f'PARTITION BY {by}' if by else ''}")


def _described(
    connection: Connection, table: str
) -> tuple[list[Constraint], list[tuple[str, str]]]:
    """Return name, kind and definition of its keys, and name and definition of its other
    indexes."""
    wanted = {"table": table}
    constraints = [(row[0], row[1], row[2]) for row in connection.execute(_CONSTRAINTS, wanted)]
    indexes = [(row[0], row[1]) for row in connection.execute(_INDEXES, wanted)]
    return constraints, indexes


def _describe(table: str, constraints: list[Constraint], indexes: list[tuple[str, str]]) -> None:
    for name, _kind, definition in constraints:
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
    for _name, definition in indexes:
        op.execute(re.sub(r" ON (ONLY )?\S+ USING", f" ON {table} USING", definition))


def _check_beside(connection: Connection, table: str, end: datetime) -> None:
    """Check the rows over another connection, whose locks end with each statement. Left to the
    migrations' transaction if that has created or locked the table itself."""
    with connection.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as other:
        if not other.scalar(_IS_PLAIN, {"table": table}):
            return
        try:
            other.exec_driver_sql(f"SET lock_timeout = '{partitions.LOCK_SECONDS}s'")
            if other.scalar(_HAS_BOUND, {"table": table}):  # from an interrupted migration
                other.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {_BOUND}")
            other.exec_driver_sql(f"{_bound(table, table, end)} NOT VALID")
            other.exec_driver_sql(f"ALTER TABLE {table} VALIDATE CONSTRAINT {_BOUND}")
        except OperationalError:  # the lock wasn't granted
            return
        finally:
            other.exec_driver_sql("RESET lock_timeout")


def _bound(name: str, table: str, end: datetime) -> str:
    condition = f"{KEYS[table]} < '{first_id(end)}'"
    return f"ALTER TABLE {name} ADD CONSTRAINT {_BOUND} CHECK ({condition})"


def _columns(definition: str) -> list[str]:
    """The columns of a key."""
    return re.findall(r"\w+", definition.partition("(")[2].partition(")")[0])


def _of_first(name: str) -> str:
    return f"{name[:57]}_first"
