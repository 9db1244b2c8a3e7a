"""Write the lists of tests by how long a case of them takes.

`make test-quick` leaves out those in tests/slow_tests.txt. `make test` takes the quarter of both
lists that the commit chooses, `make check` a third of those in tests/long_tests.txt.

``python -m scripts.slow_tests`` runs for a quarter of an hour, on an otherwise idle machine.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass

from app.config import ROOT

LINE = re.compile(r"^(\d+\.\d+)s (?:setup|call|teardown) +(\S+?)(\[.*\])?(?:@.*)?$", re.MULTILINE)
"""A line of pytest's durations: seconds, test, case; behind `@` its group."""


@dataclass(frozen=True, slots=True)
class TestList:
    """The tests in ``file`` take at least ``seconds``, measured as they are usually run."""

    file: str
    seconds: float
    left_out: str
    processes: int
    databases: str = "sqlite postgresql"


LISTS = (
    TestList(
        "slow_tests.txt",
        0.07,
        "crash or crawl or product or debian or matrix or worker",
        processes=2,
        databases="sqlite",
    ),
    TestList("long_tests.txt", 1, "crash or crawl or product", processes=4),
)


def slow_tests(durations: str, least: float) -> list[str]:
    """Return the names of the tests whose cases take ``least`` seconds or more on average."""
    seconds: dict[str, float] = defaultdict(float)
    cases: dict[str, set[str]] = defaultdict(set)
    for took, test, case in LINE.findall(durations):
        seconds[test] += float(took)
        cases[test].add(case)
    return sorted(test for test in seconds if seconds[test] / len(cases[test]) >= least)


def write(wanted: TestList) -> None:
    asked = [sys.executable, "-m", "pytest", "-vv", "--durations=0", "-n", str(wanted.processes)]
    ran = subprocess.run(
        [*asked, "-m", f"not ({wanted.left_out})", "tests"],
        check=False,
        cwd=ROOT,
        env=os.environ | {"PORTAL_TEST_DATABASES": wanted.databases},
        stdout=subprocess.PIPE,
        text=True,
    )
    if ran.returncode:
        raise SystemExit(ran.stdout)
    names = slow_tests(ran.stdout, wanted.seconds)
    (ROOT / "tests" / wanted.file).write_text("\n".join(names) + "\n")


if __name__ == "__main__":
    for each in LISTS:
        write(each)
