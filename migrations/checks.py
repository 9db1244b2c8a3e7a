"""Changing the values that a check constraint of an enum allows, and on SQLite other words of a
table's definition, without rebuilding the table.

Migrations from 0090 on use `migrations.online.allow_only`: on PostgreSQL the functions here hold a
lock while all rows are checked.
"""

import re
from collections.abc import Sequence

from alembic import op
from sqlalchemy import text


def allow(table: str, column: str, kind: str, value: str) -> None:
    """Allow one more value; ``kind`` is the name of the enum in lower case."""
    values = _allowed(table, column, kind)
    if value not in values:
        _replace(table, column, kind, [*values, value])


def forbid(table: str, column: str, kind: str, value: str) -> None:
    """Stop allowing a value. No row may have it."""
    kept = [known for known in _allowed(table, column, kind) if known != value]
    _replace(table, column, kind, kept)


def _allowed(table: str, column: str, kind: str) -> list[str]:
    if op.get_bind().dialect.name == "sqlite":
        _, listed, _ = _split(_sqlite_table(table), column)
    else:
        query = text("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = :name")
        listed = op.get_bind().execute(query, {"name": f"ck_{table}_{kind}"}).scalar_one()
    return re.findall(r"'([^']+)'", listed)


def _replace(table: str, column: str, kind: str, values: list[str]) -> None:
    listed = ", ".join(f"'{value}'" for value in values)
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        name = f"ck_{table}_{kind}"
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({column} IN ({listed}))")
        return
    replace_on_sqlite(table, column, values)


def replace_on_sqlite(table: str, column: str, values: Sequence[str]) -> None:
    """Replace the values. No effect if the column was added without a check."""
    listed = ", ".join(f"'{value}'" for value in values)
    definition = _sqlite_table(table)
    if f"CHECK ({column} IN (" not in definition:
        return
    head, _, rest = _split(definition, column)
    _write_definition(table, head + listed + rest)


def rewrite_on_sqlite(table: str, old: str, new: str) -> None:
    """Replace words of a table's definition, for changes that leave its rows as they are. Raises
    `ValueError` unless the definition has ``old`` once."""
    definition = _sqlite_table(table)
    if definition.count(old) != 1:
        message = f"the definition of {table} doesn't have once: {old}"
        raise ValueError(message)
    _write_definition(table, definition.replace(old, new))


def kind_on_sqlite(table: str, column: str) -> str:
    """Return the type of a column as the table's definition has it."""
    query = "SELECT type FROM pragma_table_info(?) WHERE name = ?"
    (kind,) = op.get_bind().exec_driver_sql(query, (table, column)).one()
    return str(kind)


def _write_definition(table: str, definition: str) -> None:
    """Write the definition directly: a rebuilt table would delete all rows that refer to it. This
    is SQLite's own procedure for constraints: https://www.sqlite.org/lang_altertable.html, "Making
    Other Kinds Of Table Schema Changes"."""
    connection = op.get_bind()
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.exec_driver_sql(
        "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?",
        (definition, table),
    )
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")


def _sqlite_table(table: str) -> str:
    query = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?"
    (sql,) = op.get_bind().exec_driver_sql(query, (table,)).one()
    return str(sql)


def _split(sql: str, column: str) -> tuple[str, str, str]:
    """Return the definition of a table before, within and after the listed values of a column's
    check."""
    head, marker, rest = sql.partition(f"CHECK ({column} IN (")
    end = rest.index(")")
    return head + marker, rest[:end], rest[end:]
