"""PgBouncer with ``deploy/pgbouncer/pgbouncer.ini``: web processes share few connections."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import make_url, text

from app.database import Database, make_engine
from app.database.scope import of_tenant
from app.enums import Role
from app.factory import create_app
from app.models import User, new_id
from app.services.auth import sessions
from tests.deploy.conftest import DEPLOY
from tests.fixtures.browser_session import give_session
from tests.fixtures.ports import free_port
from tests.fixtures.settings import settings_for
from tests.fixtures.tenants import make_tenant

SHARED = 2
"""Connections to PostgreSQL; the file has more."""
CLIENTS = 8

pytestmark = [
    pytest.mark.debian,
    pytest.mark.parametrize("backend", ["postgresql"], indirect=True),
]


class PgBouncer(NamedTuple):
    direct: Database
    pooled: Database
    url: str


@pytest.fixture
def pgbouncer(fresh_database: Database, tmp_path: Path) -> Iterator[PgBouncer]:
    url = make_url(fresh_database.engine.url)
    port = free_port()
    users = tmp_path / "users.txt"
    users.write_text(f'"{url.username}" ""\n')
    settings = (DEPLOY / "pgbouncer" / "pgbouncer.ini").read_text()
    for pattern, ours in (
        ("^portal = .*", f"{url.database} = host={url.host} port={url.port}"),
        ("^listen_port = .*", f"listen_port = {port}"),
        ("^auth_type = .*", "auth_type = trust"),
        ("^auth_file = .*", f"auth_file = {users}"),
        ("^default_pool_size = .*", f"default_pool_size = {SHARED}"),
    ):
        settings, count = re.subn(pattern, ours, settings, flags=re.MULTILINE)
        assert count == 1, pattern
    file = tmp_path / "pgbouncer.ini"
    file.write_text(settings)
    for readable in (tmp_path, *tmp_path.parents[:2]):  # by the account it runs under
        readable.chmod(0o755)
    account = ["-u", "nobody"] if os.geteuid() == 0 else []
    with subprocess.Popen(["pgbouncer", "-q", *account, str(file)]) as pooler:
        wait_for_port(port)
        address = url.set(port=port).render_as_string(hide_password=False)
        database = Database(make_engine(address, pool_size=CLIENTS))
        yield PgBouncer(fresh_database, database, address)
        database.dispose()
        pooler.terminate()


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    message = "PgBouncer did not start"
    raise AssertionError(message)


def seen_partner(database: Database) -> tuple[str, str, int]:
    """The partner whose rows a transaction sees, as declared and as found, and its connection."""
    partner_id = new_id()
    with database.within(of_tenant(partner_id, None)).transaction(read_only=True) as session:
        session.execute(text("SELECT pg_sleep(0.01)"))
        query = text("SELECT current_setting('app.partner_id'), pg_backend_pid()")
        found, connection = session.execute(query).one()
    return str(partner_id), str(found), int(connection)


def test_many_transactions_share_few_connections_and_each_keeps_its_scope(
    pgbouncer: PgBouncer,
) -> None:
    with ThreadPoolExecutor(CLIENTS) as threads:
        asked = [threads.submit(seen_partner, pgbouncer.pooled) for _ in range(100)]
        seen = [each.result() for each in asked]
    assert [found for _, found, _ in seen] == [declared for declared, _, _ in seen]
    assert len({connection for _, _, connection in seen}) <= SHARED
    with pgbouncer.pooled.engine.connect() as connection:
        left = connection.exec_driver_sql("SELECT current_setting('app.partner_id', true)")
        assert (left.scalar() or "") == ""


def test_pages_are_served_through_it(pgbouncer: PgBouncer, tmp_path: Path) -> None:
    with pgbouncer.direct.transaction() as session:
        tenant = make_tenant(session)
        user = session.get_one(User, tenant.staff[Role.PARTNER_ADMIN].id)
        token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
    app = create_app(settings_for(pgbouncer.url, tmp_path), pgbouncer.pooled)

    def statuses(_client: int) -> list[int]:
        client = app.test_client()
        give_session(client, token)
        return [client.get(path).status_code for path in ("/", "/organizations", "/usage")]

    with ThreadPoolExecutor(CLIENTS) as threads:
        assert list(threads.map(statuses, range(CLIENTS))) == [[200] * 3] * CLIENTS
