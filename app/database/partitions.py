"""Monthly partitions of tables whose old rows are dropped by the month, on PostgreSQL only.

Rows belong to the month of their id, a UUIDv7 (`app.models.base.new_id`), or of the id of the
record that they are about. So each key that begins with that id is unique over all partitions, and
one partition is searched for a row. docs/decisions/0014-partitions.md explains the choice of
tables.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import Connection, text

from app.calendar_months import month_after

KEYS = {"call_events": "call_id", "mails": "id", "webhook_deliveries": "id"}
"""The partitioned tables, each with the column that decides the month of a row."""
MONTHS_AHEAD = 3
LOCK_SECONDS = 1
"""Seconds that a change of partitions waits for a lock; later statements queue behind it."""

_PARTITIONS = text("""
    SELECT t.name, c.relname, pg_get_expr(c.relpartbound, c.oid)
    FROM unnest(CAST(:tables AS text[])) t(name)
    JOIN pg_inherits i ON i.inhparent = to_regclass(t.name)
    JOIN pg_class c ON c.oid = i.inhrelid
""")
_POLICIES = text("""
    SELECT policyname, cmd, qual, with_check FROM pg_policies
    WHERE schemaname = current_schema() AND tablename = :table
""")
_END = re.compile(r"TO \('([0-9a-f-]{36})'\)")


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition. Its rows were made before ``end``; None for the default partition."""

    name: str
    end: datetime | None


@dataclass(frozen=True, slots=True)
class PartitionState:
    """``strays`` are tables with rows in the default partition, ``missing`` those without a
    partition for the next month."""

    strays: list[str]
    missing: list[str]

    @property
    def is_well(self) -> bool:
        return not self.strays and not self.missing


def first_id(moment: datetime) -> UUID:
    """Return the smallest id of this millisecond."""
    return UUID(int=int(moment.timestamp() * 1000) << 80)


def of_table(connection: Connection, table: str) -> list[Partition]:
    """Return the partitions of a table, oldest first; empty if it has none, as on SQLite."""
    return _partitions_of(connection, [table])[table]


def _partitions_of(connection: Connection, tables: list[str]) -> dict[str, list[Partition]]:
    partitions: dict[str, list[Partition]] = {table: [] for table in tables}
    if connection.dialect.name != "postgresql":
        return partitions
    for table, name, bound in connection.execute(_PARTITIONS, {"tables": tables}):
        end = _END.search(bound)
        milliseconds = UUID(end[1]).int >> 80 if end else None
        moment = datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None
        partitions[table].append(Partition(name, moment))
    for each in partitions.values():
        each.sort(key=lambda partition: partition.end or datetime.max.replace(tzinfo=UTC))
    return partitions


def make_ahead(connection: Connection, table: str, now: datetime) -> list[str]:
    """Create the missing partitions of the coming months, and return their names. Reads and writes
    of the table continue meanwhile. A table without partitions stays as it is."""
    ends = [each.end for each in of_table(connection, table) if each.end]
    if not ends:
        return []
    created, begin = [], max(ends)
    while begin < month_after(now, MONTHS_AHEAD + 1):
        name, end = f"{table}_{begin:%Y_%m}", month_after(begin)
        create(connection, table, name)
        _move_strays(connection, table, name, begin, end)
        attach(connection, table, name, f"FROM ('{first_id(begin)}') TO ('{first_id(end)}')")
        created.append(name)
        begin = end
    return created


def create(connection: Connection, table: str, name: str) -> None:
    """Create a table to `attach`. This takes weaker locks than creating it as a partition."""
    _execute(
        connection, f"CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
    )
    protect(connection, table, name)


def attach(connection: Connection, table: str, name: str, bounds: str | None) -> None:
    """Make a table of the same columns a partition; the default partition if there are no bounds.
    Indexes and foreign keys that it lacks are added."""
    values = f"FOR VALUES {bounds}" if bounds else "DEFAULT"
    _execute(connection, f"ALTER TABLE {table} ATTACH PARTITION {name} {values}")


def _move_strays(
    connection: Connection, table: str, name: str, begin: datetime, end: datetime
) -> None:
    """Move the rows of this time out of the default partition."""
    key = KEYS[table]
    for each in of_table(connection, table):
        if each.end is None:
            condition = f"{key} >= '{first_id(begin)}' AND {key} < '{first_id(end)}'"
            strays = f"DELETE FROM {each.name} WHERE {condition} RETURNING *"  # noqa: S608 - names and ids
            _execute(connection, f"WITH moved AS ({strays}) INSERT INTO {name} SELECT * FROM moved")  # noqa: S608 - as above


def protect(connection: Connection, table: str, partition: str) -> None:
    """Replace the policies of a partition by those of its table, because queries that name the
    partition don't use the table's policies."""
    for policy in connection.execute(_POLICIES, {"table": partition}).all():
        _execute(connection, f"DROP POLICY {policy.policyname} ON {partition}")
    policies = connection.execute(_POLICIES, {"table": table}).all()
    switch = "ENABLE" if policies else "DISABLE"
    _execute(connection, f"ALTER TABLE {partition} {switch} ROW LEVEL SECURITY")
    _execute(
        connection, f"ALTER TABLE {partition} {'' if policies else 'NO '}FORCE ROW LEVEL SECURITY"
    )
    for name, command, using, check in policies:
        clauses = [f"USING ({using})" if using else "", f"WITH CHECK ({check})" if check else ""]
        condition = re.sub(rf"\b{table}\.", f"{partition}.", " ".join(clauses))
        _execute(connection, f"CREATE POLICY {name} ON {partition} FOR {command} {condition}")


def drop_before(connection: Connection, table: str, moment: datetime) -> list[str]:
    """Drop the months that had ended by ``moment``, and return their names. The month in which it
    lies stays.

    Not detached concurrently: PostgreSQL refuses that if there is a default partition.
    """
    dropped = []
    for each in of_table(connection, table):
        if each.end is not None and each.end <= moment:
            _execute(connection, f"ALTER TABLE {table} DETACH PARTITION {each.name}")
            _execute(connection, f"DROP TABLE {each.name}")
            dropped.append(each.name)
    return dropped


def wait_briefly(connection: Connection) -> None:
    """Let this transaction give up when it waits longer than `LOCK_SECONDS` for a lock."""
    _execute(connection, f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")


def state(connection: Connection, now: datetime) -> PartitionState:
    """Return whether each row and the next month have their partition; always so on SQLite."""
    tables = {name: each for name, each in _partitions_of(connection, list(KEYS)).items() if each}
    if not tables:
        return PartitionState([], [])
    default_names = [
        partition.name for each in tables.values() for partition in each if partition.end is None
    ]
    # Names from the database's own catalogue.
    columns = ", ".join(f"EXISTS (SELECT 1 FROM {name})" for name in default_names)  # noqa: S608 - as above
    # nosemgrep: sql-made-of-values - as above
    filled = connection.execute(text(f"SELECT {columns}")).one()
    return PartitionState(
        strays=[table for table, has_rows in zip(tables, filled, strict=True) if has_rows],
        missing=[
            table
            for table, each in tables.items()
            if max(partition.end for partition in each if partition.end) < month_after(now, 2)
        ],
    )


def _execute(connection: Connection, statement: str) -> None:
    """Execute a statement made of names of tables, and conditions of the database's catalogue."""
    connection.exec_driver_sql(statement)
