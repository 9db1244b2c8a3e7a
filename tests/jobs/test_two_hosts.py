"""Two hosts with an instance folder each, one database and one bucket: no upload is lost."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from html import unescape
from pathlib import Path
from uuid import UUID

import pytest
import requests
from sqlalchemy import select

from app.config import ROOT
from app.database import Database
from app.enums import ImportStatus, Role
from app.factory import create_app
from app.models import ContactImport
from app.services import campaigns
from app.services.auth import sessions
from tests import matrix
from tests.fixtures.browser_session import give_session
from tests.fixtures.ports import free_port
from tests.fixtures.s3_server import S3Server
from tests.fixtures.settings import SECRET_KEY, settings_for, url_of
from tests.fixtures.tenants import make_tenant
from tests.fixtures.worker import Worker, wait_until

UPLOADS = 100 if matrix.is_full() else 12
CONCURRENT_BROWSERS = 4
START_LIMIT = 300.0
WAIT_LIMIT = 600.0

pytestmark = [
    pytest.mark.alternating,
    pytest.mark.crash,
    pytest.mark.worker,
    pytest.mark.parametrize("backend", ["postgresql"], indirect=True),
]


class Host:
    """A web server with an instance folder of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]):
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self._environment = {**os.environ, **environment, "PORTAL_INSTANCE_DIR": str(folder)}
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
        return subprocess.Popen(
            [*command, "--bind", f"127.0.0.1:{self.port}"],
            cwd=ROOT,
            env=self._environment,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def is_serving(self) -> bool:
        with suppress(requests.ConnectionError):
            return requests.get(f"{self.url}/healthz", timeout=5).status_code == 200
        return False

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def restart(self) -> None:
        self.kill()
        self.process = self._start()
        wait_until(self.is_serving, START_LIMIT)


class TwoHosts:
    """The hosts, and a user's signed-in browser."""

    def __init__(self, database: Database, folder: Path, files: dict[str, str]):
        self.database = database
        self.environment = {
            "DATABASE_URL": url_of(database),
            "PORTAL_ENV": "test",
            "PORTAL_SECRET_KEY": SECRET_KEY,
            "PORTAL_PUBLIC_URL": "http://localhost",
            "PORTAL_WEB_WORKERS": "1",
            "PORTAL_WEB_THREADS": "4",
            "PORTAL_RATE_PER_SECOND": "10000",
            "PORTAL_RATE_BURST": "10000",
            **files,
        }
        with database.transaction() as session:
            tenant = make_tenant(session)
            caller = tenant.caller(Role.PARTNER_ADMIN)
            made = campaigns.create(session, caller, tenant.organization.id, name="Winter recall")
            user = tenant.staff[Role.PARTNER_ADMIN]
            token = sessions.create(session, user, lifetime=timedelta(hours=1), host="localhost")
            self.page = f"/campaigns/{made.id}/upload"
        app = create_app(settings_for(url_of(database), folder / "browser"), database)
        client = app.test_client()
        give_session(client, token)
        name = app.config["SESSION_COOKIE_NAME"]
        cookie = client.get_cookie(name)
        assert cookie is not None
        self._cookies: dict[str, str] = {name: cookie.value}
        self.hosts = [Host(folder / name, self.environment) for name in ("host1", "host2")]

    def close(self) -> None:
        for host in self.hosts:
            host.kill()

    def upload(self, number: int) -> UUID:
        """Upload a file at one host, or at the other while the first doesn't answer, as behind a
        load balancer."""
        end = time.monotonic() + WAIT_LIMIT
        for attempt in range(number, number + 10_000):
            assert time.monotonic() < end, "no host accepts the upload"
            with suppress(requests.RequestException):
                answer = self._send(self.hosts[attempt % 2], number)
                if answer.status_code == 303:
                    return UUID(answer.headers["Location"].rpartition("/")[2])
                assert answer.status_code >= 500, (answer.status_code, answer.text)
            time.sleep(0.1)
        raise AssertionError

    def _send(self, host: Host, number: int) -> requests.Response:
        page = requests.get(host.url + self.page, cookies=self._cookies, timeout=60)
        hidden = re.findall(r'<input[^>]* type="hidden"[^>]*>', page.text)
        fields = {_attribute(each, "name"): _attribute(each, "value") for each in hidden}
        content = f"Name,Phone\nAnn {number},+1202555{1000 + number}\n"
        return requests.post(
            host.url + self.page,
            cookies=self._cookies | {each.name: each.value or "" for each in page.cookies},
            data={**fields, "action": "upsert"},
            files={"file": (f"people-{number}.csv", content.encode())},
            allow_redirects=False,
            timeout=60,
        )

    def states(self) -> dict[UUID, ImportStatus]:
        with self.database.transaction(read_only=True) as session:
            rows = session.execute(select(ContactImport.id, ContactImport.status))
            return {row[0]: row[1] for row in rows}


def _attribute(tag: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return unescape(found.group(1)) if found else ""


@pytest.fixture
def two_hosts(fresh_database: Database, tmp_path: Path, s3_server: S3Server) -> Iterator[TwoHosts]:
    made = TwoHosts(fresh_database, tmp_path, s3_server.environment(tmp_path.name))
    try:
        for host in made.hosts:
            wait_until(host.is_serving, START_LIMIT)
        yield made
    finally:
        made.close()


def test_every_accepted_upload_is_checked_while_hosts_are_killed(
    two_hosts: TwoHosts, tmp_path: Path
) -> None:
    worker = Worker(
        two_hosts.database, **two_hosts.environment, PORTAL_INSTANCE_DIR=str(tmp_path / "worker")
    )
    done = threading.Event()

    def kill_hosts() -> None:
        chosen = random.Random(matrix.number("hosts to kill"))
        while not done.is_set():
            chosen.choice(two_hosts.hosts).restart()
            done.wait(chosen.uniform(1, 4))

    killer = threading.Thread(target=kill_hosts)
    worker.start()
    try:
        killer.start()
        with ThreadPoolExecutor(CONCURRENT_BROWSERS) as browsers:
            accepted = list(browsers.map(two_hosts.upload, range(UPLOADS)))
        done.set()
        killer.join()
        waiting = {ImportStatus.UPLOADED, ImportStatus.READING}
        wait_until(lambda: not waiting & set(two_hosts.states().values()), WAIT_LIMIT)
    finally:
        done.set()
        worker.close()
    states = two_hosts.states()
    assert [states[each] for each in accepted] == [ImportStatus.CHECKED] * UPLOADS
    assert len(set(accepted)) == UPLOADS


def test_a_host_with_its_own_folder_stops_with_a_sentence(
    fresh_database: Database, tmp_path: Path
) -> None:
    two_hosts = TwoHosts(fresh_database, tmp_path, {})
    try:
        wait_until(
            lambda: any(host.process.poll() is not None for host in two_hosts.hosts), START_LIMIT
        )
        [refused] = [host for host in two_hosts.hosts if host.process.poll() is not None]
        [other] = [host for host in two_hosts.hosts if host is not refused]
        wait_until(other.is_serving, START_LIMIT)
        assert refused.process.stderr is not None
        message = refused.process.stderr.read().decode()
        assert "isn't where this installation keeps its files" in message
        assert refused.process.wait() != 0
    finally:
        for host in two_hosts.hosts:
            if host.process.poll() is None:
                host.kill()
