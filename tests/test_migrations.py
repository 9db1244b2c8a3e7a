"""The one migration history, up, down and up again on a filled database."""

from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import func, inspect, select
from sqlalchemy.orm import Session

from app.caller import system_caller
from app.commands.demo_story import PARTNERS
from app.commands.demo_world import World
from app.config import ROOT
from app.database import Database
from app.models import Base, Campaign, Organization
from app.services import organizations
from migrations.filters import belongs_to_us

VERSION = "alembic_version"


def fill(session: Session) -> dict[str, int]:
    """Puts the demo's world into the database; returns how many rows each table then has."""
    World(session, system_caller("tests"), "http://127.0.0.1").build(PARTNERS[:1], history_days=2)
    session.flush()
    return {
        name: session.scalar(select(func.count()).select_from(table)) or 0
        for name, table in Base.metadata.tables.items()
    }


def run(database: Database, what: Any, revision: str) -> None:
    config = Config(str(ROOT / "alembic.ini"))
    with database.engine.begin() as connection:
        config.attributes["connection"] = connection
        what(config, revision)


def our_tables(database: Database) -> set[str]:
    return set(inspect(database.engine).get_table_names()) & Base.metadata.tables.keys()


def test_down_and_up_again_on_a_filled_database(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        first = fill(session)
    assert sum(count > 0 for count in first.values()) >= 15

    run(fresh_database, command.downgrade, "base")
    assert our_tables(fresh_database) == set()

    run(fresh_database, command.upgrade, "head")
    assert our_tables(fresh_database) == set(Base.metadata.tables)
    with fresh_database.transaction() as session:
        assert fill(session) == first


def test_the_history_and_the_models_say_the_same(fresh_database: Database) -> None:
    with fresh_database.engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_object": belongs_to_us, "compare_type": True}
        )
        assert compare_metadata(context, Base.metadata) == []


def test_the_sums_of_partners_are_counted_from_what_is_there(fresh_database: Database) -> None:
    def sums() -> set[Any]:
        with fresh_database.engine.connect() as connection:
            tables = (Base.metadata.tables[name] for name in ("partner_days", "partner_tiers"))
            return {tuple(row) for table in tables for row in connection.execute(select(table))}

    with fresh_database.transaction() as session:
        fill(session)
    kept = sums()
    run(fresh_database, command.downgrade, "0005")
    run(fresh_database, command.upgrade, "head")
    assert sums() == kept


def test_names_and_counts_are_there_for_what_was_stored_before(fresh_database: Database) -> None:
    def kept() -> tuple[list[Any], list[str]]:
        with fresh_database.transaction(read_only=True) as session:
            sizes = session.execute(select(Campaign.name_key, Campaign.contact_count))
            part = session.scalars(select(Organization.name)).all()[0][1:6].upper()
            wanted = organizations.Filter(query=part)
            found = organizations.search(session, system_caller("tests"), wanted, sort="name")
            return sorted(sizes.all()), [organization.name for organization in found.items]

    with fresh_database.transaction() as session:
        fill(session)
    campaigns, names = kept()
    assert max(count for _name, count in campaigns) > 0
    assert names != []
    run(fresh_database, command.downgrade, "0008")
    run(fresh_database, command.upgrade, "head")
    assert kept() == (campaigns, names)
