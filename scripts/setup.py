"""Prepares a fresh clone; does nothing if everything is in place already.

``setup.py run --port 8000`` for `make run`, ``setup.py wheel`` for a release, ``setup.py test`` for
the tests, and ``setup.py test-quick`` for those that need no Debian packages. Uses only Python's
standard library. Each step leaves a stamp with the hash of its inputs.
"""

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
NODE_WANTED = (18, 17)
LOCKS = {
    "run": ("requirements.lock", "requirements-pdf.lock"),
    "test": ("requirements-test.lock",),
}

DEBIAN_PACKAGES = {
    "chromium-headless-shell": ("usr/bin/chromium-headless-shell", "usr/bin/google-chrome"),
    "postgresql": ("usr/lib/postgresql/*/bin/postgres", "usr/bin/postgres"),
    "baresip-core": ("usr/bin/baresip",),
    "sip-tester": ("usr/bin/sipp",),
    "espeak-ng": ("usr/bin/espeak-ng",),
    "sox": ("usr/bin/sox",),
    "age": ("usr/bin/age",),
    "nginx-light": ("usr/sbin/nginx",),
    "systemd": ("usr/bin/systemd-analyze",),
    "pgbouncer": ("usr/sbin/pgbouncer",),
    "pgbackrest": ("usr/bin/pgbackrest",),
    "caddy": ("usr/bin/caddy",),
    "debootstrap": ("usr/sbin/debootstrap",),
}
"""Debian packages that the tests run: each package, with files of which any shows that it is
installed."""


def fail(message: str) -> NoReturn:
    print(message, file=sys.stderr, flush=True)
    raise SystemExit(1)


def work(title: str, command: list[str | Path], sentence: str) -> None:
    """Run a command and print how long it took; its output only if it fails. A terminal shows the
    current one."""
    began, show = time.monotonic(), sys.stdout.isatty()
    clear = "\r\033[K" if show else ""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        for line in process.stdout or ():
            output.write(line)
            if show:
                print(f"{clear}{title} … {line.strip()[:60]}", end="", flush=True)
        if process.wait() != 0:
            output.seek(0)
            print(f"{clear}{title} … failed\n{output.read()}", flush=True)
            fail(sentence)
    print(f"{clear}{title} … {time.monotonic() - began:.1f} s", flush=True)


def fingerprint(paths: Iterable[Path], *more: str) -> str:
    """Return one hash of these files' names and contents."""
    digest = hashlib.sha256("\n".join(more).encode())
    for path in sorted(paths):
        digest.update(f"\n{path.relative_to(ROOT)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(stamp: Path, expected: str) -> bool:
    return stamp.exists() and stamp.read_text() == expected


def check_port(text: str) -> None:
    """Refuse a busy port before minutes are spent on other steps."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 0 < int(text) < 65536:
        fail(f"PORT must be a number from 1 to 65535, not {text!r}.")
    port = int(text)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except PermissionError:
            fail(f"Port {port} may not be used by this account. Choose one above 1023.")
        except OSError:
            fallback = port + 1 if port < 65535 else 8000
            fail(
                f"Port {port} is taken by another program. Choose another: make run PORT={fallback}"
            )


def check_node() -> None:
    required = ".".join(map(str, NODE_WANTED))
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        missing = "Node.js" if node is None else "npm"
        fail(
            f"{missing} is needed to build the pages' assets: install Node.js {required} or newer."
        )
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    numbers = re.match(r"v(\d+)\.(\d+)", version.stdout)
    if numbers is None or tuple(map(int, numbers.groups())) < NODE_WANTED:
        installed = version.stdout.strip() or "one that does not start"
        fail(f"Node.js {required} or newer is needed; this is {installed}.")


def install_debian_packages() -> None:
    missing = [
        name
        for name, patterns in DEBIAN_PACKAGES.items()
        if not any(any(Path("/").glob(pattern)) for pattern in patterns)
    ]
    if not missing:
        return
    names = " ".join(missing)
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        fail(f"The tests need packages that are not installed: {names}. Install them, on Debian or "
             f"Ubuntu with: sudo apt-get install {names}")  # fmt: skip
    sentence = f"apt-get could not install {names}. Its words are above."
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    work("Package lists", [apt, "-o", "DPkg::Lock::Timeout=300", "update"], sentence)
    install: list[str | Path] = [apt, "-o", "DPkg::Lock::Timeout=300", "install", "-y"]
    work(f"Debian packages {names}", [*install, "--no-install-recommends", *missing], sentence)


def venv_version() -> str | None:
    """Return the version of the virtual environment's Python, None if it is unusable or too old."""
    ask = "import pip, sys; assert sys.version_info >= (3, 11); print(sys.version)"
    try:
        result = subprocess.run(
            [VENV_PYTHON, "-c", ask], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout


def install_python_packages(purpose: str) -> None:
    """Create the virtual environment with the pinned packages of ``purpose``."""
    if venv_version() is None:
        sentence = (
            "The virtual environment could not be made. On Debian and Ubuntu it needs the package "
            f"python{sys.version_info[0]}.{sys.version_info[1]}-venv."
        )
        make: list[str | Path] = [sys.executable, "-m", "venv", "--clear", VENV]
        work("Virtual environment in .venv", make, sentence)
    locks = [ROOT / name for name in LOCKS[purpose]]
    stamp, expected = VENV / f".installed-{purpose}", fingerprint(locks, venv_version() or "")
    if is_current(stamp, expected):
        return
    pip: list[str | Path] = [VENV_PYTHON, "-m", "pip", "install", "--disable-pip-version-check"]
    # Python compiles modules at their first import: half of the packages' size is never used.
    pip += ["--no-compile", "--progress-bar", "off", "--require-hashes"]
    for lock in locks:
        pip += ["-r", lock]
    sentence = "pip could not install the Python packages. Its words are above."
    work(f"Python packages of {' and '.join(LOCKS[purpose])}", pip, sentence)
    stamp.write_text(expected)


def compile_catalogues() -> None:
    """Compile the translations to the form that the portal reads."""
    folder = ROOT / "app" / "translations"
    stamp = ROOT / ".setup" / "catalogues"
    expected = fingerprint([*folder.rglob("*.po"), ROOT / "scripts" / "catalogues.py"])
    compiled = all(path.with_suffix(".mo").exists() for path in folder.rglob("*.po"))
    if compiled and is_current(stamp, expected):
        return
    sentence = "The translations could not be compiled. The reason is above."
    work("Translations", [VENV_PYTHON, "-m", "scripts.catalogues", "compile"], sentence)
    stamp.write_text(expected)


def prepare_python(purpose: str) -> None:
    install_python_packages(purpose)
    compile_catalogues()


def build_assets(purpose: str) -> None:
    """Build style sheets, scripts and icons, from npm into folders that git ignores. For the tests
    also the servers that they use."""
    modules, built = ROOT / "node_modules", ROOT / "static" / "dist"
    packages = [ROOT / "package.json", ROOT / "package-lock.json"]
    expected = fingerprint(packages)
    enough = {"run": ("run", "test"), "test": ("test",)}[purpose]
    if not any(is_current(modules / f".installed-{target}", expected) for target in enough):
        sentence = "npm could not install the front-end packages. Its words are above."
        install: list[str | Path] = ["npm", "ci", "--no-audit", "--no-fund"]
        work("Front-end packages", install + ["--omit=dev"] * (purpose == "run"), sentence)
        (modules / f".installed-{purpose}").write_text(expected)
    generated = {ROOT / "static" / "vendor", built}
    sources = [
        *packages,
        ROOT / "scripts" / "build_assets.mjs",
        *(ROOT / "templates").rglob("*.html"),
        *(ROOT / "app").rglob("*.py"),
        *(
            path
            for path in (ROOT / "static").rglob("*")
            if path.is_file() and generated.isdisjoint(path.parents)
        ),
    ]
    expected = fingerprint(sources)
    if not is_current(built / ".built", expected):
        sentence = "The front-end assets could not be built. The reason is above."
        work("Front-end assets", ["npm", "run", "build"], sentence)
        (built / ".built").write_text(expected)


def steps_of(purpose: str) -> list[Callable[[], None]]:
    """Return the steps that ``run``, ``wheel``, ``test`` or ``test-quick`` needs, in any order."""
    kind = {"test-quick": "test", "wheel": "run"}.get(purpose, purpose)
    steps: list[Callable[[], None]] = [
        partial(prepare_python, kind),
        partial(build_assets, kind),
    ]
    return [install_debian_packages, *steps] if purpose == "test" else steps


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("purpose", choices=[*LOCKS, "test-quick", "wheel"])
    parser.add_argument("--port", default="8000")
    options = parser.parse_args()
    if options.purpose == "run":
        check_port(options.port)
    check_node()
    (ROOT / ".setup").mkdir(exist_ok=True)
    with (ROOT / ".setup" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two of these at once would disturb each other
        with ThreadPoolExecutor() as side_by_side:
            for step in [side_by_side.submit(step) for step in steps_of(options.purpose)]:
                step.result()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
