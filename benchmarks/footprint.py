"""Memory, connections and CPU time of the running product, as `make run` starts it.

``python -m benchmarks.footprint [--pages N] [--setting NAME=VALUE]``. For each database: the
proportional set size (PSS, from ``/proc/*/smaps_rollup``) of the web processes together and of the
worker, after the start and after N pages and N calls of the API on eight connections; the CPU time
of a page in the whole web server; on PostgreSQL the connections that are open at the end.
``PORTAL_TEST_DATABASES=sqlite`` measures one database. Goals: 160 MB for the web processes, 110 MB
for the worker.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from http.client import HTTPConnection
from itertools import cycle, islice
from pathlib import Path

from sqlalchemy import select, text

from app.config import Settings
from app.database import Database, make_engine
from app.enums import Role
from app.factory import create_app
from app.models import User
from app.services.auth import sessions
from benchmarks.idle_worker import cpu_seconds, memory
from tests.fixtures.browser_session import give_session
from tests.fixtures.databases import BACKENDS, Databases
from tests.fixtures.stack import Stack

PAGES = (
    *("/", "/organizations", "/campaigns", "/calls", "/assistants", "/users", "/usage"),
    *("/report", "/notifications/bell", "/branding", "/audit", "/account"),
)
CONCURRENT_CLIENTS = 8


def cookie_of(stack: Stack, database: Database) -> str:
    """Return the cookie of a partner's administrator."""
    settings = Settings(instance_dir=stack.instance, env="test")
    with database.transaction() as session:
        admin = session.scalars(select(User).where(User.role == Role.PARTNER_ADMIN)).first()
        assert admin is not None
        token = sessions.create(session, admin, lifetime=timedelta(hours=1), host="127.0.0.1")
    client = create_app(settings, database).test_client()
    give_session(client, token)
    cookie = client.get_cookie("portal_session")
    assert cookie is not None
    return f"portal_session={cookie.value}"


def ask(stack: Stack, headers: Mapping[str, str], paths: list[str]) -> None:
    connection = HTTPConnection("127.0.0.1", stack.port, timeout=60)
    for path in paths:
        connection.request("GET", path, headers=dict(headers))
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, (path, answer.status)
    connection.close()


def ask_many(stack: Stack, headers: Mapping[str, str], count: int) -> None:
    with ThreadPoolExecutor(CONCURRENT_CLIENTS) as clients:
        paths = list(islice(cycle(PAGES), count // CONCURRENT_CLIENTS))
        for future in [
            clients.submit(ask, stack, headers, paths) for _ in range(CONCURRENT_CLIENTS)
        ]:
            future.result()


def measure(backend: str, stack: Stack, count: int) -> None:
    def say(label: str, figure: str) -> None:
        print(f"{backend:<12}{label:<28}{figure}", flush=True)

    def measure_memory(when: str) -> None:
        for kind, pids in stack.processes().items():
            each = ", ".join(f"{memory(pid).pss:.0f}" for pid in pids)
            total = sum(memory(pid).pss for pid in pids)
            say(f"{kind}, {when}", f"{total:6.0f} MB PSS ({each})")

    stack.wait_until_ready()
    database = Database(make_engine(stack.database_url))
    headers = {"Cookie": cookie_of(stack, database), "Accept-Encoding": "gzip"}
    time.sleep(5)
    measure_memory("after the start")
    ask_many(stack, headers, 200)
    web = stack.processes()["web"]
    before = sum(map(cpu_seconds, web))
    began = time.monotonic()
    ask_many(stack, headers, count)
    seconds = time.monotonic() - began
    spent = sum(map(cpu_seconds, web)) - before
    say("page", f"{1000 * spent / count:6.1f} ms of CPU, {count / seconds:.0f} a second")
    measure_memory(f"after {count:,} pages")
    if not database.is_sqlite:
        query = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        with database.transaction(read_only=True) as session:
            say("connections", f"{(session.scalar(query) or 1) - 1:6}")
    database.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.footprint")
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    environment = dict(each.split("=", 1) for each in options.setting)
    environment |= {"PORTAL_PAGE_RATE_PER_SECOND": "10000", "PORTAL_PAGE_RATE_BURST": "10000"}
    with tempfile.TemporaryDirectory() as name:
        databases = Databases(Path(name), Path(name))
        for backend in BACKENDS:
            folder = Path(name) / backend
            folder.mkdir(mode=0o700)
            stack = Stack(databases.create(backend), folder, environment)
            try:
                measure(backend, stack, options.pages)
            finally:
                stack.stop()
        databases.close()


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main()
