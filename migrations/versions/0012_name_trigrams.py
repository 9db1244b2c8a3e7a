"""Add the trigram index of names."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | Sequence[str] | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NAMES = {
    "organizations": ("name", "referral_code", "referred_by_code"),
    "users": ("email", "name"),
}
AVAILABLE = "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_trgm'"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for table, columns in NAMES.items():
            op.execute(
                f"CREATE VIRTUAL TABLE {table}_names"
                " USING fts5(id UNINDEXED, words, tokenize = 'trigram')"
            )
            _fill(table, columns)
    elif _may_have_trigrams():
        for table, (first, *others) in NAMES.items():
            words = "".join(f" || E'\\n' || lower(coalesce({name}, ''))" for name in others)
            op.execute(
                f"CREATE INDEX ix_{table}_trigrams ON {table}"
                f" USING gin ((lower({first}){words}) gin_trgm_ops)"
            )


def _may_have_trigrams() -> bool:
    """Whether the server has the extension and gives it to us. Without it names are found by
    looking through all of them, as right and slower."""
    connection = op.get_bind()
    if not connection.scalar(sa.text(AVAILABLE)):
        return False
    try:
        with connection.begin_nested():
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except sa.exc.ProgrammingError:  # the database's owner may not
        return False
    return True


def _fill(name: str, columns: Sequence[str]) -> None:
    connection = op.get_bind()
    table = sa.table(name, sa.column("id"), *(sa.column(column) for column in columns))
    write = sa.text(f"INSERT INTO {name}_names (rowid, id, words) VALUES (:row, :id, :words)")  # noqa: S608 - a constant
    rows = connection.execute(sa.select(table)).all()
    for start in range(0, len(rows), 1000):
        connection.execute(
            write,
            [
                {
                    "row": UUID(row.id).int & (1 << 63) - 1,
                    "id": row.id,
                    "words": "\n".join(value.lower() for value in row[1:] if value),
                }
                for row in rows[start : start + 1000]
            ],
        )


def downgrade() -> None:
    """The extension stays: others may use it."""
    for table in NAMES:
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"DROP TABLE {table}_names")
        else:
            op.execute(f"DROP INDEX IF EXISTS ix_{table}_trigrams")
