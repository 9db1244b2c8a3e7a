"""Keep the trigrams of names where row-level security doesn't keep their index from being used.

PostgreSQL checks policies before LIKE, so that it can't use an index for LIKE on a protected table.
The new tables hold ids and hashes of trigrams; the rows that these ids name stay protected.
"""

from collections.abc import Sequence
from importlib import import_module

from alembic import op

revision: str = "0049"
down_revision: str | Sequence[str] | None = "0046"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_BEFORE = import_module("migrations.versions.0012_name_trigrams")
TRIGRAMS = """
CREATE FUNCTION name_trigrams(words text) RETURNS integer[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT hashtext(substr(words, place, 3))), '{}')
    FROM generate_series(1, length(words) - 2) AS place
$$
"""
KEEP = """
CREATE FUNCTION {table}_names() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO {table}_names (id, trigrams) VALUES (NEW.id, name_trigrams(NEW.search_words))
    ON CONFLICT (id) DO UPDATE SET trigrams = excluded.trigrams;
    RETURN NULL;
END $$
"""


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(TRIGRAMS)
    for table in _BEFORE.NAMES:
        name = f"{table}_names"
        op.execute(
            f"CREATE TABLE {name} (id uuid PRIMARY KEY REFERENCES {table} (id) ON DELETE CASCADE,"
            " trigrams integer[] NOT NULL)"
        )
        op.execute(f"INSERT INTO {name} SELECT id, name_trigrams(search_words) FROM {table}")  # noqa: S608 - constants
        op.execute(f"CREATE INDEX ix_{name}_trigrams ON {name} USING gin (trigrams)")
        op.execute(KEEP.format(table=table))
        op.execute(
            f"CREATE TRIGGER {name} AFTER INSERT OR UPDATE OF search_words ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION {name}()"
        )
        op.execute(f"DROP INDEX IF EXISTS ix_{table}_trigrams")


def downgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in _BEFORE.NAMES:
        op.execute(f"DROP TRIGGER {table}_names ON {table}")
        op.execute(f"DROP FUNCTION {table}_names")
        op.execute(f"DROP TABLE {table}_names")
    op.execute("DROP FUNCTION name_trigrams")
    _BEFORE.upgrade()
