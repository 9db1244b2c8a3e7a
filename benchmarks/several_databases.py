"""Partners spread over several databases: the cost of choosing one, and of moving a partner.

``python -m benchmarks.several_databases [ORGANIZATIONS]``. The prototype of
docs/decisions/0015-several-databases.md, on PostgreSQL: a directory names the database of each
partner; operators read all of them; a partner is moved by a dump in its own scope, in which
row-level security shows only its rows.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from sqlalchemy import func, select, text

from app.config.database_urls import for_libpq
from app.database import Database, make_engine
from app.database.scope import INSTALLATION, DatabaseScope, of_tenant
from app.models import Base, Organization, Partner, index_names
from benchmarks.report_and_usage import fill
from tests.fixtures import postgres
from tests.fixtures.databases import POSTGRES_ADMIN, Databases
from tests.fixtures.tenants import make_tenant

ORGANIZATIONS, SHARDS, ROUNDS = 5_000, 4, 100
_WITH_PARTITIONS = text("SELECT relname FROM pg_class WHERE relforcerowsecurity")
_PROTECTED = text("SELECT relname FROM pg_class WHERE relforcerowsecurity AND NOT relispartition")


class Directory:
    """Maps each partner to its database, and caches that for a second."""

    def __init__(self, home: Database, shards: list[Database]):
        self._home, self._shards = home, shards
        self._known: dict[UUID, tuple[float, int]] = {}
        with home.transaction() as session:
            session.execute(text("CREATE TABLE directory (partner_id uuid PRIMARY KEY, place int)"))

    def write(self, partner_id: UUID, shard_number: int) -> None:
        with self._home.transaction() as session:
            query = text(
                "INSERT INTO directory VALUES (:id, :place)"
                " ON CONFLICT (partner_id) DO UPDATE SET place = excluded.place"
            )
            session.execute(query, {"id": partner_id, "place": shard_number})

    def database_of(self, partner_id: UUID) -> Database:
        cached = self._known.get(partner_id)
        if cached is None or cached[0] < time.monotonic():
            with self._home.transaction(read_only=True) as session:
                query = text("SELECT place FROM directory WHERE partner_id = :id")
                shard_number = session.execute(query, {"id": partner_id}).scalar_one()
            cached = self._known[partner_id] = (time.monotonic() + 1, shard_number)
        return self._shards[cached[1]]


def move(partner_id: UUID, source: Database, target: Database, file: Path) -> float:
    """Copy the rows of a partner; return the seconds. Its calls must be paused meanwhile."""
    began = time.monotonic()
    with source.transaction(read_only=True) as session:
        tables = session.scalars(_WITH_PARTITIONS).all()
    scope = f"-c app.scope=partner -c app.partner_id={partner_id}"
    options = ["--data-only", "--enable-row-security", "--format=custom", f"--file={file}"]
    # Partitioned tables are written through their roots, because the months may differ.
    table_options = [f"--table={name}" for name in tables]
    run("pg_dump", source, scope, *options, "--load-via-partition-root", *table_options)
    # Policies would refuse COPY, and some keys refer to each other: neither binds the
    # administrator.
    run("pg_restore", target, "", "--data-only", "--disable-triggers", str(file))
    with target.transaction() as session:
        index_names(session.connection())
    return time.monotonic() - began


def run(program: str, database: Database, scope: str, *options: str) -> None:
    url = database.engine.url
    address = for_libpq(url if scope else url.set(username=POSTGRES_ADMIN))
    subprocess.run(
        [str(postgres.programs() / program), f"--dbname={address}", *options],
        check=True,
        env={**os.environ, "PGOPTIONS": scope},
    )


def rows(database: Database, scope: DatabaseScope) -> dict[str, int]:
    """Return the visible rows by table."""
    counts = {}
    with database.within(scope).transaction(read_only=True) as session:
        for name in session.scalars(_PROTECTED).all():
            counts[name] = session.scalar(
                select(func.count()).select_from(Base.metadata.tables[name])
            )
    return {name: count for name, count in counts.items() if count}


def median(act: Callable[[], object]) -> float:
    """Return the median in milliseconds."""
    milliseconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        milliseconds.append((time.perf_counter() - began) * 1000)
    return statistics.median(milliseconds)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else ORGANIZATIONS
    with tempfile.TemporaryDirectory() as folder:
        databases = Databases(Path(folder), Path(folder))
        shards = [Database(make_engine(databases.create("postgresql"))) for _ in range(SHARDS)]
        home = shards[0]
        directory = Directory(home, shards)
        with home.transaction() as session:
            moved_id, other_id = (
                make_tenant(session, name).partner.id for name in ("Northwind", "Acme")
            )
        fill(home, moved_id, count)
        for partner_id in (moved_id, other_id):
            directory.write(partner_id, 0)
        measure_reads(directory, shards, moved_id)

        before = rows(home, of_tenant(moved_id, None))
        seconds = move(moved_id, home, shards[1], Path(folder) / "partner")
        directory.write(moved_id, 1)
        after = rows(shards[1], INSTALLATION)
        total = sum(before.values())
        same = "all of them" if before == after else f"NOT all: {before} {after}"
        print(f"moved {total:,} rows of {count:,} organizations in {seconds:.1f} s, {same}")
        for shard in shards:
            shard.dispose()
            databases.drop(shard.engine.url.render_as_string(hide_password=False))


def measure_reads(directory: Directory, shards: list[Database], partner_id: UUID) -> None:
    def read(database: Database) -> object:
        with database.within(of_tenant(partner_id, None)).transaction(read_only=True) as session:
            return session.scalars(select(Organization).limit(25)).all()

    def read_all(places: list[Database]) -> object:
        partners: list[Partner] = []
        for shard in places:
            with shard.transaction(read_only=True) as session:
                partners += session.scalars(select(Partner).order_by(Partner.created_at).limit(25))
        return sorted(partners, key=lambda partner: partner.created_at)[:25]

    print(f"a partner's read, one database: {median(lambda: read(shards[0])):.2f} ms")
    print(
        f"through the directory: {median(lambda: read(directory.database_of(partner_id))):.2f} ms"
    )
    print(f"an operator's list, one database: {median(lambda: read_all(shards[:1])):.2f} ms")
    print(f"of {SHARDS} databases: {median(lambda: read_all(shards)):.2f} ms")


if __name__ == "__main__":
    main()
