"""`make check` runs a few failed tests again, alone, and hides no failure."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.config import ROOT

PASSES_ALONE = """
import pathlib, pytest
@pytest.mark.xdist_group("one stack")
def test_it():
    seen = pathlib.Path(__file__).with_suffix(".seen")
    again = seen.exists()
    seen.touch()
    assert again
"""
FAILS = "def test_it():\n    assert False\n"
LISTED = "tests/passed_alone.txt"


def check(folder: Path, tests: list[str], workers: Sequence[str] = ()) -> tuple[int, str]:
    """Run the tests in a project of their own, then what failed; its status and its words."""
    (folder / "pytest.ini").touch()
    (folder / "tests").mkdir(exist_ok=True)
    (folder / LISTED).touch()
    for number, text in enumerate(tests):
        (folder / f"test_{number}.py").write_text(text)
    env = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", *workers]
    first = subprocess.run(command, cwd=folder, env=env, check=False)
    retry = [sys.executable, str(ROOT / "scripts/retry_failed.py"), str(first.returncode)]
    ran = subprocess.run(retry, cwd=folder, env=env, check=False, stdout=subprocess.PIPE, text=True)
    return ran.returncode, ran.stdout


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "1", "--dist", "loadgroup"]])
def test_a_test_that_passes_alone_passes_once_and_is_listed(
    tmp_path: Path, workers: list[str]
) -> None:
    status, words = check(tmp_path, [PASSES_ALONE], workers)
    assert status == 0
    assert "run again alone:\n  test_0.py::test_it\n" in words
    assert (tmp_path / LISTED).read_text() == "test_0.py::test_it\n"

    (tmp_path / "test_0.seen").unlink()
    status, words = check(tmp_path, [PASSES_ALONE], workers)
    assert status != 0
    assert words.endswith("failed again. Repair them:\n  test_0.py::test_it\n")


@pytest.mark.parametrize(
    "tests",
    [[FAILS], [PASSES_ALONE, FAILS], [PASSES_ALONE] * 11, ["import nothing_of_this_name\n"]],
    ids=["fails again", "one of two fails again", "too many", "no test could be read"],
)
def test_any_other_failure_stays_a_failure(tmp_path: Path, tests: list[str]) -> None:
    status, words = check(tmp_path, tests)
    assert status != 0
    assert "Each passed alone" not in words
    assert (tmp_path / LISTED).read_text() == ""
