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


def slow_tests(durations: str, minimum: float) -> list[str]:
    """Return the names of the tests whose cases take ``minimum`` seconds or more on average."""
    seconds: dict[str, float] = defaultdict(float)
    cases: dict[str, set[str]] = defaultdict(set)
    for took, test, case in LINE.findall(durations):
        seconds[test] += float(took)
        cases[test].add(case)
    return sorted(test for test in seconds if seconds[test] / len(cases[test]) >= minimum)


def write(test_list: TestList) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-vv",
        "--durations=0",
        "-n",
        str(test_list.processes),
    ]
    ran = subprocess.run(
        [*command, "-m", f"not ({test_list.left_out})", "tests"],
        check=False,
        cwd=ROOT,
        env=os.environ | {"PORTAL_TEST_DATABASES": test_list.databases},
        stdout=subprocess.PIPE,
        text=True,
    )
    if ran.returncode:
        raise SystemExit(ran.stdout)
    names = slow_tests(ran.stdout, test_list.seconds)
    (ROOT / "tests" / test_list.file).write_text("\n".join(names) + "\n")


if __name__ == "__main__":
    for each in LISTS:
        write(each)
