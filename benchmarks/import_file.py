"""A contact file checked and applied, against the least work that has the same effect.

``python -m benchmarks.import_file [ROWS …] [--all] [--only sqlite|postgresql]`` makes files of
10,000 and 100,000 rows (with ``--all`` 1,000,000 too), CSV and XLSX, and prints side by side:

- reading: the workbook by openpyxl, streaming, and by us;
- checking: one streaming pass that judges phones, e-mails and duplicates (over a workbook: beside
  openpyxl), and our check, which tries every row out against the campaign and keeps it for the
  screens;
- applying: reading, phones and a merge in chunks by the bare driver, and our applying, which keeps
  what became of each row and how to undo it; the longest write lock, and how much slower the page
  of the campaign is meanwhile.

Each runs in a process of its own: CPU seconds, seconds, and its peak memory over that at rest.
"""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import phonenumbers
from flask.testing import FlaskClient
from openpyxl import Workbook, load_workbook
from sqlalchemy import event, select

from app.caller import Caller
from app.collecting import settle
from app.database import Database, make_engine
from app.enums import ContactAction, Role
from app.factory import create_app
from app.gateways.files import open_files
from app.jobs.import_contacts import run_apply, run_check
from app.models import ContactImport, User
from app.portal.authentication import SESSION_COOKIE
from app.services import campaigns, sessions
from app.services.imports import steps, uploads
from app.services.imports.reading import open_table
from benchmarks.bulk_upsert import Contact, PostgresqlFloor, SqliteFloor
from tests.fixtures.cast import make_tenant
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.settings import settings_for

SIZES, LARGEST = (10_000, 100_000), 1_000_000
GOALS = {"reading": 1.3, "checking": 1.67, "applying": 2.5}
"""Checking: 4 CPU seconds where the bare pass takes 2.4. Beside them: no lock over 100 ms, at most
60 MB to check 100,000 rows and 150 MB at any size, pages at most twice as slow meanwhile."""
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]+")
HEADER = ("First name", "Last name", "Email", "Phone", "City", "Recall due")


class Cost(NamedTuple):
    """``lock`` is the longest time in milliseconds that a write lock was held."""

    cpu: float
    seconds: float
    megabytes: float
    lock: float = 0.0


def people(count: int) -> Iterator[tuple[str, ...]]:
    """Rows as people keep them: four ways to write numbers, some of the contacts twice."""
    for place in range(count):
        person = place - 7 if place % 50 == 49 else place
        number = person * 7919 % 8_000_000
        area, exchange, line = (
            201 + number // 1_000_000,
            200 + number // 10_000 % 100,
            number % 10_000,
        )
        parts = f"{area}", f"{exchange}", f"{line:04}"
        phone = (
            "+1{}{}{}".format(*parts),
            "({}) {}-{}".format(*parts),
            "{}-{}-{}".format(*parts),
            "+1 {} {} {}".format(*parts),
        )[place % 4]
        yield (
            f"Jörg {person}",
            "Fröhlich",
            f"contact{person}@example.com",
            phone,
            "Łódź",
            f"2026-12-{place % 28 + 1:02}",
        )


def make_files(folder: Path, count: int) -> None:
    with (folder / "people.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(HEADER) + "\n")
        file.writelines(",".join(row) + "\n" for row in people(count))
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("People")
    sheet.append(HEADER)
    for row in people(count):
        sheet.append(row)
    workbook.save(folder / "people.xlsx")


def measured(work: Callable[[], object]) -> Cost:
    """What the work costs this process; the peak is counted from here on."""
    settle()
    Path("/proc/self/clear_refs").write_text("5")
    idle = _peak()
    cpu, began = time.process_time(), time.perf_counter()
    work()
    return Cost(time.process_time() - cpu, time.perf_counter() - began, _peak() - idle)


def _peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


class Locks:
    """Watches how long this process holds write locks of a database."""

    def __init__(self, database: Database):
        self.longest = 0.0
        self._since: float | None = None
        event.listen(database.engine, "after_cursor_execute", self._executed)
        commit = database.engine.dialect.do_commit

        def committed(connection: Any) -> None:
            commit(connection)
            if self._since is not None:
                self.longest = max(self.longest, time.perf_counter() - self._since)
            self._since = None

        database.engine.dialect.do_commit = committed  # type: ignore[method-assign,assignment]  # to see its end

    def _executed(self, *seen: Any) -> None:
        statement = seen[2]
        if self._since is None and (statement == "BEGIN IMMEDIATE" or "FOR NO KEY" in statement):
            self._since = time.perf_counter()


def openpyxl_reads(path: Path) -> None:
    workbook = load_workbook(path, read_only=True)
    for _ in workbook.worksheets[0].iter_rows(values_only=True):
        pass


def judged(path: Path) -> Iterator[Contact]:
    """One bare pass over the CSV: phones by the library, the form of e-mails, what came before."""
    seen: set[int] = set()
    with path.open(encoding="utf-8", newline="") as file:
        for first, last, email, phone, city, due in islice(csv.reader(file), 1, None):
            number = phonenumbers.parse(phone, "US")
            assert phonenumbers.is_possible_number(number)
            assert EMAIL.fullmatch(email)
            e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
            seen.add(hash((e164, email)))
            yield {
                "firstName": first,
                "lastName": last,
                "email": email,
                "phone": e164,
                "status": None,
                "contactMetadata": {"City": city, "Recall due": due},
            }


def bare_pass(path: Path) -> None:
    for _ in judged(path):
        pass


def bare_merge(url: str, folder: Path) -> None:
    floor = PostgresqlFloor(url) if url.startswith("postgresql") else SqliteFloor(folder)
    floor.prepare()
    contacts = judged(folder / "people.csv")
    while chunk := list(islice(contacts, 500)):
        floor.run(list({contact["phone"]: contact for contact in chunk}.values()))


def we_read(path: Path) -> None:
    with open_table(path) as table:
        for _ in table.rows():
            pass


def upload_of(database: Database) -> ContactImport:
    with database.transaction(read_only=True) as session:
        found = session.scalars(select(ContactImport)).one()
        session.expunge(found)
        return found


def we_check(url: str, folder: Path) -> Cost:
    database = Database(make_engine(url))
    locks, upload = Locks(database), upload_of(database)
    files = open_files(settings_for(url, folder))
    cost = measured(lambda: run_check(database, files, upload.id, upload.check_number))
    after = upload_of(database)
    assert after.state == "checked", after.failure
    return cost._replace(lock=locks.longest * 1000)


def we_apply(url: str) -> Cost:
    database = Database(make_engine(url))
    locks, upload = Locks(database), upload_of(database)
    cost = measured(lambda: run_apply(database, upload.id, upload.apply_number))
    assert upload_of(database).state == "done"
    return cost._replace(lock=locks.longest * 1000)


WORK: dict[str, Callable[..., Cost]] = {
    "openpyxl": lambda folder: measured(lambda: openpyxl_reads(Path(folder) / "people.xlsx")),
    "read": lambda folder: measured(lambda: we_read(Path(folder) / "people.xlsx")),
    "pass": lambda folder: measured(lambda: bare_pass(Path(folder) / "people.csv")),
    "merge": lambda folder, url: measured(lambda: bare_merge(url, Path(folder))),
    "check": lambda folder, url: we_check(url, Path(folder)),
    "apply": lambda _, url: we_apply(url),
}


def begun(work: str, *arguments: object) -> "subprocess.Popen[str]":
    """Some work in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.import_file", "--work", work, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def ended(process: "subprocess.Popen[str]") -> Cost:
    printed, _ = process.communicate()
    assert process.returncode == 0
    return Cost(*json.loads(printed))


class Portal(NamedTuple):
    """The product over one database with one uploaded file, and somebody who looks on."""

    database: Database
    admin: Caller
    client: FlaskClient
    page: str


def portal_of(url: str, folder: Path, file: Path) -> Portal:
    database = Database(make_engine(url))
    settings = settings_for(url, folder, rate_burst=100_000)
    with database.transaction() as session:
        tenant = make_tenant(session)
        admin = tenant.caller(Role.PARTNER_ADMIN)
        campaign = campaigns.create(session, admin, tenant.organization.id, name="Everybody")
        user = session.get_one(User, tenant.staff[Role.PARTNER_ADMIN].id)
        token = sessions.create(session, user, lifetime=timedelta(hours=9))
    with file.open("rb") as stream:
        kept = open_files(settings).save(stream, max_bytes=1 << 40)
    upsert = ContactAction.UPSERT
    with database.transaction() as session:
        uploads.create(session, admin, campaign.id, action=upsert, file=kept, file_name=file.name)
    client = create_app(settings, database).test_client()
    client.set_cookie(SESSION_COOKIE, token)
    return Portal(database, admin, client, f"/campaigns/{campaign.id}")


def look(portal: Portal) -> float:
    """Milliseconds of the campaign's page."""
    began = time.perf_counter()
    answer = portal.client.get(portal.page)
    assert answer.status_code == 200
    return (time.perf_counter() - began) * 1000


def watched(portal: Portal, process: "subprocess.Popen[str]") -> float:
    """The median of the page's milliseconds while a process runs."""
    looks = [look(portal)]
    while process.poll() is None:
        looks.append(look(portal))
        time.sleep(0.05)
    return statistics.median(looks)


def line(name: str, least: Cost, ours: Cost, goal: float, rest: str = "") -> None:
    figures = "{:6.2f} CPU s {:6.2f} s {:4.0f} MB"
    print(
        f"{name:24} floor {figures.format(*least)}   us {figures.format(*ours)}   "
        f"ratio {ours.cpu / least.cpu:4.2f}, in time {ours.seconds / least.seconds:4.2f}, "
        f"goal {goal}{rest}",
        flush=True,
    )


def compare(known: Databases, backend: str, folder: Path, kind: str, least: Cost) -> None:
    """One file into one database; ``least`` is what reading and judging it takes."""
    url, bare = known.create(backend), known.create(backend)
    portal = portal_of(url, folder, folder / f"people.{kind}")
    checking = ended(begun("check", folder, url))
    lock = f"   longest lock {checking.lock:.0f} ms"
    line(f"{backend} {kind} checking", least, checking, GOALS["checking"], lock)
    merge = ended(begun("merge", folder, bare))
    with portal.database.transaction() as session:
        upload = session.scalars(select(ContactImport)).one()
        steps.start_apply(session, portal.admin, upload.id)
    at_rest = statistics.median(look(portal) for _ in range(20))
    process = begun("apply", folder, url)
    meanwhile = watched(portal, process)
    applying = ended(process)
    rest = f"   longest lock {applying.lock:.0f} ms, the page "
    rest += f"{at_rest:.0f} ms at rest, {meanwhile:.0f} ms meanwhile"
    line(f"{backend} {kind} applying", merge, applying, GOALS["applying"], rest)
    portal.database.dispose()
    known.drop(url)
    known.drop(bare)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="*", default=SIZES)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", choices=BACKENDS)
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.work:
        print(json.dumps(WORK[chosen.work[0]](*chosen.work[1:])))
        return
    for count in [*chosen.rows, *([LARGEST] if chosen.all else [])]:
        print(f"{count:,} rows")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_files(folder, count)
            known = Databases(folder, folder)
            least = ended(begun("pass", folder))
            theirs, ours = (ended(begun(work, folder)) for work in ("openpyxl", "read"))
            line("xlsx reading", theirs, ours, GOALS["reading"])
            floors = {"csv": least, "xlsx": Cost(*map(sum, zip(theirs, least, strict=True)))}
            for backend in [chosen.only] if chosen.only else BACKENDS:
                for kind, floor in floors.items():
                    compare(known, backend, folder, kind, floor)
            known.close()


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent)
    main(sys.argv[1:])
