"""10,000 contacts in one request, compared with the least work that has the same effect.

``python -m benchmarks.bulk_upsert [--contacts N] [--rounds N]`` prints for SQLite and PostgreSQL,
in one run: the floor (raw driver, a table with two unique keys, commit included), ours (decoding of
the body, every rule, writing, commit, encoding of the answer), and the ratio. Creating into an
empty campaign, changing all of them, and sending the same again.
"""

import argparse
import os
import random
import sqlite3 as sqlite
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Protocol

import orjson
import psycopg

from app import gc_tuning
from app.api.json_body import parse_json_object
from app.database import Database, make_engine
from app.enums import ContactAction
from app.models import Campaign, Organization, Partner
from app.policy.caller import system_caller
from app.schemas.contacts import BulkContactsInput
from app.schemas.parsing import read
from app.services import campaigns, contacts
from tests.fixtures.databases import Databases

GOALS = {"sqlite": 3.0, "postgresql": 2.5}

SQLITE_TABLE = """
CREATE TABLE contact (
  id INTEGER PRIMARY KEY, campaign TEXT, phone TEXT, email TEXT, first_name TEXT, last_name TEXT,
  status TEXT, metadata TEXT, UNIQUE (campaign, phone), UNIQUE (campaign, email))
"""
SQLITE_MERGE = """
INSERT INTO contact (campaign, phone, email, first_name, last_name, status, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (campaign, phone) DO UPDATE SET email = excluded.email,
  first_name = excluded.first_name, last_name = excluded.last_name, status = excluded.status,
  metadata = excluded.metadata
ON CONFLICT (campaign, email) DO UPDATE SET phone = excluded.phone,
  first_name = excluded.first_name, last_name = excluded.last_name, status = excluded.status,
  metadata = excluded.metadata
"""
POSTGRESQL_TABLE = """
CREATE TABLE contact (
  id bigserial PRIMARY KEY, campaign text, phone text, email text, first_name text,
  last_name text, status text, metadata jsonb, UNIQUE (campaign, phone), UNIQUE (campaign, email))
"""
POSTGRESQL_SENT = """
CREATE TEMPORARY TABLE sent (
  campaign text, phone text, email text, first_name text, last_name text, status text,
  metadata jsonb) ON COMMIT DROP
"""
POSTGRESQL_MERGE = """
WITH updated AS (
  UPDATE contact c SET email = s.email, first_name = s.first_name, last_name = s.last_name,
    status = s.status, metadata = s.metadata
  FROM sent s WHERE c.campaign = s.campaign AND c.phone = s.phone
  RETURNING c.id, c.phone
), created AS (
  INSERT INTO contact (campaign, phone, email, first_name, last_name, status, metadata)
  SELECT * FROM sent s WHERE NOT EXISTS (
    SELECT FROM contact c WHERE c.campaign = s.campaign AND c.phone = s.phone)
  ON CONFLICT (campaign, email) DO UPDATE SET phone = excluded.phone,
    first_name = excluded.first_name, last_name = excluded.last_name, status = excluded.status,
    metadata = excluded.metadata
  RETURNING id, phone
)
SELECT id, phone, 'updated' FROM updated UNION ALL SELECT id, phone, 'created' FROM created
"""

Contact = dict[str, Any]


def made_up(count: int, version: str) -> list[Contact]:
    """Return a realistic list, sorted neither by phone nor by address."""
    phones, names = list(range(count)), list(range(count))
    random.Random(1).shuffle(phones)
    random.Random(2).shuffle(names)
    return [
        {
            "firstName": f"Jörg {name}",
            "lastName": "Fröhlich",
            "email": f"contact{name}@example.com",
            "phone": f"+1202{5550000 + phone:07d}",
            "status": "new",
            "contactMetadata": {"city": "Łódź", "score": phone, "vip": True, "note": version},
        }
        for phone, name in zip(phones, names, strict=True)
    ]


def as_rows(batch: list[Contact]) -> list[tuple[str, ...]]:
    """Return the rows of a floor, prepared before its time is taken."""
    return [
        (
            "018f6b1c2d3e7a4b8c5d6e7f8a9b0c1d",
            contact["phone"],
            contact["email"],
            contact["firstName"],
            contact["lastName"],
            contact["status"],
            orjson.dumps(contact["contactMetadata"]).decode(),
        )
        for contact in batch
    ]


class Subject(Protocol):
    """A way to write: ``prepare`` empties the tables, ``run`` writes and returns the seconds."""

    def prepare(self) -> None: ...

    def run(self, batch: list[Contact]) -> float: ...


class SqliteFloor:
    """The standard library's driver: one prepared merge on two keys, in one transaction."""

    def __init__(self, folder: Path):
        self._connection = sqlite.connect(str(folder / "floor.db"), isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self._connection.execute(f"PRAGMA {pragma}")

    def prepare(self) -> None:
        self._connection.execute("DROP TABLE IF EXISTS contact")
        self._connection.execute(SQLITE_TABLE)

    def run(self, batch: list[Contact]) -> float:
        rows = as_rows(batch)
        start = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(SQLITE_MERGE, rows)
        self._connection.execute("COMMIT")
        return time.perf_counter() - start


class PostgresqlFloor:
    """COPY into a temporary table and one merge on two keys that returns what it created."""

    def __init__(self, url: str):
        self._connection = psycopg.connect(url.replace("+psycopg", ""))

    def prepare(self) -> None:
        self._connection.execute("DROP TABLE IF EXISTS contact")
        self._connection.execute(POSTGRESQL_TABLE)
        self._connection.commit()

    def run(self, batch: list[Contact]) -> float:
        rows = as_rows(batch)
        start = time.perf_counter()
        self._connection.execute(POSTGRESQL_SENT)
        with self._connection.cursor().copy("COPY sent FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        merged = self._connection.execute(POSTGRESQL_MERGE).fetchall()
        self._connection.commit()
        assert len(merged) == len(rows)
        return time.perf_counter() - start


class Ours:
    """A request of Area C from the body's bytes to the response's, without HTTP around it."""

    def __init__(self, database: Database):
        self.database = database
        self._caller = system_caller("benchmark")
        partner = Partner(name="Benchmark", slug="benchmark")
        with database.transaction() as session:
            session.add(partner)
            session.flush()
            self.organization = Organization(partner_id=partner.id, name="Benchmark")
            session.add(self.organization)

    def prepare(self) -> None:
        campaign = Campaign(
            partner_id=self.organization.partner_id,
            organization_id=self.organization.id,
            name="Benchmark",
        )
        with self.database.transaction() as session:
            session.add(campaign)
        self._campaign_id = campaign.id

    def run(self, batch: list[Contact]) -> float:
        body = orjson.dumps({"contacts": batch})
        start = time.perf_counter()
        envelope = read(BulkContactsInput, parse_json_object(body))
        with self.database.transaction() as session:
            campaign = campaigns.get(session, self._caller, self._campaign_id)
            result = contacts.apply(session, campaign, envelope.contacts, ContactAction.UPSERT)
        answer = orjson.dumps(result.body())
        took = time.perf_counter() - start
        assert result.created + result.updated == len(batch), answer[:500]
        return took


STEPS = ("create", "change", "same again")


def measure(subject: Subject, count: int) -> list[float]:
    """Return the seconds of the three steps on an emptied subject."""
    subject.prepare()
    took = []
    for version in ("at 10:30", "at 11:45", "at 11:45"):
        batch = made_up(count, version)
        took.append(subject.run(batch))
    return took


def compare(backend: str, floor: Subject, ours: Subject, count: int, rounds: int) -> None:
    floor_times, our_times = [], []
    for _ in range(rounds):
        floor_times.append(measure(floor, count))
        our_times.append(measure(ours, count))
    for position, step in enumerate(STEPS):
        least = min(took[position] for took in floor_times)
        best = min(took[position] for took in our_times)
        print(
            f"{backend:<11} {step:<11} floor {least * 1000:7.1f} ms   us {best * 1000:7.1f} ms   "
            f"ratio {best / least:5.2f}   goal {GOALS[backend]:.1f}"
        )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contacts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    gc_tuning.resume_collection()
    print(f"{options.contacts:,} contacts a request, the best of {options.rounds} rounds each")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        for backend in GOALS:
            url = databases.create(backend)
            database = Database(make_engine(url))
            floor = SqliteFloor(folder) if backend == "sqlite" else PostgresqlFloor(url)
            compare(backend, floor, Ours(database), options.contacts, options.rounds)
            database.dispose()
        databases.close()


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent)
    main(sys.argv[1:])
