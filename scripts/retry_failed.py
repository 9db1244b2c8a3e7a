"""Run the few failed tests of a whole run again, alone; `make check` calls it.

A test that waits for processes can time out on a machine that is busy with other tests. One that
fails again fails the check. One that passes is named, to be investigated. A single such moment can
fail several tests that share a fixture.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FAILED = Path(".pytest_cache/v/cache/lastfailed")
GROUP = re.compile(r"@[^\]]*$")
"""The suffix that pytest-xdist adds to the name of a test that shares a worker with others."""
MAX_TESTS = 10
"""Maximum failed tests; if more fail, the machine isn't the reason."""


def main(status: int) -> int:
    """Return the exit status of the whole check, after a run that ended with ``status``."""
    kept = json.loads(FAILED.read_text()) if FAILED.exists() else {}
    failed = sorted(GROUP.sub("", name) for name in kept)
    if status != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= MAX_TESTS:
        return status
    print("These tests failed beside others and run again alone:", *failed, sep="\n  ", flush=True)
    again = subprocess.run([sys.executable, "-m", "pytest", *failed], check=False).returncode
    if again == 0:
        print("Each passed alone. Look into why it failed before.")
    return again


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1])))
