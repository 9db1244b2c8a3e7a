"""``flask doctor``: what it says of each thing that can be wrong, and its exit code."""

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool
from werkzeug.serving import make_server

from app import disk_space
from app.commands.doctor import CHECKS
from app.config import Settings
from app.database import Database, sqlite_write_lock
from app.database.connection_budget import WORKER_LEDGER, max_of_worker
from app.database.migration import head
from app.database.partitions import KEYS
from app.factory import install_extensions
from app.gateways import certificates
from app.gateways.job_queue import QUEUES, make_queue_engine
from app.jobs.context import open_context
from app.models import Mail, WorkerHeartbeat, utcnow
from app.private_files import keep_private
from app.services import workers
from app.services.users import operators
from tests.fixtures.certificate import write_certificate
from tests.fixtures.clock import SetClock
from tests.fixtures.hung_process import WRITER, hung
from tests.fixtures.mail_server import SmtpServer
from tests.fixtures.ports import free_port
from tests.fixtures.settings import settings_for, url_of
from tests.fixtures.small_disk import MB, small_disk
from tests.fixtures.tenants import OPERATOR

MakeApp = Callable[..., Flask]


def findings(app: Flask, *checks: str) -> dict[str, tuple[str, str]]:
    """The state and text of these checks; the others are skipped."""
    skipped = [word for name in CHECKS if name not in checks for word in ("--skip", name)]
    result = app.test_cli_runner().invoke(args=["doctor", "--json", *skipped])
    answer: dict[str, Any] = json.loads(result.stdout)
    found = {name: (each["state"], each["text"]) for name, each in answer["checks"].items()}
    is_healthy = all(state != "fail" for state, _text in found.values())
    assert (answer["healthy"], result.exit_code) == (is_healthy, 0 if is_healthy else 1)
    return found


@contextmanager
def served(app: Flask, port: int, certificate: Path | None = None) -> Iterator[None]:
    """The application behind a real port, with TLS if there is a certificate."""
    tls = (str(certificate), str(certificate)) if certificate else None
    server = make_server("localhost", port, app, ssl_context=tls)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_each_check_has_a_line_and_failures_set_the_exit_code(app: Flask) -> None:
    args = ["doctor", *(w for name in CHECKS if name != "worker" for w in ("--skip", name))]
    result = app.test_cli_runner().invoke(args=args)
    assert (result.exit_code, result.output) == (
        1,
        "fail  worker       No worker is running. Start one: python -m app.jobs.worker\n",
    )


def test_a_new_installation_lacks_an_operator_backups_and_mail(app: Flask) -> None:
    assert findings(app, "settings", "migrations", "accounts", "backups", "mail") == {
        "settings": ("warn", "PORTAL_ENV is test. Set PORTAL_ENV=production to serve users."),
        "migrations": ("ok", "up to date"),
        "accounts": (
            "warn",
            "There is no operator. Run: flask --app wsgi operator create you@example.com",
        ),
        "backups": (
            "warn",
            "The worker makes no backups. Set PORTAL_BACKUP_DIR and the public key.",
        ),
        "mail": ("warn", "Mails stay in the outbox folder. Set PORTAL_SMTP_URL to send them."),
    }


def test_a_worker_and_an_operator_are_found(app: Flask, session: Session) -> None:
    operators.create(session, OPERATOR, email="ops@portal.org", name=None, password_hash="x")
    beat = WorkerHeartbeat(executor_id=str(uuid4()), hostname="here", pid=7, beat_at=utcnow())
    session.add(beat)
    session.commit()
    assert findings(app, "worker", "accounts") == {
        "worker": ("ok", "running"),
        "accounts": ("ok", "an operator can sign in"),
    }


def test_queues_that_no_worker_serves_fail(app: Flask, session: Session) -> None:
    served = [name for name in QUEUES if name not in ("imports", "exports")]
    workers.announce(session, "one", served)
    session.commit()
    words = (
        "No worker serves imports, exports. Name them in PORTAL_WORKER_QUEUES of a worker, or "
        "start one without this setting."
    )
    assert findings(app, "worker") == {"worker": ("fail", words)}


def test_demo_accounts_are_named(app: Flask, session: Session) -> None:
    operators.create(session, OPERATOR, email="ops@demo.example", name=None, password_hash="x")
    session.commit()
    words = "Demo accounts are in the database (1, ops@demo.example first). Use another one."
    assert findings(app, "accounts") == {"accounts": ("warn", words)}


def test_files_that_others_can_read_fail_and_keep_their_modes(app: Flask, tmp_path: Path) -> None:
    before = os.umask(0o022)
    keep_private(app.extensions["settings"])
    os.umask(before)
    assert findings(app, "files") == {"files": ("ok", f"{tmp_path} is private and can be written")}
    tmp_path.chmod(0o755)
    words = f"Other accounts can read {tmp_path} (mode 755). Run: chmod 700 {tmp_path}"
    assert findings(app, "files") == {"files": ("fail", words)}
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_an_old_schema_says_what_to_run(app: Flask, session: Session) -> None:
    session.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    session.commit()
    words = (
        f"The database is at migration 0001, this version needs {head()}. "
        "Run: flask --app wsgi migrate"
    )
    assert findings(app, "migrations") == {"migrations": ("fail", words)}


def test_the_database_answers_and_agrees_on_the_time(app: Flask, backend: str) -> None:
    found = findings(app, "database", "time", "disk")
    kind = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[backend]
    assert {name: state for name, (state, _) in found.items()}["time"] == "ok"
    assert found["database"][0] in ("ok", "warn")  # slow where the machine is busy
    assert found["database"][1].startswith(f"{kind} ")


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_process_that_hangs_while_it_writes_is_named(
    app: Flask, fresh_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = url_of(fresh_database)
    install_extensions(app, settings_for(url, tmp_path), fresh_database)
    monkeypatch.setattr(sqlite_write_lock, "WAIT_SECONDS", 0.5)
    assert findings(app, "write lock") == {"write lock": ("ok", "passed on in time")}
    with hung(WRITER, url) as process:
        words = (
            f"Process {process.pid} keeps others from writing. If it hangs, end it: "
            f"kill -9 {process.pid}. SQLite undoes what it has not committed."
        )
        assert findings(app, "write lock") == {"write lock": ("fail", words)}
    assert findings(app, "write lock") == {"write lock": ("ok", "passed on in time")}


def test_each_file_system_is_checked_once(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_space, "LOW_FREE_BYTES", 0)
    monkeypatch.setattr(disk_space, "MIN_FREE_BYTES", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with small_disk(tmp_path / "disk", megabytes=96) as disk:
        if disk is None:
            pytest.skip("only root can mount a disk")
        backups = {"backup_dir": disk.folder / "daily", "backup_public_key": "age1x"}
        app = make_app(**backups)
        instance = app.extensions["settings"].instance_dir.resolve()
        free = f"{shutil.disk_usage(instance).free / 10**9:,.1f} GB free at {instance}"
        both = f"{free}, 0.1 GB free at {disk.folder}"
        assert findings(app, "disk") == {"disk": ("ok", both)}
        monkeypatch.setattr(disk_space, "MIN_FREE_BYTES", 200 * MB)
        words = f"0.1 GB free at {disk.folder}. Free space, or move the folder to a larger disk."
        assert findings(app, "disk") == {"disk": ("fail", words)}


@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_rows_without_a_month_and_a_missing_month_are_reported(
    app: Flask, session: Session, clock: SetClock
) -> None:
    clock.set(f"{datetime.now(UTC):%Y-%m-%dT%H:%M}")
    assert findings(app, "months")["months"] == (
        "ok",
        "each row and the next month have their partition",
    )
    session.add(Mail(id=UUID(int=2**128 - 1), kind="x"))
    session.commit()
    assert findings(app, "months")["months"] == (
        "warn",
        "mails: rows fit no month. Compare the clocks of all machines.",
    )
    clock.set(f"{datetime.now(UTC) + timedelta(days=100):%Y-%m-%dT%H:%M}")
    assert findings(app, "months")["months"] == (
        "warn",
        f"{', '.join(KEYS)}: next month has no partition. Look for errors in the worker's log.",
    )


def test_planned_processes_may_need_more_connections_than_the_server_allows(
    make_app: MakeApp, backend: str
) -> None:
    app = make_app(planned_web_processes=100, planned_workers=2)
    state, words = findings(app, "connections")["connections"]
    if backend == "sqlite":
        assert (state, words) == ("ok", "SQLite has no limit")
        return
    assert state == "warn"
    assert "100 web processes and 2 workers can open 1863 at a peak. Set max_connections" in words


def test_the_planned_connections_are_those_that_the_pools_open(
    settings: Settings, backend: str
) -> None:
    if backend == "sqlite":
        pytest.skip("the budget is for PostgreSQL")
    context = open_context(settings)
    engines = [
        context.database.engine,
        context.relaxed_database.engine,
        context.bulk_database.engine,
    ]
    engines += [make_queue_engine(settings.effective_database_url)]
    pools = [engine.pool for engine in engines]
    opened = sum(pool.size() + pool._max_overflow for pool in pools if isinstance(pool, QueuePool))
    ledger = 2 * WORKER_LEDGER
    assert max_of_worker() == opened + ledger + 1  # and the one that listens


def test_too_little_free_space_fails(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.disk_space.MIN_FREE_BYTES", 10**18)
    state, words = findings(app, "disk")["disk"]
    assert state == "fail"
    assert words.endswith("Free space, or move the folder to a larger disk.")


def test_a_name_that_is_not_found_fails(make_app: MakeApp) -> None:
    app = make_app(smtp_url="smtp://mail.invalid")
    words = (
        "mail.invalid: DNS lookup failed for mail.invalid. Check the name, and /etc/resolv.conf "
        "of this machine."
    )
    assert findings(app, "names") == {"names": ("fail", words)}


def test_checking_the_mail_server_sends_no_mail(make_app: MakeApp) -> None:
    post = SmtpServer()
    with post.open() as port:
        app = make_app(smtp_url=f"smtp://127.0.0.1:{port}", mail_from="no-reply@portal.org")
        assert findings(app, "mail") == {
            "mail": ("ok", "the server accepts mail from no-reply@portal.org")
        }
    assert post.messages == []
    state, words = findings(app, "mail")["mail"]
    assert state == "fail"
    assert words.endswith("Check PORTAL_SMTP_URL and the server.")


def test_callbacks_must_reach_the_portal(make_app: MakeApp) -> None:
    port = free_port()
    app = make_app(
        public_url=f"http://localhost:{port}", twilio_account_sid="AC1", twilio_auth_token="x"
    )
    with served(app, port):
        assert findings(app, "address", "callbacks", "certificate") == {
            "address": ("ok", f"http://localhost:{port} answers"),
            "callbacks": (
                "ok",
                "/carrier/ reaches the portal and refuses callbacks without a signature",
            ),
            "certificate": ("warn", "The public address uses http. Serve it over https."),
        }
    assert {name: state for name, (state, _) in findings(app, "address", "callbacks").items()} == {
        "address": "fail",
        "callbacks": "fail",
    }


@pytest.mark.parametrize(
    ("ends_in", "is_trusted", "state", "start"),
    [
        (timedelta(days=90), True, "ok", "valid until 2"),
        (timedelta(days=3), True, "warn", "It ends on 2"),
        (timedelta(days=-1), True, "fail", "It can't be trusted: certificate has expired. Renew"),
        (timedelta(days=90), False, "fail", "It can't be trusted: self-signed certificate. Renew"),
    ],
    ids=["valid", "ends soon", "has ended", "unknown authority"],
)
def test_the_certificate_is_checked_as_browsers_do(
    make_app: MakeApp,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends_in: timedelta,
    is_trusted: bool,
    state: str,
    start: str,
) -> None:
    pem, port = write_certificate(tmp_path, ends_in=ends_in), free_port()
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    app = make_app(public_url=f"https://localhost:{port}")
    with served(app, port, pem):
        found, words = findings(app, "certificate")["certificate"]
    assert (found, words[: len(start)]) == (state, start)


def test_a_proxy_that_accepts_a_connection_and_is_silent_is_named_as_timed_out(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "CONNECT_SECONDS", 0.1)
    with socket.create_server(("localhost", 0)) as silent:
        port = silent.getsockname()[1]
        found = findings(make_app(public_url=f"https://localhost:{port}"), "certificate")
    assert found["certificate"][0] == "fail"
    assert "timed out" in found["certificate"][1]
