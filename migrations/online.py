"""Changes of PostgreSQL tables in use: none holds a lock that blocks readers or writers for longer
than an instant. On SQLite, where a migration has the file to itself, they are ordinary changes.

They commit earlier changes, and may be repeated after a failure. So a migration that uses them does
nothing else.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from alembic import op
from sqlalchemy import Connection, text

from migrations import checks

PHASED_FROM = "0090"
"""Migrations from here on declare their phase and are checked. Earlier ones were written to run
while all processes are stopped, and published migrations are never edited."""

LOCK_TIMEOUT = "300ms"
"""Maximum wait for a lock: a waiting statement makes all others wait behind it, so it is better to
give up and try again."""
STATEMENT_TIMEOUT = "5s"
"""Maximum duration of statements that hold such a lock, in migrations that declare a phase."""
ROW_BATCH = 5000
"""Rows per transaction of `fill`: writers wait for these rows, for a fraction of a second."""


def limits(*, phased: bool) -> Iterator[str]:
    """Return the statements that limit the migrations of a connection."""
    yield f"SET lock_timeout = '{LOCK_TIMEOUT}'"
    yield f"SET statement_timeout = '{STATEMENT_TIMEOUT if phased else 0}'"


def create_index(name: str, table: str, columns: Sequence[Any], **options: Any) -> None:
    """Create an index of a table that has rows; ``options`` are those of `op.create_index`."""
    if not _on_postgresql():
        op.create_index(name, table, columns, **options)
        return
    with unlimited():
        # The result of a failed attempt is invalid and would never be used.
        op.drop_index(name, table, postgresql_concurrently=True, if_exists=True)
        options |= {"postgresql_concurrently": True, "if_not_exists": True}
        op.create_index(name, table, columns, **options)


def drop_index(name: str, table: str) -> None:
    """Drop an index of a table that is in use."""
    if not _on_postgresql():
        op.drop_index(name, table)
        return
    with unlimited():
        op.drop_index(name, table, postgresql_concurrently=True, if_exists=True)


def add_constraint(name: str, table: str, definition: str, *, also_on_sqlite: bool = False) -> None:
    """Add a check or a foreign key to a table that has rows: new rows must satisfy it at once,
    existing ones are checked afterwards.

    SQLite adds a constraint only together with its column; with ``also_on_sqlite`` it gets this one
    too, for rows that are known to satisfy it.
    """
    if not _on_postgresql():
        if also_on_sqlite:
            first = f"CONSTRAINT pk_{table} "
            added = f"CONSTRAINT {name} {definition}, \n\t{first}"
            checks.rewrite_on_sqlite(table, first, added)
        return
    drop_constraint(name, table)
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition} NOT VALID")
    with unlimited():
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")


def drop_constraint(name: str, table: str, on_sqlite: str = "") -> None:
    """Undo `add_constraint`; ``on_sqlite`` is the definition of one that SQLite has too."""
    if _on_postgresql():
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}")
    elif on_sqlite:
        checks.rewrite_on_sqlite(table, f"CONSTRAINT {name} {on_sqlite}, \n\t", "")


def allow_null(table: str, column: str) -> None:
    """Allow null in a column, in an expand migration if the previous version accepts rows without a
    value and writes none itself."""
    if _on_postgresql():
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")
        return
    kind = checks.kind_on_sqlite(table, column)
    checks.rewrite_on_sqlite(table, f"\t{column} {kind} NOT NULL,", f"\t{column} {kind},")


def refuse_null(table: str, column: str) -> None:
    """Undo `allow_null`, for a downgrade: no row may be without a value."""
    if _on_postgresql():
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL")
        return
    kind = checks.kind_on_sqlite(table, column)
    checks.rewrite_on_sqlite(table, f"\t{column} {kind},", f"\t{column} {kind} NOT NULL,")


def allow_only(table: str, column: str, kind: str, values: Sequence[str]) -> None:
    """Replace the values that the check of an enum allows; ``kind`` is the enum's name in lower
    case. More values are for an expand migration, fewer for a contract one.

    On SQLite only a check that was made with its column is changed.
    """
    if not _on_postgresql():
        checks.replace_on_sqlite(table, column, values)
        return
    listed = ", ".join(f"'{value}'" for value in values)
    add_constraint(f"ck_{table}_{kind}", table, f"CHECK ({column} IN ({listed}))")


def fill(table: str, changes: str, where: str, *, key: str = "id") -> None:
    """Change the rows for which ``where`` holds, `ROW_BATCH` a transaction, in the order of the
    primary key: ``fill("contacts", "greeting = first_name", "greeting = ''")``.

    ``changes`` must make ``where`` false, so that a repetition changes no row again.
    """
    context = op.get_context()
    change = f"UPDATE {table} SET {changes} WHERE ({where})"  # noqa: S608 - the migration's words
    if not _on_postgresql() or context.as_sql:
        op.execute(change)
        return
    last_of_turn = f"ORDER BY {key} OFFSET {ROW_BATCH - 1} LIMIT 1"
    after, remaining = None, "true"
    with context.autocommit_block(), _seeing_all_rows() as connection:
        while True:
            row = f"SELECT {key} FROM {table} WHERE {remaining} {last_of_turn}"  # noqa: S608 - as above
            last = connection.scalar(text(row), {"after": after})
            turn = remaining if last is None else f"{remaining} AND {key} <= :last"
            connection.execute(text(f"{change} AND {turn}"), {"after": after, "last": last})
            if last is None:
                return
            after, remaining = last, f"{key} > :after"


@contextmanager
def unlimited() -> Iterator[None]:
    """Run statements that may take long because they block neither readers nor writers, each in its
    own transaction. Earlier changes are committed first."""
    context = op.get_context()
    with context.autocommit_block():
        op.execute("SET lock_timeout = 0")
        op.execute("SET statement_timeout = 0")
        yield
        for statement in limits(phased=True):
            op.execute(statement)


@contextmanager
def _seeing_all_rows() -> Iterator[Connection]:
    """Set the scope of the whole installation for the session: outside of transactions, the scope
    that a transaction declares ends at once, and policies hide every row."""
    connection = op.get_bind()
    connection.execute(text("SET app.scope = 'installation'"))
    try:
        yield connection
    finally:
        connection.execute(text("RESET app.scope"))


def _on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
