"""The part of the full matrix that this run tests.

`make check` tests one part of each rotating axis, chosen by the commit, so that one commit has
one answer. `make check-all` (``PORTAL_TEST_MATRIX=all``) tests all of them. ``PORTAL_TEST_COMMIT``
names another commit to choose by.
"""

import os
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

COMMIT = "PORTAL_TEST_COMMIT"
"""The commit that chooses, set once per run so that parallel processes agree."""
NO_COMMIT = "0" * 40
"""The value that chooses if there is no Git."""

Part = TypeVar("Part")

chosen: dict[str, str] = {}
"""What `rotating` picked in this process, by axis; printed at the end of the run."""


def is_full() -> bool:
    """True in `make check-all`."""
    return os.environ.get("PORTAL_TEST_MATRIX") == "all"


def kills(quick: int) -> int:
    """How often a test kills at random: ``quick`` times in `make check`, 50 times in
    `make check-all`, and as often as `make crash` says."""
    return int(os.environ.get("PORTAL_TEST_KILLS", 50 if is_full() else quick))


def rounds(quick: int) -> int:
    """How often a race is run: ``quick`` times in `make check`, 200 times in `make check-all`."""
    return 200 if is_full() else quick


def current_commit(folder: Path) -> str:
    """Return the commit that ``folder`` has checked out, `NO_COMMIT` without Git."""
    try:
        asked = subprocess.run(
            ["git", "rev-parse", "--verify", "HEAD"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return NO_COMMIT
    return asked.stdout.strip()


def set_commit() -> None:
    """Fixes the commit for this process and those it starts."""
    if COMMIT not in os.environ:
        os.environ[COMMIT] = current_commit(Path(__file__).parent)


def number(axis: str) -> int:
    """Return a number of 32 bits that is the same wherever this commit is tested."""
    digest = sha256(f"{os.environ[COMMIT]} {axis}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def rotating(axis: str, parts: Sequence[Part]) -> list[Part]:
    """All the parts in the full matrix, else the one that the commit chooses.
    ``PORTAL_TEST_ALL_OF``, names with commas between them, selects all the parts of single axes.

    For `pytest.mark.parametrize` and fixture params.
    """
    if is_full() or axis in os.environ.get("PORTAL_TEST_ALL_OF", "").split(","):
        chosen[axis] = "all"
        return list(parts)
    turn = number(axis) % len(parts)
    chosen[axis] = f"{parts[turn]} ({turn + 1} of {len(parts)})"
    return [parts[turn]]
