"""The cost of rows and of requests of the API, for the model in docs/capacity.md.

``python -m benchmarks.capacity [ROWS]``. On PostgreSQL: the bytes of a contact, a call and a change
of the history with their indexes, at ROWS of each (20,000 by default). On each database: the CPU
time of the process that answers a request with one contact or 100.
"""

import os
import statistics
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import select, text

from app import gc_tuning
from app.enums import Role
from app.models import User
from app.services.credentials import api_keys
from benchmarks.pages import Portal, portal_of
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.tenants import caller_with

TABLES = {"contacts": "contact", "calls": "call", "audit_entries": "change of the history"}
ROUNDS = 30

numbers = count(5_000_000)


def size_of(portal: Portal, table: str) -> float:
    """Return the bytes of a row with its indexes."""
    query = "SELECT pg_total_relation_size(CAST(:name AS regclass)) * 1.0 / count(*) FROM "
    with portal.database.transaction(read_only=True) as session:
        return float(session.scalar(text(query + table), {"name": table}) or 0)


def key_of(portal: Portal) -> str:
    with portal.database.transaction() as session:
        admin = session.scalars(select(User).where(User.role == Role.PARTNER_ADMIN)).first()
        assert admin is not None
        caller = caller_with(Role.PARTNER_ADMIN, admin)
        organization_id = portal.ids["organization_id"]
        return api_keys.create(
            session, caller, organization_id=organization_id, name="Benchmark"
        ).secret


def contacts(amount: int) -> dict[str, Any]:
    return {
        "contacts": [
            {"firstName": "Ada", "lastName": "Byron", "phone": f"+1202{next(numbers)}"}
            for _ in range(amount)
        ]
    }


def milliseconds(portal: Portal, key: str, contact_count: int) -> float:
    """Return the median of a request with this many contacts."""
    path = f"/api/v1/campaigns/{portal.ids['campaign_id']}/contacts"
    spent = []
    for _ in range(ROUNDS):
        body = contacts(contact_count)
        began = time.process_time()
        answer = portal.client.post(path, json=body, headers={"x-api-key": key})
        spent.append(time.process_time() - began)
        assert answer.status_code < 300, answer.text
    return statistics.median(spent) * 1000


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        databases = Databases(Path(name), Path(name))
        for backend in BACKENDS:
            portal = portal_of(databases.create(backend), Path(name), rows)
            gc_tuning.resume_collection()
            if not portal.database.is_sqlite:
                for table, label in TABLES.items():
                    print(f"{backend:12}{label:28}{size_of(portal, table):8.0f} bytes", flush=True)
            key = key_of(portal)
            for contact_count, label in ((1, "one contact sent"), (100, "100 contacts sent")):
                figure = milliseconds(portal, key, contact_count)
                print(f"{backend:12}{label:28}{figure:8.1f} ms of CPU", flush=True)
            portal.database.dispose()
        databases.close()


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
