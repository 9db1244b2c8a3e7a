"""Checks of the database and what depends on it: migrations, connections, clock, worker, accounts,
files, backups."""

import socket
import time

from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from app.backups import records
from app.commands.doctor_findings import Check, DoctorFinding, fail, ok, warn
from app.config import Settings, database_urls
from app.database import Database, partitions
from app.database.connection_budget import budget
from app.database.sqlite_write_lock import lock_holders
from app.enums import Role
from app.errors import Unavailable
from app.gateways.files import open_files
from app.http.health import CHECKS, OK
from app.languages import capitalized
from app.models import User, utcnow
from app.services import file_identity, installation, workers

CONNECT_SECONDS = 5.0
SLOW_SECONDS = 0.1
MAX_CLOCK_SECONDS = 2.0
"""Difference of the clocks from which a worker corrects its time."""
MIN_FREE_SHARE = 0.2
"""Minimum share of free connections, of all that the server allows."""


def database(settings: Settings, database: Database) -> DoctorFinding:
    """Whether the database answers, and how quickly."""
    servers = database_urls.servers(settings.effective_database_url)
    silent = [problem for host_and_port in servers if (problem := _problem_of(*host_and_port))]
    if servers and len(silent) == len(servers):
        return fail(f"{'; '.join(silent)}. Check DATABASE_URL and the server.")
    with database.transaction(read_only=True) as session:
        began = time.monotonic()
        session.execute(select(1))
        seconds = time.monotonic() - began
        server = installation.database(session)
    summary = f"{server.kind} {server.version} answers in {seconds * 1000:.1f} ms"
    if silent:
        return warn(f"{summary}. {'; '.join(silent)}: nothing takes over if the others fail.")
    if seconds > SLOW_SECONDS:
        return warn(f"{summary}. Move it nearer to the portal, or look for what keeps it busy.")
    return ok(summary)


def _problem_of(host: str, port: int) -> str | None:
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError as error:
        return f"No connection to {host}:{port}: {error}"
    return None


def migrations(_settings: Settings, database: Database) -> DoctorFinding:
    with database.transaction(read_only=True) as session:
        state = CHECKS["migrations"](session)
    if state != OK:
        return fail(f"{_to_sentence(state)} Run: flask --app wsgi migrate")
    return ok("up to date")


def connections(settings: Settings, database: Database) -> DoctorFinding:
    """Whether the server has connections to spare, now and for all planned processes at a peak, and
    the role is bound by the policies."""
    if database.is_sqlite:
        return ok("SQLite has no limit")
    with database.transaction(read_only=True) as session:
        max_connections = int(
            session.scalar(text("SELECT current_setting('max_connections')")) or 0
        )
        reserved = int(
            session.scalar(text("SELECT current_setting('superuser_reserved_connections')")) or 0
        )
        used = int(session.scalar(text("SELECT count(*) FROM pg_stat_activity")) or 0)
        role = session.execute(
            text("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        ).one()
    summary = f"{used} of {max_connections} connections are used"
    if max_connections - used < max_connections * MIN_FREE_SHARE:
        return warn(f"{summary}. Raise max_connections of PostgreSQL, or start fewer processes.")
    processes = settings.planned_web_processes, settings.planned_workers
    planned = budget(*processes)
    if planned > max_connections - reserved:
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


def write_lock(_settings: Settings, database: Database) -> DoctorFinding:
    """Whether other processes let this one write: SQLite allows one writer at a time."""
    if not database.is_sqlite:
        return ok("PostgreSQL has none")
    try:
        with database.engine.begin():
            pass
    except OperationalError as error:
        pids = " ".join(map(str, lock_holders(str(database.engine.url.database))))
        if not pids:
            return fail(f"{error.orig}. Look for the process that writes, and end it.")
        return fail(
            f"Process {pids} keeps others from writing. If it hangs, end it: kill -9 {pids}. "
            "SQLite undoes what it has not committed."
        )
    return ok("passed on in time")


def database_clock(_settings: Settings, database: Database) -> DoctorFinding:
    """Whether this machine and the database agree on the time."""
    if database.is_sqlite:
        return ok("the database uses the clock of this machine")
    with database.transaction(read_only=True) as session:
        session.execute(select(1))
        before = time.time()
        database_time = float(
            session.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0
        )
        after = time.time()
    drift = database_time - (before + after) / 2
    summary = (
        f"the clock of the database is {abs(drift):.1f} s {'ahead' if drift > 0 else 'behind'}"
    )
    if abs(drift) > MAX_CLOCK_SECONDS + (after - before):
        return fail(f"{_to_sentence(summary)} Synchronize the clocks of both machines.")
    return ok(summary)


def worker(settings: Settings, database: Database) -> DoctorFinding:
    """Whether a worker runs, and each queue has one."""
    with database.transaction(read_only=True) as session:
        state = CHECKS["worker"](session)
        served = workers.by_queue(workers.listing(session, settings.worker_silent_seconds).online)
    if state != OK:
        return fail(f"{_to_sentence(state)} Start one: python -m app.jobs.worker")
    if unserved := workers.unserved_queues(served):
        return fail(
            f"No worker serves {', '.join(unserved)}. Name them in PORTAL_WORKER_QUEUES of a "
            "worker, or start one without this setting."
        )
    return ok("running")


def replica(settings: Settings, database: Database) -> DoctorFinding:
    """Whether the replica answers and is recent enough to be read at."""
    if not settings.replica_database_url:
        return ok("none is set")
    if database.replica is None:
        return fail("PORTAL_REPLICA_DATABASE_URL needs a database of PostgreSQL.")
    opened = database.replica.open(database.scope, 0)
    if opened is None:
        return warn("It doesn't answer, lags or isn't a standby. Pages are read at the primary.")
    opened.close()
    return ok("recent enough to be read at")


def months(_settings: Settings, database: Database) -> DoctorFinding:
    """Whether partitioned tables have the partition of the next month, and no rows outside of the
    monthly ones."""
    if database.is_sqlite:
        return ok("SQLite has no partitions")
    with database.transaction(read_only=True) as session:
        state = partitions.state(session.connection(), utcnow())
    if state.missing:
        tables = ", ".join(state.missing)
        return warn(f"{tables}: next month has no partition. Look for errors in the worker's log.")
    if state.strays:
        tables = ", ".join(state.strays)
        return warn(f"{tables}: rows fit no month. Compare the clocks of all machines.")
    return ok("each row and the next month have their partition")


def accounts(_settings: Settings, database: Database) -> DoctorFinding:
    """Whether an operator can sign in, and no password of the demo is in use."""
    with database.transaction(read_only=True) as session:
        demo, first = installation.demo_accounts(session)
        operator = session.scalar(select(User.id).where(User.role == Role.OPERATOR).limit(1))
    if demo:
        return warn(f"Demo accounts are in the database ({demo}, {first} first). Use another one.")
    if operator is None:
        return warn("There is no operator. Run: flask --app wsgi operator create you@example.com")
    return ok("an operator can sign in")


def file_store(settings: Settings, database: Database) -> DoctorFinding:
    """Whether the files are where all hosts have them."""
    store = open_files(settings)
    if database.is_sqlite and settings.files_folder is not None:
        return ok(f"{store.location}, for this host")
    with database.transaction(read_only=True) as session:
        expected = file_identity.identity(session)
    try:
        present = store.identity()
    except Unavailable:
        return fail(f"{store.location} can't be used. The log says why. Check PORTAL_FILES_….")
    if expected is None:
        return warn(f"No process has started with {store.location}. Start one, and run this again.")
    if present != expected:
        return fail(
            f"{store.location} isn't where the other hosts keep the files. Mount the shared "
            "folder, or set PORTAL_FILES_URL as there."
        )
    return ok(f"{store.location}, shared by all hosts")


def backups(settings: Settings, database: Database) -> DoctorFinding:
    if not settings.backup_place:
        return warn("The worker makes no backups. Set PORTAL_BACKUP_DIR and the public key.")
    if settings.backup_dir is not None and not settings.backup_dir.is_dir():
        return fail(f"{settings.backup_dir} is not a folder. Create or mount it.")
    with database.transaction(read_only=True) as session:
        state = records.state(session)
        problem = state.last.problem if state.last else None
        is_overdue = state.is_overdue
    if problem:
        return fail(f"The last backup failed: {problem}")
    if is_overdue:
        return warn("No backup is younger than 26 hours. Run: flask --app wsgi backup create")
    return ok(f"up to date in {settings.backup_place}")


def _to_sentence(phrase: str) -> str:
    return f"{capitalized(phrase)}."


DATABASE_CHECKS: dict[str, Check] = {
    "database": database,
    "migrations": migrations,
    "connections": connections,
    "write lock": write_lock,
    "time": database_clock,
    "worker": worker,
    "replica": replica,
    "months": months,
    "accounts": accounts,
    "file store": file_store,
    "backups": backups,
}
