"""Alembic's environment: one history for both databases, on the application's own engine."""

from collections.abc import Collection, Mapping
from typing import Any, Literal

from alembic import context
from sqlalchemy import Connection, event, text

from app.config import Settings
from app.database import make_engine
from app.database.migration import CODE_FLOOR
from app.models import Base
from app.models.base import UtcDateTime
from migrations.autovacuum import wait_for_autovacuum
from migrations.filters import belongs_to_us
from migrations.online import PHASED_FROM, limits


def plain_type(kind: str, obj: Any, _context: Any) -> str | Literal[False]:
    """Write our own column kinds as plain ones, so that old migrations never need them."""
    if kind == "type" and isinstance(obj, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


def run() -> None:
    if context.is_offline_mode():
        write_sql()
        return
    given = context.config.attributes.get("connection")
    if isinstance(given, Connection):
        migrate(given)
        return
    engine = given or make_engine(Settings().effective_database_url)
    with engine.connect() as own_connection:
        migrate(own_connection)
    engine.dispose()


def write_sql() -> None:
    """Print the statements for PostgreSQL: ``alembic upgrade 0090:head --sql``."""
    context.configure(
        dialect_name="postgresql",
        target_metadata=Base.metadata,
        literal_binds=True,
        transaction_per_migration=True,
    )
    for statement in limits(phased=True):
        context.execute(statement)
    with context.begin_transaction():
        context.run_migrations()


def migrate(connection: Connection) -> None:
    """Migrate. Each migration has its own transaction, unless the connection already has one."""
    is_own = not connection.in_transaction()
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_object=belongs_to_us,
        compare_type=True,
        render_item=plain_type,
        transactional_ddl=True,
        transaction_per_migration=True,
        on_version_apply=keep_up,
    )
    if connection.dialect.name == "postgresql":
        event.listen(connection, "before_cursor_execute", wait_for_autovacuum)
    limit(connection, context.get_context().get_current_revision())
    if is_own:
        connection.commit()
    with context.begin_transaction():
        context.run_migrations()


def keep_up(ctx: Any, step: Any, heads: Collection[Any], run_args: Mapping[str, Any]) -> None:  # noqa: ARG001 - as Alembic calls it
    """After each migration: record the code that it needs, and set the limits of the next one."""
    script = step.up_revision.module
    if getattr(script, "PHASE", None) == "contract":
        needed = script.OLDEST_CODE if step.is_upgrade else None
        note_code_floor(ctx.connection, script.revision, needed)
    limit(ctx.connection, next(iter(heads), None))


def note_code_floor(connection: Connection, revision: str, needed: str | None) -> None:
    """Record the oldest code that works. Without ``needed``, the record of a reverted migration is
    removed."""
    columns = "revision VARCHAR(32) PRIMARY KEY, oldest_code VARCHAR(32) NOT NULL"
    connection.execute(text(f"CREATE TABLE IF NOT EXISTS {CODE_FLOOR} ({columns})"))
    forget = text(f"DELETE FROM {CODE_FLOOR} WHERE revision = :revision")  # noqa: S608 - our own name
    connection.execute(forget, {"revision": revision})
    if needed is not None:
        note = text(f"INSERT INTO {CODE_FLOOR} VALUES (:revision, :needed)")  # noqa: S608 - as above
        connection.execute(note, {"revision": revision, "needed": needed})


def limit(connection: Connection, at: str | None) -> None:
    """Limit locks and statements of the migration after ``at``."""
    if connection.dialect.name != "postgresql":
        return
    following = context.script.get_revision(at).nextrev if at else ()
    for statement in limits(phased=bool(following) and min(following) >= PHASED_FROM):
        connection.execute(text(statement))


run()
