"""The growth of the database by files of bad rows, in multiples of their size.

``python -m benchmarks.bad_files [--megabytes 8] [--only sqlite|postgresql] [--tables]`` checks
files whose rows all have problems, each in a new database, and prints the growth of the database
next to the size of the file; with ``--tables`` by table and index.
"""

import argparse
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import text

from app.database import Database, make_engine
from app.gateways.files import open_files
from app.services.imports.pipeline import check_file
from benchmarks.imports.product import upload_of
from benchmarks.imports.running_portal import portal_of
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.settings import settings_for

GOAL = 5.0
MEGABYTE = 1024 * 1024
HEADERS = {
    "short": "First name,Phone",
    "usual": "First name,Last name,Email,Phone,City",
    "wide": ",".join(["Phone", *(f"Note {place}" for place in range(100))]),
    "noted": "First name,Email",
}
"""Short rows, usual ones, some with a problem in each of 101 cells, and good ones with a note."""


def rows_of(shape: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        match shape:
            case "short":
                yield f"{number % 10},{number % 97}\n"
            case "usual":
                yield f"Ann {number},Example,not an address {number},12 {number % 997},Berlin\n"
            case "wide":
                yield "1" + ",=B1" * 100 + "\n"
            case _:
                yield f"{number % 10},{number}@a.io\n"


def write_bad_file(path: Path, shape: str, megabytes: float) -> None:
    """Write a file with one kind of rows, of this size or with the maximum number of rows."""
    remaining, rows = int(megabytes * MEGABYTE), 0
    with path.open("w", encoding="utf-8") as file:
        remaining -= file.write(HEADERS[shape] + "\n")
        for row in rows_of(shape):
            remaining, rows = remaining - len(row), rows + 1
            if remaining < 0 or rows > 1_000_000:
                return
            file.write(row)


def sizes(database: Database) -> dict[str, int]:
    """Return the bytes of each table and index."""
    if database.is_sqlite:
        # The product's SQLite has no dbstat; Python's has.
        with closing(sqlite3.connect(str(database.engine.url.database))) as reader:
            return dict(reader.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    query = "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind IN ('r', 'i', 't')"
    with database.engine.connect() as connection:
        return {row[0]: row[1] for row in connection.execute(text(query))}


def measure(databases: Databases, backend: str, folder: Path, path: Path, *, tables: bool) -> float:
    url = databases.create(backend)
    portal_of(url, folder, path).database.dispose()
    database = Database(make_engine(url))
    before, upload = sizes(database), upload_of(database)
    began, cpu = time.perf_counter(), time.process_time()
    check_file(database, open_files(settings_for(url, folder)), upload.id, upload.check_number)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    after, checked = sizes(database), upload_of(database)
    assert checked.status == "checked", checked.failure
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    total = sum(grown.values())
    print(
        f"{backend:10} {path.stem:6} {upload.file_size / MEGABYTE:5.1f} MB, "
        f"{checked.rows_total:>9,} rows   database + {total / MEGABYTE:6.1f} MB   "
        f"ratio {total / upload.file_size:5.2f}, goal {GOAL}   {seconds:.1f} s, {cpu:.1f} CPU s",
        flush=True,
    )
    if tables:
        for name, size in sorted(grown.items(), key=lambda item: -item[1]):
            if size > MEGABYTE:
                print(f"    {name:40} {size / MEGABYTE:6.1f} MB")
    database.dispose()
    databases.drop(url)
    return total / upload.file_size


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--only", choices=BACKENDS)
    parser.add_argument("--shape", choices=HEADERS)
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        for shape in [options.shape] if options.shape else HEADERS:
            path = folder / f"{shape}.csv"
            write_bad_file(path, shape, options.megabytes)
            for backend in [options.only] if options.only else BACKENDS:
                measure(databases, backend, folder, path, tables=options.tables)
        databases.close()


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent)
    main(sys.argv[1:])
