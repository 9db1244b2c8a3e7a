"""Rotating parts: chosen by the commit, and all at once in the full matrix."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests import matrix

WIDTHS = [390, 768, 1360]
COMMITS = [f"{number:040x}" for number in range(300)]


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "chosen", {})
    monkeypatch.delenv("PORTAL_TEST_MATRIX", raising=False)
    monkeypatch.delenv("PORTAL_TEST_ALL_OF", raising=False)


def turns(monkeypatch: pytest.MonkeyPatch, axis: str) -> list[int]:
    """The width that each of `COMMITS` chooses."""
    widths = []
    for commit in COMMITS:
        monkeypatch.setenv(matrix.COMMIT, commit)
        widths += matrix.rotating(axis, WIDTHS)
    return widths


def test_one_commit_always_has_the_same_part(monkeypatch: pytest.MonkeyPatch) -> None:
    assert turns(monkeypatch, "width") == turns(monkeypatch, "width")


def test_every_part_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    times = Counter(turns(monkeypatch, "width"))
    assert {width: times[width] > 70 for width in WIDTHS} == dict.fromkeys(WIDTHS, True)


def test_two_axes_change_independently(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = zip(turns(monkeypatch, "width"), turns(monkeypatch, "height"), strict=True)
    assert set(pairs) == {(one, other) for one in WIDTHS for other in WIDTHS}


def test_the_full_matrix_has_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_TEST_MATRIX", "all")
    assert matrix.rotating("width", WIDTHS) == WIDTHS
    assert matrix.chosen == {"width": "all"}


def test_a_command_can_have_every_part_of_one_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTAL_TEST_ALL_OF", "height,width")
    assert matrix.rotating("width", WIDTHS) == WIDTHS
    assert len(matrix.rotating("look", WIDTHS)) == 1


def test_the_commit_is_the_one_checked_out(tmp_path: Path) -> None:
    assert matrix.current_commit(tmp_path) == matrix.NO_COMMIT
    git = ["git", "-C", str(tmp_path), "-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    assert matrix.current_commit(tmp_path) == matrix.NO_COMMIT
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "First"], check=True)
    head = subprocess.run([*git, "log", "--format=%H"], check=True, capture_output=True, text=True)
    assert matrix.current_commit(tmp_path) == head.stdout.strip()


def test_a_named_commit_is_preferred_to_the_one_checked_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(matrix.COMMIT, "abc")
    matrix.set_commit()
    named = matrix.number("width")
    monkeypatch.delenv(matrix.COMMIT)
    matrix.set_commit()
    own = matrix.number("width")
    monkeypatch.setenv(matrix.COMMIT, matrix.current_commit(Path(__file__).parent))
    assert matrix.number("width") == own != named
