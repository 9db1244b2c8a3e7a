"""The wheel is the whole product: installed elsewhere, it migrates, serves pages and calls."""

import json
import os
import re
import site
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from scripts import build_tools, build_wheel
from tests.fixtures.ports import free_port
from tests.fixtures.stack import QUICK

ROOT = build_tools.ROOT
pytestmark = [pytest.mark.alternating, pytest.mark.product, pytest.mark.xdist_group("wheel")]


class InstalledWheel:
    """A virtual environment with the wheel, and an empty folder in which commands are started."""

    def __init__(self, wheel: Path, folder: Path):
        self.folder = folder / "elsewhere"
        self.folder.mkdir()
        self.prefix = folder / "venv"
        self.port = free_port()
        venv.create(self.prefix, symlinks=True)
        (packages,) = self.prefix.glob("lib/python*/site-packages")
        # The packages of the tests' environment in place of a download; the portal isn't in it.
        (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
        python = str(self.prefix / "bin" / "python")
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
        subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)

    def start(self, *words: str) -> subprocess.Popen[str]:
        own = {"PORTAL_PUBLIC_URL": f"http://127.0.0.1:{self.port}", **QUICK}
        left = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.Popen(
            [self.prefix / "bin" / "portal", *words],
            cwd=self.folder,
            env=left | own,
            stdout=subprocess.PIPE if words[0] in {"migrate", "demo"} else None,
            text=True,
        )

    def run(self, *words: str) -> dict[str, Any]:
        """The JSON that a command prints."""
        process = self.start(*words, "--json")
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        read: dict[str, Any] = json.loads(output)
        return read

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = json.dumps(body) if body is not None else None
        connection.request(method, path, sent, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        found = answer.status, answer.read()
        connection.close()
        return found

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            try:
                if self.ask("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.2)
        message = "the installed portal isn't ready"
        raise AssertionError(message)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build_tools.install()
    return build_wheel.build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def installed_wheel(wheel: Path, tmp_path: Path) -> InstalledWheel:
    return InstalledWheel(wheel, tmp_path)


@pytest.fixture
def running_wheel(
    installed_wheel: InstalledWheel,
) -> Iterator[tuple[InstalledWheel, dict[str, Any]]]:
    assert installed_wheel.run("migrate")["empty"] is True
    demo = installed_wheel.run("demo")
    processes = [
        installed_wheel.start("web", "--bind", f"127.0.0.1:{installed_wheel.port}"),
        installed_wheel.start("worker"),
    ]
    try:
        installed_wheel.wait_until_ready()
        yield installed_wheel, demo
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(timeout=60)


def test_the_wheel_has_what_runs_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    folders = ("app", "migrations", "supervisor", "static", "templates")
    tracked = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    expected = {path for path in tracked if not path.endswith(".po")}
    expected |= {"alembic.ini", "gunicorn.conf.py", "wsgi.py"}
    assert expected - names == set()
    built = json.loads((ROOT / "static" / "dist" / "manifest.json").read_text()).values()
    assert {f"static/dist/{name}" for name in built} - names == set()
    others = {name.partition("/")[0] for name in names} - {path.split("/")[0] for path in expected}
    assert {name for name in others if not name.startswith("partner_portal-")} == set()
    assert [name for name in names if name.endswith((".mo", ".pyc", ".po"))] == [
        name for name in names if name.endswith(".mo")
    ]
    assert sum(name.endswith(".mo") for name in names) == 3


@pytest.mark.alternating
def test_the_installed_portal_serves_pages_and_places_calls_from_any_folder(
    running_wheel: tuple[InstalledWheel, dict[str, Any]],
) -> None:
    portal, demo = running_wheel
    status, page = portal.ask("GET", "/sign-in")
    assets = set(re.findall(r'(?:href|src)="(/static/[^"#]+)', page.decode()))
    assert status == 200
    assert len(assets) > 2
    assert {portal.ask("GET", asset)[0] for asset in assets} == {200}

    organization = demo["partners"][0]["organizations"][0]
    ready = (each for each in organization["agents"] if each["active"] and each["phoneReady"])
    call = {
        "agentId": next(ready)["id"],
        "contact": {"phoneNumber": organization["simulator"]["human"], "firstName": "Max"},
        "introMessage": "Hello.",
        "voicemailMessage": "Hello.",
    }
    key = {"x-api-key": organization["apiKey"]}
    status, answer = portal.ask("POST", "/api/v1/outbound/call", call, **key)
    assert status in {200, 201, 202}, answer
    call_id = json.loads(answer)["callId"]
    deadline, state = time.monotonic() + 60, ""
    while state != "completed" and time.monotonic() < deadline:
        state = json.loads(portal.ask("GET", f"/api/v1/outbound/calls/{call_id}", **key)[1])[
            "status"
        ]
        time.sleep(0.1)
    assert state == "completed"

    written = {path.name for path in (portal.prefix / "instance").iterdir()}
    assert "demo.json" in written
    assert list(portal.folder.iterdir()) == []
