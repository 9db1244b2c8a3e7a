"""Writing unique values while others may write the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.errors import DomainError


@contextmanager
def unless_taken(session: Session, duplicate: DomainError) -> Iterator[None]:
    """Write the changes of the block in a savepoint. Raises ``duplicate`` if a constraint refuses
    them."""
    try:
        with session.begin_nested():
            yield
    except IntegrityError as error:
        raise duplicate from error


def insert_into(session: Session, table: Any) -> postgresql.Insert | sqlite.Insert:
    """Return the database's own insert statement, which can handle conflicts."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    return sqlite.insert(table) if is_sqlite else postgresql.insert(table)
