"""`make run` reports each obstacle in one sentence before it changes anything."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
TAKEN = "Port {0} is taken by another program. Choose another: make run PORT={1}"
PYTHON_NEEDED = (
    "Python 3.11 or newer is needed ({found}). "
    "Install it, or name one: make PYTHON=/path/to/python3.11 …"
)


@pytest.fixture
def fresh_clone(tmp_path: Path) -> Path:
    """The files that a start reads first, in a folder where nothing has been installed."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    for name in ("Makefile", "package.json", "package-lock.json"):
        shutil.copy(ROOT / name, folder)
    for lock in ROOT.glob("requirements*.lock"):
        shutil.copy(lock, folder)
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A search path with the everyday programs, this Python, and neither Node nor npm."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "make", "dirname", "env"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    (folder / "python3").symlink_to(sys.executable)
    return folder


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def put(programs: Path, name: str, script: str) -> None:
    (programs / name).unlink(missing_ok=True)
    (programs / name).write_text(f"#!/bin/sh\n{script}\n")
    (programs / name).chmod(0o755)


def refusal(fresh_clone: Path, programs: Path, port: object = 8000) -> list[str]:
    """The sentences on stderr of a `make run` that must fail and leave nothing behind."""
    before = sorted(fresh_clone.rglob("*"))
    done = subprocess.run(
        ["make", "run", f"PORT={port}"],
        cwd=fresh_clone,
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert sorted(fresh_clone.rglob("*")) == before
    return [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]


def test_a_port_in_use_is_named(fresh_clone: Path, programs: Path, taken_port: int) -> None:
    sentence = TAKEN.format(taken_port, taken_port + 1)
    assert refusal(fresh_clone, programs, taken_port) == [sentence]


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "8000x", "٨٠"])
def test_an_invalid_port_is_refused(fresh_clone: Path, programs: Path, port: str) -> None:
    sentence = f"PORT must be a number from 1 to 65535, not {port!r}."
    assert refusal(fresh_clone, programs, port) == [sentence]


def test_a_missing_node_is_named(fresh_clone: Path, programs: Path) -> None:
    assert refusal(fresh_clone, programs, free_port()) == [
        "Node.js is needed to build the pages' assets: install Node.js 18.17 or newer."
    ]


def test_a_missing_npm_is_named(fresh_clone: Path, programs: Path) -> None:
    put(programs, "node", "echo v20.1.0")
    assert refusal(fresh_clone, programs, free_port()) == [
        "npm is needed to build the pages' assets: install Node.js 18.17 or newer."
    ]


@pytest.mark.parametrize("version", ["v16.20.2", "v18.16.1"])
def test_an_old_node_is_refused(fresh_clone: Path, programs: Path, version: str) -> None:
    put(programs, "node", f"echo {version}")
    put(programs, "npm", "exit 1")
    assert refusal(fresh_clone, programs, free_port()) == [
        f"Node.js 18.17 or newer is needed; this is {version}."
    ]


def test_a_missing_python_is_named(fresh_clone: Path, programs: Path) -> None:
    (programs / "python3").unlink()
    sentence = PYTHON_NEEDED.format(found="none is installed")
    assert refusal(fresh_clone, programs, free_port()) == [sentence]


def test_an_old_python_is_refused(fresh_clone: Path, programs: Path) -> None:
    put(programs, "python3", 'case "$2" in *exit*) exit 1;; *) echo "this is 3.6";; esac')
    sentence = PYTHON_NEEDED.format(found="this is 3.6")
    assert refusal(fresh_clone, programs, free_port()) == [sentence]


def test_a_port_taken_during_the_start_is_named(taken_port: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "supervisor", "--port", str(taken_port)],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    sentence = TAKEN.format(taken_port, taken_port + 1)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{sentence}\n")


def test_the_supervisor_needs_nothing_but_the_standard_library() -> None:
    without_packages = [sys.executable, "-S", "-c", "import supervisor.__main__"]
    assert subprocess.run(without_packages, cwd=ROOT, check=False).returncode == 0
