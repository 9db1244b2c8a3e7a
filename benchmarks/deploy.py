"""A new version is deployed on two hosts under load, while its migrations change a large table.

``python -m benchmarks.deploy [ROWS]`` fills a PostgreSQL database with so many contacts, starts the
previous version (this code) twice behind nginx and a worker, and then does what docs/operations.md
says: ``upgrade check``, ``migrate --expand``, worker and web processes one by one, ``migrate``. The
new version is a copy with three more migrations (a column, an index with a check, a dropped index)
and another style sheet. People read pages with their style sheets, scripts read and write contacts
all the time. It prints requests, failures, the slowest request and the longest wait for a lock that
keeps readers or writers waiting.

Goals: no failed request, none over 2 s, no lock over 500 ms.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url, text

from app.database import Database, make_engine
from app.enums import Role
from app.policy.caller import system_caller
from app.services import campaigns
from app.services.auth import passwords
from app.services.credentials import api_keys
from benchmarks.deploying.installation import Installation
from benchmarks.deploying.load import PAUSE_SECONDS, Load, LockWatch
from benchmarks.neighbour.partners import PASSWORD
from tests.fixtures.databases import POSTGRES_ADMIN, Databases
from tests.fixtures.tenants import make_tenant

ROWS = 1_000_000
SLOWEST_SECONDS, MAX_LOCK_SECONDS = 2.0, 0.5
REQUESTS_BEFORE, REQUESTS_AFTER = 200, 100
"""Requests while nothing is deployed."""
_FILL = text("""
    INSERT INTO contacts (id, organization_id, campaign_id, phone, search_name, created_at,
                          updated_at)
    SELECT gen_random_uuid(), :organization, :campaign, '+1' || (2000000000 + n), '', now(), now()
    FROM generate_series(1, :rows) AS n
""")


@dataclass(frozen=True, slots=True)
class Figures:
    """``slowest_before`` is the slowest request before the deploy began, which shows how busy the
    machine was; ``steps`` holds the seconds of each step."""

    requests: int
    failed: list[str]
    slowest_before: float
    slowest: float
    longest_lock: float
    sheets: int
    steps: dict[str, float]
    check: str

    @property
    def is_within_goals(self) -> bool:
        in_time = self.slowest <= SLOWEST_SECONDS and self.longest_lock <= MAX_LOCK_SECONDS
        return in_time and not self.failed


def deploy(databases: Databases, folder: Path, rows: int, pause: float = PAUSE_SECONDS) -> Figures:
    """Deploy the next version on a database with this many contacts; each thread of the load waits
    for ``pause`` seconds between two requests."""
    url = databases.create("postgresql")
    database = Database(make_engine(url))
    credentials = _fill(database, rows)
    installation = Installation(url, folder)
    address = make_url(url).set(drivername="postgresql", username=POSTGRES_ADMIN).render_as_string()
    steps: dict[str, float] = {}
    with (
        installation.running(),
        Load(installation.base_url, *credentials, pause) as load,
        LockWatch(address) as locks,
    ):
        load.wait_for(REQUESTS_BEFORE)
        before = max(load.seconds)
        check = installation.run("upgrade", "check")
        for name, do in (
            ("migrate --expand", lambda: installation.run("migrate", "--expand")),
            ("replace processes", lambda: installation.replace_processes(installation.new)),
            ("migrate", lambda: installation.run("migrate")),
        ):
            began = time.monotonic()
            do()
            steps[name] = time.monotonic() - began
        load.wait_for(REQUESTS_AFTER)
    with database.engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "9992"
        filled = text("SELECT count(*) FROM contacts WHERE greeting = 'Hello'")
        assert (connection.scalar(filled) or 0) >= rows
    database.dispose()
    databases.drop(url)
    slowest, request_count = max(load.seconds), len(load.seconds)
    return Figures(
        request_count, load.failed, before, slowest, locks.longest, len(load.sheets), steps, check
    )


def _fill(database: Database, rows: int) -> tuple[str, str, str]:
    """Fill the database; return the email of a partner's administrator, the key of a script and the
    campaign's id."""
    with database.transaction() as session:
        tenant = make_tenant(session)
        user = tenant.staff[Role.PARTNER_ADMIN]
        user.password_hash = passwords.hash_password(PASSWORD)
        organization = tenant.organization
        campaign = campaigns.create(
            session, tenant.caller(Role.PARTNER_ADMIN), organization.id, name="Everybody"
        )
        owner = system_caller("the owner", partner_id=tenant.partner.id)
        key = api_keys.create(session, owner, organization_id=organization.id, name="Script")
        session.flush()
        values = {"organization": organization.id, "campaign": campaign.id, "rows": rows}
        session.execute(_FILL, values)
        credentials = user.email, key.secret, str(campaign.id)
    with database.engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("VACUUM ANALYZE"))
    return credentials


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="benchmarks.deploy")
    options.add_argument("rows", nargs="?", type=int, default=ROWS)
    rows = options.parse_args(arguments).rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        databases = Databases(folder, folder)
        figures = deploy(databases, folder, rows)
        databases.close()
    print(figures.check)
    for step, seconds in figures.steps.items():
        print(f"{step:18} {seconds:6.1f} s")
    print(f"{rows:,} contacts: {figures.requests:,} requests, {len(figures.failed)} failed")
    print(f"slowest request {figures.slowest:.2f} s, goal {SLOWEST_SECONDS:.2f} s")
    print(f"  before the deploy {figures.slowest_before:.2f} s")
    print(f"longest lock    {figures.longest_lock:.2f} s, goal {MAX_LOCK_SECONDS:.2f} s")
    for line in figures.failed[:20]:
        print(line)
    return 0 if figures.is_within_goals else 1


if __name__ == "__main__":
    os.environ.setdefault("PORTAL_ENV", "test")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # all processes end
    sys.exit(main(sys.argv[1:]))
