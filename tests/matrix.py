"""Which part of the full matrix runs today.

`make check` runs one part of each rotating axis, another every day; `make check-all` (which sets
``PORTAL_TEST_MATRIX=all``) runs all of them.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar
from zlib import crc32

DAY = "PORTAL_TEST_DAY"
"""The day's number, set once a run so that side-by-side processes agree at midnight too."""

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


def set_day() -> None:
    """Fixes the day for this process and those it starts."""
    os.environ.setdefault(DAY, str(datetime.now(UTC).date().toordinal()))


def rotating(axis: str, parts: Sequence[Part]) -> list[Part]:
    """All the parts in the full matrix, else the one whose turn it is today.

    For `pytest.mark.parametrize` and fixture params. Each axis starts at another offset, so that
    pairs of axes don't march in step.
    """
    if is_full():
        chosen[axis] = "all"
        return list(parts)
    turn = (int(os.environ[DAY]) + crc32(axis.encode())) % len(parts)
    chosen[axis] = f"{parts[turn]} ({turn + 1} of {len(parts)})"
    return [parts[turn]]
