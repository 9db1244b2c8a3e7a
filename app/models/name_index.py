"""The trigram index by which organizations and users are searched.

On PostgreSQL it is an expression with a trigram index, maintained by the database. On SQLite it is
a separate table, written here with each row in the same transaction: bulk writes outside the
session need `index_names` after them.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    event,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.orm import InstrumentedAttribute, Mapper
from sqlalchemy.orm.attributes import instance_state

from app.models.organization import Organization
from app.models.user import User

NAMES: dict[type[Organization | User], tuple[InstrumentedAttribute[Any], ...]] = {
    Organization: (Organization.name, Organization.referral_code, Organization.referred_by_code),
    User: (User.email, User.name),
}
"""The searched columns, in the order of the index."""
AT_A_TIME = 1000
_LINE: ColumnElement[str] = literal_column("E'\\n'", Text)
_EMPTY: ColumnElement[str] = literal_column("''", Text)


def table_of(model: type[Organization | User]) -> str:
    """The index on SQLite: ``id`` and ``words`` of each row."""
    return f"{model.__tablename__}_names"


def words_of(model: type[Organization | User]) -> ColumnElement[str]:
    """Return the expression that PostgreSQL indexes; the migration writes the same one."""
    first, *others = NAMES[model]
    words: ColumnElement[str] = func.lower(first, type_=Text)
    for column in others:
        words = words.concat(_LINE).concat(func.lower(func.coalesce(column, _EMPTY)))
    return words


def index_names(connection: Connection) -> None:
    """Rebuild the indexes of SQLite from the stored names."""
    if connection.dialect.name != "sqlite":
        return
    for model, columns in NAMES.items():
        connection.execute(text(f"DELETE FROM {table_of(model)}"))  # noqa: S608 - a constant
        rows = connection.execute(select(model.id, *columns))
        for part in rows.partitions(AT_A_TIME):
            _write(connection, model, [(row[0], row[1:]) for row in part])


def _write(
    connection: Connection,
    model: type[Organization | User],
    rows: Sequence[tuple[UUID, Sequence[str | None]]],
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
                "words": "\n".join(value.lower() for value in values if value),
            }
            for identifier, values in rows
        ],
    )


def _keep(_mapper: Mapper[Any], connection: Connection, row: Organization | User) -> None:
    if connection.dialect.name != "sqlite":
        return
    state = instance_state(row)
    columns = NAMES[type(row)]
    if any(state.attrs[column.key].history.has_changes() for column in columns):
        _write(connection, type(row), [(row.id, [getattr(row, c.key) for c in columns])])


for _model in NAMES:
    for _moment in ("after_insert", "after_update"):
        event.listen(_model, _moment, _keep)
