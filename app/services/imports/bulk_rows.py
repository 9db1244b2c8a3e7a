"""Rows of an import written by the thousand, past the ORM, which takes several times as long."""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Any, cast
from uuid import UUID

import orjson
from psycopg import Connection as Psycopg
from sqlalchemy import JSON, Connection, Table, Uuid, text
from sqlalchemy.orm import Session

from app.models import ImportChange, ImportProblem, ImportRow

_ROWS_AT_ONCE = 100
"""Of one statement on SQLite: more of them take as long."""

Written = type[ImportRow] | type[ImportProblem] | type[ImportChange]


def insert_rows(session: Session, model: Written, rows: Sequence[dict[str, Any]]) -> None:
    """Inserts rows that all name the same columns, in whichever order."""
    if not rows:
        return
    table = cast(Table, model.__table__)
    names = list(rows[0])
    parts = [_as_stored(table, name, [row[name] for row in rows]) for name in names]
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        sql = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES "  # noqa: S608 - names of our own columns
        marks = f"({', '.join('?' * len(names))})"
        written = iter(zip(*parts, strict=True))
        while some := list(islice(written, _ROWS_AT_ONCE)):
            values = tuple(chain.from_iterable(some))
            connection.exec_driver_sql(sql + ", ".join([marks] * len(some)), values)
    else:
        _copy(connection, f"COPY {table.name} ({', '.join(names)}) FROM STDIN", parts)


def count_rows(session: Session) -> None:
    """Has PostgreSQL look at the rows of a large file now. Until its own turn to do so comes, it
    plans as if there were a handful, and sorts the whole file for each page or batch of it."""
    _count(session, "import_rows, import_problems")


def count_contacts(session: Session) -> None:
    """The same for contacts, while a file brings in many: else it walks through the whole campaign
    for each batch."""
    _count(session, "contacts, contact_external_ids")


def _count(session: Session, tables: str) -> None:
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"ANALYZE (SKIP_LOCKED) {tables}"))


def _copy(connection: Connection, statement: str, parts: list[list[Any]]) -> None:
    driver = cast(Psycopg, connection.connection.driver_connection)
    with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in zip(*parts, strict=True):
            copy.write_row(row)


def _as_stored(table: Table, name: str, values: list[Any]) -> list[Any]:
    """The values of one column as both drivers take them."""
    kind = table.columns[name].type
    if isinstance(kind, Uuid):
        if values.count(values[0]) == len(values):  # the import's own
            return [_hex(values[0])] * len(values)
        return [_hex(value) for value in values]
    if isinstance(kind, JSON):
        return [None if value is None else orjson.dumps(value).decode() for value in values]
    return values


def _hex(identifier: UUID | str) -> str:
    return identifier.hex if isinstance(identifier, UUID) else identifier.replace("-", "")
