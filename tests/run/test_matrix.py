"""Rotating parts: one a day, all of them in turn, and all at once in the full matrix."""

import pytest

from tests import matrix

WIDTHS = [390, 768, 1360]


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "chosen", {})
    monkeypatch.delenv("PORTAL_TEST_MATRIX", raising=False)


def test_every_part_comes_around(monkeypatch: pytest.MonkeyPatch) -> None:
    days = []
    for day in range(739_000, 739_006):
        monkeypatch.setenv(matrix.DAY, str(day))
        days.append(matrix.rotating("width", WIDTHS))
    assert sorted(days[:3]) == [[width] for width in WIDTHS]
    assert days[:3] == days[3:]


def test_the_full_matrix_has_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_TEST_MATRIX", "all")
    assert matrix.rotating("width", WIDTHS) == WIDTHS
    assert matrix.chosen == {"width": "all"}
