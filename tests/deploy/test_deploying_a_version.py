"""A new version replaces the previous one under load, as docs/operations.md describes it."""

from pathlib import Path

import pytest

from benchmarks.deploy import deploy
from tests.fixtures.databases import Databases

pytestmark = [pytest.mark.alternating, pytest.mark.product, pytest.mark.debian]
ROWS, PAUSE_SECONDS = 2000, 0.15
MAX_LOCK_SECONDS = 2.0
"""The goal of the benchmark is a quarter of it, on a machine that does nothing else."""


def test_no_request_fails_and_no_lock_is_long(databases: Databases, tmp_path: Path) -> None:
    figures = deploy(databases, tmp_path, ROWS, PAUSE_SECONDS)
    assert figures.failed == []
    assert figures.longest_lock <= MAX_LOCK_SECONDS
    assert figures.sheets == 2  # pages of both versions were read, and their style sheets
    assert "9992  contract: " in figures.check
