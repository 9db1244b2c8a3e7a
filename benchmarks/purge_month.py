"""Deleting a month of timelines compared with dropping its partition, on PostgreSQL.

``python -m benchmarks.purge_month [ENTRIES]``. A call has five entries. Goal: 2,000,000 entries
within 1 second, and others wait no longer than that.
"""

import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import text

from app.calendar_months import month_after
from app.database import Database, make_engine, partitions
from app.database.partitions import first_id
from app.models import Base, utcnow
from tests.fixtures.databases import Databases
from tests.fixtures.phone_numbers import assign_directly_given_numbers
from tests.fixtures.worker import create_calling_organization

ENTRIES, A_CALL = 2_000_000, 5
_ID = "(lpad(to_hex({first} + n), 12, '0') || '7000a' || lpad(to_hex({more}), 15, '0'))::uuid"
_CALLS = """
    INSERT INTO calls (id, {columns}) SELECT {id}, {columns}
    FROM calls c, generate_series(1, :count) n WHERE c.id = :like
"""
_ENTRIES = """
    INSERT INTO call_events (id, call_id, key, at, status)
    SELECT gen_random_uuid(), c.id, 'kind ' || n, c.created_at, 'completed'
    FROM calls c, generate_series(1, :each) n WHERE c.id >= :first
"""


def fill(database: Database, entries: int) -> None:
    """Create this many entries in the month after the next."""
    assign_directly_given_numbers()
    call_id = create_calling_organization(database).dial(database, "+12125550100")
    first = first_id(month_after(utcnow(), 2))
    copied = [c.name for c in Base.metadata.tables["calls"].c if c.name != "id"]
    with database.transaction() as session:
        id_expression = _ID.format(first=first.int >> 80, more="n")
        calls = text(_CALLS.format(columns=", ".join(copied), id=id_expression))
        session.execute(calls, {"count": entries // A_CALL, "like": call_id})
        session.execute(text(_ENTRIES), {"each": A_CALL, "first": first})


def main() -> None:
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else ENTRIES
    with tempfile.TemporaryDirectory() as folder:
        databases = Databases(Path(folder), Path(folder))
        url = databases.create("postgresql")
        database = Database(make_engine(url))
        fill(database, entries)
        begin, end = month_after(utcnow(), 2), month_after(utcnow(), 3)
        with database.transaction() as session:
            began = time.monotonic()
            deletion = text("DELETE FROM call_events WHERE call_id >= :first AND call_id < :last")
            bounds = {"first": first_id(begin), "last": first_id(end)}
            count = session.connection().execute(deletion, bounds).rowcount
            print(f"deleted {count:,} rows in {time.monotonic() - began:.2f} s")
            session.rollback()
        began = time.monotonic()
        with database.transaction() as session:
            dropped = partitions.drop_before(session.connection(), "call_events", end)
        print(f"dropped {' and '.join(dropped)} in {time.monotonic() - began:.2f} s")
        database.dispose()
        databases.drop(url)


if __name__ == "__main__":
    main()
