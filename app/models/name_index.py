"""The trigram index by which organizations and users are searched.

It is one additional table for each. On PostgreSQL it holds hashes of the trigrams, and triggers
maintain it. On SQLite it holds the names, written here with each row in the same transaction: bulk
writes outside the session need `index_names` after them.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, event, select, text
from sqlalchemy.orm import Mapper
from sqlalchemy.orm.attributes import instance_state

from app.models.organization import Organization
from app.models.user import User

INDEXED: tuple[type[Organization | User], ...] = (Organization, User)
AT_A_TIME = 1000


def table_of(model: type[Organization | User]) -> str:
    """Return the index: ``id`` of each row, and its ``words`` on SQLite, ``trigrams`` on
    PostgreSQL."""
    return f"{model.__tablename__}_names"


def index_names(connection: Connection) -> None:
    """Rebuild the indexes of SQLite from the stored words."""
    if connection.dialect.name != "sqlite":
        return
    for model in INDEXED:
        connection.execute(text(f"DELETE FROM {table_of(model)}"))  # noqa: S608 - a constant
        rows = connection.execute(select(model.id, model.search_words))
        for batch in rows.partitions(AT_A_TIME):
            _write_rows(connection, model, [(row.id, row.search_words) for row in batch])


def _write_rows(
    connection: Connection, model: type[Organization | User], rows: Sequence[tuple[UUID, str]]
) -> None:
    statement = text(
        f"INSERT OR REPLACE INTO {table_of(model)} (rowid, id, words) VALUES (:row, :id, :words)"  # noqa: S608 - a constant
    )
    connection.execute(
        statement,
        [
            {
                "row": identifier.int & (1 << 63) - 1,  # its random part, which SQLite uses as key
                "id": identifier.hex,
                "words": words,
            }
            for identifier, words in rows
        ],
    )


def _index_added(_mapper: Mapper[Any], connection: Connection, row: Organization | User) -> None:
    if connection.dialect.name == "sqlite":
        _write_rows(connection, type(row), [(row.id, row.search_words)])


def _index_changed(mapper: Mapper[Any], connection: Connection, row: Organization | User) -> None:
    if instance_state(row).attrs["search_words"].history.has_changes():
        _index_added(mapper, connection, row)


for _model in INDEXED:
    event.listen(_model, "after_insert", _index_added)
    event.listen(_model, "after_update", _index_changed)
