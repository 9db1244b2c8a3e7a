"""Alembic's environment: one history for both databases, on the application's own engine."""

from typing import Any, Literal

from alembic import context

from app.config import Settings
from app.database import make_engine
from app.models import Base
from app.models.base import UtcDateTime
from migrations.filters import belongs_to_us


def plain_type(kind: str, obj: Any, _context: Any) -> str | Literal[False]:
    """Writes our own column kinds as plain ones, so that old migrations never need them."""
    if kind == "type" and isinstance(obj, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


def run() -> None:
    connection = context.config.attributes.get("connection")
    if connection is not None:
        migrate(connection)
        return
    engine = make_engine(Settings().effective_database_url)
    with engine.begin() as own_connection:
        migrate(own_connection)
    engine.dispose()


def migrate(connection: Any) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_object=belongs_to_us,
        compare_type=True,
        render_item=plain_type,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
