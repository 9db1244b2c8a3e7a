"""Row-level security of PostgreSQL: the policies that a migration gives to a table.

A transaction declares its scope (``app/database/scope.py``): the whole installation; a partner, or
one organization of it; or authentication, before the caller is known. Without a declaration no row
is seen. Policies also bind the owner of the tables, so that one role is enough. On SQLite nothing
happens.
"""

from alembic import op
from sqlalchemy import text

from app.database import partitions

_SCOPE = "current_setting('app.scope', true)"
# Only the scope of a partner sets them. As subqueries they are evaluated once per statement, not
# once per row; each costs planning, so no condition has more than it needs.
_PARTNER = "(SELECT nullif(current_setting('app.partner_id', true), '')::uuid)"
_ORGANIZATION = "(SELECT nullif(current_setting('app.organization_id', true), '')::uuid)"


def by_partner(table: str, column: str = "partner_id", *, organization: str | None = None) -> None:
    """Allow rows of the partner; if ``organization`` names a column, and the scope is one
    organization, only of that."""
    condition = f"{column} = {_PARTNER}"
    if organization is not None:
        own = f"coalesce({_ORGANIZATION}, {organization})"
        condition += f" AND {organization} IS NOT DISTINCT FROM {own}"
    _protect(table, condition)


def by_organization(
    table: str, column: str = "organization_id", parent: str = "organizations"
) -> None:
    """Allow rows with an organization and no partner: ``column`` is the id of a ``parent`` that has
    both."""
    of_partner = f"p.id = {table}.{column} AND p.partner_id = {_PARTNER}"
    theirs = f"EXISTS (SELECT 1 FROM {parent} p WHERE {of_partner})"  # noqa: S608 - names of tables
    _protect(table, f"organization_id = {_ORGANIZATION} OR {theirs}")


def by_parent(table: str, column: str, *parents: str) -> None:
    """Allow rows that belong to a row of a protected table, by its id."""
    found = (
        f"EXISTS (SELECT 1 FROM {parent} p WHERE p.id = {table}.{column})"  # noqa: S608 - names of tables
        for parent in parents
    )
    # The parent may also be visible before the caller is known.
    _protect(table, f"{_SCOPE} = 'partner' AND ({' OR '.join(found)})")


def allow_reading(table: str, condition: str) -> None:
    """Allow every scope to read more rows of a protected table."""
    _policy(table, "shared", "SELECT", condition)


def allow_authentication(table: str, *commands: str) -> None:
    """Allow commands on all rows before the caller is known."""
    for command in commands:
        _policy(table, f"authentication_{command.lower()}", command, f"{_SCOPE} = 'authentication'")


def remove(table: str) -> None:
    """Remove every policy of a table."""
    if not _on_postgresql():
        return
    query = text("SELECT policyname FROM pg_policies WHERE tablename = :table")
    for name in op.get_bind().scalars(query, {"table": table}).all():
        op.execute(f"DROP POLICY {name} ON {table}")
    op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
    _follow(table)


def _protect(table: str, condition: str) -> None:
    if not _on_postgresql():
        return
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    # PostgreSQL expects an unknown expression to be null in few rows: the right estimate, because
    # the filter of a query has chosen the tenant's rows before. For a plain condition, of which it
    # expects few rows, it sorted whole lists to show their first page.
    seen = f"CASE WHEN {condition} THEN true WHEN {_SCOPE} = 'installation' THEN true END"
    _policy(table, "tenant", "ALL", f"({seen}) IS NOT NULL")


def _policy(table: str, name: str, command: str, condition: str) -> None:
    if not _on_postgresql():
        return
    clause = "WITH CHECK" if command == "INSERT" else "USING"
    op.execute(f"DROP POLICY IF EXISTS {name} ON {table}")
    op.execute(f"CREATE POLICY {name} ON {table} FOR {command} {clause} ({condition})")
    _follow(table)


def _follow(table: str) -> None:
    if op.get_context().as_sql:  # without a database, there are no partitions yet
        return
    for each in partitions.of_table(op.get_bind(), table):
        partitions.protect(op.get_bind(), table, each.name)


def _on_postgresql() -> bool:
    return op.get_context().dialect.name == "postgresql"
