"""The table of guards that `make guards` removes stays true to the code."""

import pytest

from app.config import ROOT
from scripts.guards.table import GUARDS, Guard


def test_at_least_forty_guards_are_listed() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS) >= 40


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_each_guard_occurs_once_in_its_file_and_its_tests_exist(guard: Guard) -> None:
    assert (ROOT / guard.file).read_text().count(guard.text) == 1
    assert [path for path in guard.tests.split() if not (ROOT / path).exists()] == []
