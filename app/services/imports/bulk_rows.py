"""Rows of an import written by the thousand, past the ORM, which takes several times as long."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

import orjson
from psycopg import Connection as Psycopg
from sqlalchemy import JSON, Connection, Table, Uuid, text
from sqlalchemy.orm import Session

from app.models import ImportChange, ImportProblem, ImportRow

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
        marks = ", ".join("?" * len(names))
        sql = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608 - names of our own columns
        connection.exec_driver_sql(sql, list(zip(*parts, strict=True)))
    else:
        _copy(connection, f"COPY {table.name} ({', '.join(names)}) FROM STDIN", parts)


def count_rows(session: Session) -> None:
    """Has PostgreSQL look at the rows of a large file now. Until its own turn to do so comes, it
    plans as if there were a handful, and sorts the whole file for each page or batch of it."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("ANALYZE import_rows, import_problems"))


def _copy(connection: Connection, statement: str, parts: list[list[Any]]) -> None:
    driver = cast(Psycopg, connection.connection.driver_connection)
    with driver.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for row in zip(*parts, strict=True):
            copy.write_row(row)


def _as_stored(table: Table, name: str, values: list[Any]) -> list[Any]:
    """The values of one column as both drivers take them."""
    kind = table.columns[name].type
    if isinstance(kind, Uuid):
        return [None if value is None else _hex(value) for value in values]
    if isinstance(kind, JSON):
        return [None if value is None else orjson.dumps(value).decode() for value in values]
    return values


def _hex(identifier: UUID | str) -> str:
    return identifier.hex if isinstance(identifier, UUID) else identifier.replace("-", "")
