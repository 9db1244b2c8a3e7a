"""Which rows a transaction may see and write: a second check below the services.

PostgreSQL enforces it by row-level security (``migrations/policies.py``). SQLite has no such check.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

SCOPE = "scope"
"""Execution option: the scope of a transaction; `INSTALLATION` if it is missing."""
_DECLARE = (
    "SELECT set_config('app.scope', '{}', true), set_config('app.partner_id', '{}', true), "
    "set_config('app.organization_id', '{}', true), set_config('jit', 'off', true)"
)
"""Disables JIT compilation: the planner overestimates the cost of policies, and compiling takes
longer than a short statement."""


@dataclass(frozen=True, slots=True)
class DatabaseScope:
    """``name`` is ``installation``, ``authentication`` or ``partner``. Only the last has ids, which
    the policies compare with each row."""

    name: str
    partner_id: UUID | None = None
    organization_id: UUID | None = None

    def __post_init__(self) -> None:
        if (self.name == "partner") != (self.partner_id is not None):
            message = f"The scope {self.name!r} and its partner don't fit together."
            raise ValueError(message)


INSTALLATION = DatabaseScope("installation")
"""All rows: the worker, the command line and operators."""
AUTHENTICATION = DatabaseScope("authentication")
"""For reads before the caller is known: of accounts, credentials and brands."""


def of_tenant(partner_id: UUID, organization_id: UUID | None) -> DatabaseScope:
    """The rows of a partner, or of one organization of it."""
    return DatabaseScope("partner", partner_id, organization_id)


def begin(connection: Connection, scope: DatabaseScope) -> None:
    """Begin a transaction of PostgreSQL and declare its scope, in one message to the server.

    A connection with an isolation level of its own begins its transactions itself.
    """
    driver: Any = connection.connection.driver_connection
    _execute(connection, ("BEGIN; " if driver.autocommit else "") + _declaration(scope))


def declare(connection: Connection, scope: DatabaseScope) -> None:
    """Declare another scope to PostgreSQL until the transaction ends."""
    _execute(connection, _declaration(scope))


@contextmanager
def whole_partner(session: Session) -> Iterator[None]:
    """Let a transaction of one organization see and write the rows of its partner for some
    statements, which do their own filtering. Other transactions aren't affected."""
    session.flush()  # earlier changes must pass the narrower scope
    connection = session.connection()
    scope: DatabaseScope = connection.get_execution_options().get(SCOPE, INSTALLATION)
    if scope.organization_id is None or connection.dialect.name != "postgresql":
        yield
        return
    declare(connection, replace(scope, organization_id=None))
    try:
        yield
        session.flush()
    except BaseException:
        with suppress(DBAPIError):  # a failed transaction can't run it
            declare(connection, scope)
        raise
    declare(connection, scope)


def _declaration(scope: DatabaseScope) -> str:
    """Return the statement. It holds only names of this module and UUIDs: two statements fit into
    one message only without parameters."""
    return _DECLARE.format(scope.name, scope.partner_id or "", scope.organization_id or "")


def _execute(connection: Connection, statements: str) -> None:
    # Bypasses SQLAlchemy, whose listeners would count it among the queries of a page.
    driver: Any = connection.connection
    cursor = driver.cursor()
    try:
        cursor.execute(statements)
    except psycopg.Error as error:
        # Raised as SQLAlchemy does, so that callers recognize an unreachable database.
        dialect: Any = connection.dialect
        is_disconnect = dialect.is_disconnect(error, driver, None)
        if is_disconnect:
            connection.invalidate(error)
        raise DBAPIError.instance(
            "BEGIN",
            None,
            error,
            psycopg.Error,
            hide_parameters=True,
            connection_invalidated=is_disconnect,
            dialect=dialect,
        ) from error
    cursor.close()
