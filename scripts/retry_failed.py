"""Run the few failed tests of a whole run again, alone; `make check` calls it.

A test that waits for processes can time out on a machine that is busy with other tests. One that
fails again fails the check. One that passes alone is added to a list under version control: it may
hide a race, so it gets no second chance until it is repaired and its line removed. A single such
moment can fail several tests that share a fixture.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

FAILED = Path(".pytest_cache/v/cache/lastfailed")
PASSED_ALONE = Path("tests/passed_alone.txt")
GROUP = re.compile(r"@[^\]]*$")
"""The suffix that pytest-xdist adds to the name of a test that shares a worker with others."""
MAX_TESTS = 10
"""Maximum failed tests; if more fail, the machine isn't the reason."""


def main(status: int) -> int:
    """Return the exit status of the whole check, after a run that ended with ``status``."""
    last_failed = json.loads(FAILED.read_text()) if FAILED.exists() else {}
    failed = sorted(GROUP.sub("", name) for name in last_failed)
    if status != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= MAX_TESTS:
        return status
    listed = set(PASSED_ALONE.read_text().split())
    tests = {name.partition("[")[0] for name in failed}
    if repeated := sorted(listed & tests):
        print(f"These are in {PASSED_ALONE}, and failed again. Repair them:", *repeated, sep="\n  ")
        return status
    print("These tests failed beside others and run again alone:", *failed, sep="\n  ", flush=True)
    again = subprocess.run([sys.executable, "-m", "pytest", *failed], check=False).returncode
    if again == 0:
        PASSED_ALONE.write_text("".join(f"{name}\n" for name in sorted(listed | tests)))
        print(f"Each passed alone. Commit {PASSED_ALONE}, and look into why they failed before.")
    return again


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1])))
