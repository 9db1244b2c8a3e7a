"""See the package."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from app.config import ROOT
from scripts.guards.table import GUARDS, Guard

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".mypy_cache", ".setup", ".venv", "node_modules", "instance", "__pycache__"
)
MAX_UNNOTICED = 1
NOTICED, UNNOTICED = 1, 0
"""Exit codes of pytest; every other one means that the tests didn't run."""


def run(copy: Path, guard: Guard) -> int:
    """Remove the guard, run its tests, and restore it; return the exit code of pytest."""
    file = copy / guard.file
    source = file.read_text()
    if source.count(guard.text) != 1:
        message = f"{guard.file} doesn't hold the text of this guard exactly once: {guard.name}"
        raise SystemExit(message)
    file.write_text(source.replace(guard.text, guard.replacement))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    database = "postgresql" if "row_level_security" in guard.tests else "sqlite"
    try:
        return subprocess.run(
            [*command, *guard.tests.split()],
            check=False,
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "PORTAL_TEST_DATABASES": database},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ).returncode
    finally:
        file.write_text(source)


def main(terms: list[str]) -> int:
    selected = [guard for guard in GUARDS if not terms or any(term in guard.name for term in terms)]
    missed = []
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "portal"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
        for linked in (".venv", "node_modules"):
            if (ROOT / linked).exists():
                (copy / linked).symlink_to((ROOT / linked).resolve())
        for guard in selected:
            began = time.monotonic()
            code = run(copy, guard)
            verdict = {NOTICED: "noticed", UNNOTICED: "NOT NOTICED"}.get(code, f"FAILED ({code})")
            if code != NOTICED:
                missed.append(guard)
            print(f"{verdict:12} {time.monotonic() - began:5.0f} s  {guard.name}", flush=True)
    print(f"{len(selected) - len(missed)} of {len(selected)} guards were noticed.")
    return 0 if len(missed) <= MAX_UNNOTICED else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
