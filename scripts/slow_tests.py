"""Write tests/slow_tests.txt: the tests that `make test-quick` leaves out, because a case of them
takes `SLOW_SECONDS` or more.

``python -m scripts.slow_tests`` runs for some minutes, on a machine that does nothing else.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict

from app.config import ROOT

SLOW_SECONDS = 0.07
LEFT_OUT_ANYWAY = "crash or crawl or product or debian or matrix or worker"
LINE = re.compile(r"^(\d+\.\d+)s (?:setup|call|teardown) +(\S+?)(\[.*\])?$", re.MULTILINE)
"""A line of pytest's durations: seconds, test, case."""


def slow_tests(durations: str) -> list[str]:
    """Return the names of the tests whose cases take `SLOW_SECONDS` or more on average."""
    seconds: dict[str, float] = defaultdict(float)
    cases: dict[str, set[str]] = defaultdict(set)
    for took, test, case in LINE.findall(durations):
        seconds[test] += float(took)
        cases[test].add(case)
    return sorted(test for test in seconds if seconds[test] / len(cases[test]) >= SLOW_SECONDS)


def main() -> None:
    asked = [sys.executable, "-m", "pytest", "-vv", "-n", "2", "--durations=0"]
    ran = subprocess.run(
        [*asked, "-m", f"not ({LEFT_OUT_ANYWAY})", "tests"],
        check=False,
        cwd=ROOT,
        env=os.environ | {"PORTAL_TEST_DATABASES": "sqlite"},
        stdout=subprocess.PIPE,
        text=True,
    )
    if ran.returncode:
        raise SystemExit(ran.stdout)
    (ROOT / "tests/slow_tests.txt").write_text("\n".join(slow_tests(ran.stdout)) + "\n")


if __name__ == "__main__":
    main()
