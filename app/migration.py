"""The database's structure: bringing it to the newest migration, and asking how far it is."""

from functools import cache

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from app.config import ROOT
from app.database import Database
from app.gateways.job_queue import migrate_engine


def _config(connection: Connection | None = None) -> Config:
    config = Config(ROOT / "alembic.ini")
    config.attributes["connection"] = connection
    return config


@cache
def head() -> str | None:
    """The newest migration that this code knows."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def current(connection: Connection) -> str | None:
    """The migration that the database is at, None where none has run."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(database: Database, target: str = "head") -> None:
    """Runs every migration up to ``target`` in one transaction, then the durable engine's own."""
    with database.engine.begin() as connection:
        command.upgrade(_config(connection), target)
    migrate_engine(database.engine.url.render_as_string(hide_password=False))


def downgrade(database: Database, target: str = "base") -> None:
    """Takes migrations back down to ``target`` in one transaction."""
    with database.engine.begin() as connection:
        command.downgrade(_config(connection), target)
