"""See the package."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

from app.config import ROOT
from scripts.security import packages, static, tools
from scripts.security.findings import Result

ROLES = "tests/contract/test_schemathesis_roles.py"


def schemathesis() -> Result:
    """Send random requests as each role; pytest prints the findings."""
    result = Result("schemathesis as each role")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", ROLES],
        check=False,
        cwd=ROOT,
        env=os.environ | {"PORTAL_TEST_ALL_OF": "schemathesis role"},
        capture_output=True,
        text=True,
    )
    if ended.returncode != 0:
        result.open.append(ended.stdout[-20_000:])
    return result


PARTS: tuple[Callable[[], Result], ...] = (
    static.bandit,
    static.samples,
    static.semgrep,
    *(partial(packages.pip_audit, lock) for lock in packages.PYTHON_LOCKS),
    packages.npm_audit,
    schemathesis,
)


def main() -> int:
    tools.install()
    rows = []
    for check in PARTS:
        began = time.monotonic()
        result = check()
        rows.append((result, time.monotonic() - began))
        for finding in result.open:
            print(finding, flush=True)
    print(f"{'Part':34} {'With a reason':>13} {'Seconds':>8}  Result")
    for result, seconds in rows:
        print(f"{result.part:34} {result.closed:13} {seconds:8.0f}  {result.verdict}")
    open_count = sum(len(result.open) for result, _ in rows)
    print(f"{open_count} open findings.")
    return 1 if open_count else 0


if __name__ == "__main__":
    raise SystemExit(main())
