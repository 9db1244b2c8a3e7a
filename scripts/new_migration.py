"""Writes a migration from the models: ``python -m scripts.new_migration "organization notes"``.

The models are compared with an empty database on which all migrations have run, whatever databases
exist here.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from alembic import command
from alembic.config import Config
from alembic.script import Script, ScriptDirectory

from app.config import ROOT
from app.database import make_engine
from migrations.online import PHASED_FROM


def next_number(config: Config) -> str:
    """Return the number for a new revision and its file, above all existing ones."""
    revisions = list(ScriptDirectory.from_config(config).walk_revisions())
    used_numbers = {each.revision for each in revisions} | {
        Path(each.path).name[:4] for each in revisions
    }
    return max(f"{max(map(int, used_numbers)) + 1:04d}", PHASED_FROM)


def write(message: str, config: Config) -> Path:
    """Write the migration that follows the newest one; its file is named by ``message``."""
    with TemporaryDirectory() as folder:
        engine = make_engine(f"sqlite:///{folder}/compared.db")
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            number = next_number(config)
            script = command.revision(config, message, autogenerate=True, rev_id=number)
        engine.dispose()
    return Path(cast(Script, script).path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    write(sys.argv[1], Config(ROOT / "alembic.ini"))
