"""A web process starts without the packages that few requests need."""

import subprocess
import sys

from app.config import ROOT

LATE = {
    "alembic": "migrations",
    "dns": "lookups of the worker",
    "scim2_models": "directories",
    "segno": "the code of an authenticator app",
    "webauthn": "passkeys",
}


def test_what_few_requests_need_is_imported_with_the_first_of_them() -> None:
    asked = f"import sys, app.factory; print(sorted({set(LATE)} & sys.modules.keys()))"
    command = [sys.executable, "-c", asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
