"""Checks of the database and what is in it: migrations, connections, clock, worker, accounts."""

import socket
import time

from sqlalchemy import make_url, select, text

from app.backups import records
from app.commands.doctor_findings import Check, Finding, fail, ok, warn
from app.config import Settings
from app.database import Database
from app.database.connection_budget import budget
from app.enums import Role
from app.http.health import CHECKS, OK
from app.models import User
from app.services import installation

CONNECT_SECONDS = 5.0
SLOW_SECONDS = 0.1
MOST_CLOCK_SECONDS = 2.0
"""From here on a worker corrects the time for itself."""
LEAST_FREE_SHARE = 0.2
"""Of all connections that the server allows."""


def database(settings: Settings, database: Database) -> Finding:
    """Whether the database answers, and how quickly."""
    url = make_url(settings.effective_database_url)
    if url.host:
        try:
            socket.create_connection((url.host, url.port or 5432), CONNECT_SECONDS).close()
        except OSError as error:
            where = f"{url.host}:{url.port or 5432}"
            return fail(f"No connection to {where}: {error}. Check DATABASE_URL and the server.")
    with database.transaction(read_only=True) as session:
        began = time.monotonic()
        session.execute(select(1))
        seconds = time.monotonic() - began
        found = installation.database(session)
    summary = f"{found.kind} {found.version} answers in {seconds * 1000:.1f} ms"
    if seconds > SLOW_SECONDS:
        return warn(f"{summary}. Move it nearer to the portal, or look for what keeps it busy.")
    return ok(summary)


def migrations(_settings: Settings, database: Database) -> Finding:
    with database.transaction(read_only=True) as session:
        found = CHECKS["migrations"](session)
    if found != OK:
        return fail(f"{_sentence(found)} Run: flask --app wsgi migrate")
    return ok("up to date")


def connections(settings: Settings, database: Database) -> Finding:
    """Whether the server has connections to spare, now and for all planned processes at a peak, and
    the role is bound by the policies."""
    if database.is_sqlite:
        return ok("SQLite has no limit")
    with database.transaction(read_only=True) as session:
        most = int(session.scalar(text("SELECT current_setting('max_connections')")) or 0)
        reserved = int(
            session.scalar(text("SELECT current_setting('superuser_reserved_connections')")) or 0
        )
        used = int(session.scalar(text("SELECT count(*) FROM pg_stat_activity")) or 0)
        role = session.execute(
            text("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        ).one()
    summary = f"{used} of {most} connections are used"
    if most - used < most * LEAST_FREE_SHARE:
        return warn(f"{summary}. Raise max_connections of PostgreSQL, or start fewer processes.")
    processes = settings.planned_web_processes, settings.planned_workers
    planned = budget(*processes)
    if planned > most - reserved:
        return warn(
            f"{summary}. {processes[0]} web processes and {processes[1]} workers can open "
            f"{planned} at a peak. Set max_connections of PostgreSQL to {planned + reserved} or "
            "more, or plan fewer processes."
        )
    if any(role):
        return warn(
            f"{summary}. The role passes by row-level security: use one without SUPERUSER and, for "
            "web processes, without BYPASSRLS."
        )
    return ok(summary)


def database_clock(_settings: Settings, database: Database) -> Finding:
    """Whether this machine and the database agree on the time."""
    if database.is_sqlite:
        return ok("the database uses the clock of this machine")
    with database.transaction(read_only=True) as session:
        session.execute(select(1))
        before = time.time()
        there = float(session.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0)
        after = time.time()
    apart = there - (before + after) / 2
    summary = (
        f"the clock of the database is {abs(apart):.1f} s {'ahead' if apart > 0 else 'behind'}"
    )
    if abs(apart) > MOST_CLOCK_SECONDS + (after - before):
        return fail(f"{_sentence(summary)} Synchronize the clocks of both machines.")
    return ok(summary)


def worker(_settings: Settings, database: Database) -> Finding:
    with database.transaction(read_only=True) as session:
        found = CHECKS["worker"](session)
    if found != OK:
        return fail(f"{_sentence(found)} Start one: python -m app.jobs.worker")
    return ok("running")


def accounts(_settings: Settings, database: Database) -> Finding:
    """Whether an operator can sign in, and no password of the demo is in use."""
    with database.transaction(read_only=True) as session:
        demo, first = installation.demo_accounts(session)
        operator = session.scalar(select(User.id).where(User.role == Role.OPERATOR).limit(1))
    if demo:
        return warn(f"Demo accounts are in the database ({demo}, {first} first). Use another one.")
    if operator is None:
        return warn("There is no operator. Run: flask --app wsgi operator create you@example.com")
    return ok("an operator can sign in")


def backups(settings: Settings, database: Database) -> Finding:
    if settings.backup_dir is None:
        return warn("The worker makes no backups. Set PORTAL_BACKUP_DIR and the public key.")
    if not settings.backup_dir.is_dir():
        return fail(f"{settings.backup_dir} is not a folder. Create or mount it.")
    with database.transaction(read_only=True) as session:
        known = records.state(session)
        problem = known.last.problem if known.last else None
        is_overdue = known.is_overdue
    if problem:
        return fail(f"The last backup failed: {problem}")
    if is_overdue:
        return warn("No backup is younger than 26 hours. Run: flask --app wsgi backup create")
    return ok(f"up to date in {settings.backup_dir}")


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


DATABASE_CHECKS: dict[str, Check] = {
    "database": database,
    "migrations": migrations,
    "connections": connections,
    "time": database_clock,
    "worker": worker,
    "accounts": accounts,
    "backups": backups,
}
