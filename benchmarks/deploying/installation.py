"""Two hosts of an installation behind nginx, each with the code of a version."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from app.config import ROOT
from tests.fixtures.newer_version import write_migrations
from tests.fixtures.ports import free_port
from tests.fixtures.settings import SECRET_KEY
from tests.fixtures.stack import QUICK

STOP_DELAY_SECONDS = 2
READY_SECONDS = 180.0
CODE = ("app", "templates", "static", "migrations", "supervisor")
FILES = ("alembic.ini", "gunicorn.conf.py", "wsgi.py")
WEB = (sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app", "--bind")
WORKER = (sys.executable, "-m", "app.jobs.worker")
FLASK = (sys.executable, "-m", "flask", "--app", "wsgi")
SHEET = "css/app.css"
MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/portal.conf;
}}
"""


def next_version(folder: Path) -> Path:
    """Return a copy of the code with three more migrations and another style sheet."""
    for name in CODE:
        shutil.copytree(ROOT / name, folder / name)
    for name in FILES:
        shutil.copy2(ROOT / name, folder)
    write_migrations(folder)
    dist = folder / "static" / "dist"
    manifest = json.loads((dist / "manifest.json").read_text())
    before = manifest[SHEET]
    manifest[SHEET] = re.sub(r"\.\w{10}\.", ".0123456789.", before)
    for ending in ("", ".gz", ".br"):
        (dist / f"{before}{ending}").rename(dist / f"{manifest[SHEET]}{ending}")
    (dist / "manifest.json").write_text(json.dumps(manifest))
    return folder


class Installation:
    """The running processes. ``previous`` and ``new`` are folders with code."""

    def __init__(self, url: str, folder: Path):
        self.previous, self.new = ROOT, next_version(folder / "new")
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._environment = {
            **os.environ,
            **QUICK,
            "DATABASE_URL": url,
            "PORTAL_INSTANCE_DIR": str(folder / "instance"),
            "PORTAL_PUBLIC_URL": self.base_url,
            "PORTAL_SECRET_KEY": SECRET_KEY,
            "PORTAL_STOP_DELAY_SECONDS": str(STOP_DELAY_SECONDS),
            "PORTAL_WEB_WORKERS": "1",
        }
        self._ports = (free_port(), free_port())
        self._webs: list[subprocess.Popen[bytes]] = []
        self._worker: subprocess.Popen[bytes] | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the previous version on both hosts, and the proxy."""
        self._worker = self._start(self.previous, *WORKER)
        self._webs = [self._start_web(self.previous, port) for port in self._ports]
        proxy = self._start_proxy()
        try:
            for port in (*self._ports, self.port):
                self._wait_until_ready(port)
            yield
        finally:
            proxy.terminate()
            for process in (self._worker, *self._webs):
                process.terminate()
            for process in (self._worker, *self._webs, proxy):
                process.wait(timeout=60)

    def run(self, *arguments: str) -> str:
        """Run a command of the new version; return its output."""
        result = subprocess.run(
            [*FLASK, *arguments],
            cwd=self.new,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode <= 1, result.stderr
        return result.stdout

    def replace_processes(self, code: Path) -> None:
        """Replace first the worker, then one web process after the other, as docs/operations.md
        describes."""
        assert self._worker is not None
        _stop(self._worker)
        self._worker = self._start(code, *WORKER)
        for position, port in enumerate(self._ports):
            _stop(self._webs[position])
            self._webs[position] = self._start_web(code, port)
            self._wait_until_ready(port)

    def _wait_until_ready(self, port: int) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("GET", "/readyz/web")
                if connection.getresponse().status == 200:
                    return
            except (OSError, HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.1)
        message = f"port {port} is not ready:\n{(self._folder / 'output.log').read_text()}"
        raise RuntimeError(message)

    def _start_web(self, code: Path, port: int) -> subprocess.Popen[bytes]:
        return self._start(code, *WEB, f"127.0.0.1:{port}")

    def _start(self, code: Path, *command: str) -> subprocess.Popen[bytes]:
        with (self._folder / "output.log").open("ab") as output:
            return subprocess.Popen(
                command,
                cwd=code,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _start_proxy(self) -> subprocess.Popen[bytes]:
        """Start nginx with the example of this repository, without TLS."""
        text = (ROOT / "deploy" / "nginx" / "portal.conf").read_text()
        for original, replacement in {
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port};",
            "127.0.0.1:8000": f"127.0.0.1:{self._ports[0]}",
            "127.0.0.1:8001": f"127.0.0.1:{self._ports[1]}",
            "/var/log/nginx/portal.log": f"{self._folder}/access.log",
        }.items():
            assert text.count(original) == 1, original
            text = text.replace(original, replacement)
        plain = re.sub(r"^\s*ssl_.*\n", "", text, flags=re.MULTILINE)
        (self._folder / "portal.conf").write_text(plain)
        (self._folder / "nginx.conf").write_text(MAIN.format(folder=self._folder))
        command = ["/usr/sbin/nginx", "-p", str(self._folder), "-c", f"{self._folder}/nginx.conf"]
        return subprocess.Popen([*command, "-e", f"{self._folder}/error.log"])


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=90) == 0
