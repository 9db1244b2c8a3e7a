"""SQLite's index statistics are updated."""

import pytest
from sqlalchemy import text

from app.database import Database
from tests.fixtures.tenants import make_tenant

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)

KNOWN = text("SELECT DISTINCT tbl FROM sqlite_stat1 WHERE tbl = 'users'")


def test_statistics_are_gathered_at_the_given_interval(fresh_database: Database) -> None:
    with fresh_database.transaction() as session:
        make_tenant(session)
    fresh_database.gather_statistics()
    fresh_database.gather_statistics()
    with fresh_database.transaction(read_only=True) as session:
        assert session.scalars(KNOWN).all() == ["users"]
