"""The cost of row-level security: every screen and the bulk upsert, with it and without it.

``python -m benchmarks.row_level_security [USERS] [--rounds N] [--only PART]``. One PostgreSQL
database of two partners with this many users each. Both sides read the same data in turns: one as
the owner of the tables, bound by the policies, the other as an administrator who isn't, and without
declaring a scope. Goal: at most 1.15 x for all screens together, and for each step of the upsert.
"""

import argparse
import os
import statistics
import sys
import tempfile
from copy import copy
from pathlib import Path

from sqlalchemy import Connection, event

from app.database import Database, begin_in_scope, make_engine
from app.database.scope import of_tenant
from app.factory import create_app
from benchmarks.bulk_upsert import STEPS, Ours, measure
from benchmarks.pages import Portal, addresses, cost, is_page, portal_of
from benchmarks.report_and_usage import fill
from tests.fixtures.databases import Databases
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import make_tenant

USERS, ROUNDS, CONTACTS = 10_000, 7, 10_000
GOAL = 1.15
POSTGRES_ADMIN, COOKIE = "portal", "portal_session"


def begin_alone(connection: Connection) -> None:
    connection.connection.cursor().execute("BEGIN")


def unbound(bound: Portal, folder: Path) -> Portal:
    """Return the same portal over the same database, bypassing the policies."""
    url = bound.database.engine.url.set(username=POSTGRES_ADMIN)
    engine = make_engine(url)
    event.remove(engine, "begin", begin_in_scope)
    event.listen(engine, "begin", begin_alone)
    settings = settings_for(url.render_as_string(), folder, rate_burst=10_000)
    database = Database(engine)
    client = create_app(settings, database).test_client()
    cookie = bound.client.get_cookie(COOKIE)
    assert cookie is not None
    client.set_cookie(COOKIE, cookie.value)
    return Portal(client, database, bound.ids)


def compare_screens(bound: Portal, free: Portal, rounds: int, only: str) -> None:
    lines, with_it, without = [], 0.0, 0.0
    for name, path, _same in addresses(bound, free):
        if only not in name or not is_page(bound, path) or not is_page(free, path):
            continue
        times = [
            (cost(bound, path).milliseconds, cost(free, path).milliseconds) for _ in range(rounds)
        ]
        bound_ms, free_ms = (statistics.median(side) for side in zip(*times, strict=True))
        with_it, without = with_it + bound_ms, without + free_ms
        line = (
            f"{name[:60]:60} {bound_ms:7.1f} ms {free_ms:7.1f} ms  ratio {bound_ms / free_ms:5.2f}"
        )
        lines.append((bound_ms / free_ms, line))
    for _ratio, line in sorted(lines, reverse=True):
        print(line)
    print(f"{len(lines)} screens: {with_it:.0f} ms {without:.0f} ms {verdict(with_it / without)}")


def compare_upsert(bound: Database, free: Database, rounds: int) -> None:
    bound_upsert = Ours(bound)
    free_upsert = copy(bound_upsert)
    organization = bound_upsert.organization
    bound_upsert.database = bound.within(of_tenant(organization.partner_id, organization.id))
    free_upsert.database = free
    times = [
        (measure(bound_upsert, CONTACTS), measure(free_upsert, CONTACTS)) for _ in range(rounds)
    ]
    for position, step in enumerate(STEPS):
        with_it, without = (min(pair[side][position] for pair in times) for side in (0, 1))
        label = f"upsert of {CONTACTS}, {step}: {with_it * 1000:.0f} ms {without * 1000:.0f} ms"
        print(f"{label} {verdict(with_it / without)}")


def verdict(ratio: float) -> str:
    return f"ratio {ratio:.2f}{'' if ratio <= GOAL else '  OVER'}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.row_level_security")
    parser.add_argument("users", nargs="?", type=int, default=USERS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        url = databases.create("postgresql")
        with Database(make_engine(url)).transaction() as session:
            other_partner_id = make_tenant(
                session, "Southgate"
            ).partner.id  # slow in a database with rows
        bound = portal_of(url, folder, options.users)
        fill(bound.database, other_partner_id, options.users)
        free = unbound(bound, folder)
        compare_screens(bound, free, options.rounds, options.only)
        compare_upsert(bound.database, free.database, options.rounds)
        for portal in (bound, free):
            portal.database.dispose()
        databases.drop(url)
        databases.close()


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    main(sys.argv[1:])
