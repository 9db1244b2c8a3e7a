"""Processes start without the packages that little of their work needs."""

import subprocess
import sys

from app.config import ROOT

LATE = {
    "PIL": "pictures of a brand",
    "alembic": "migrations",
    "app.cli": "commands",
    "coloraide": "new shades of a brand",
    "css_inline": "mails",
    "dns": "lookups of the worker",
    "pyrage": "backups",
    "scim2_models": "directories",
    "segno": "the code of an authenticator app",
    "webauthn": "passkeys",
    "zxcvbn_rs_py": "new passwords",
}
FACES = {"app.api", "app.portal", "flask", "werkzeug", "wtforms"}


def imported_of(names: set[str], module: str) -> str:
    """Those of the names that are imported by a process that imports the module."""
    asked = f"import sys, {module}; print(sorted({names} & sys.modules.keys()))"
    command = [sys.executable, "-c", asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_rarely_used_libraries_are_imported_by_the_first_request_that_needs_them() -> None:
    assert imported_of(set(LATE), "app.factory") == "[]\n"


def test_a_worker_starts_without_web_code_and_rarely_used_libraries() -> None:
    assert imported_of(LATE.keys() | FACES, "app.jobs.worker") == "[]\n"
