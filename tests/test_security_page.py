"""docs/security.md has each requirement once, and names code and tests that exist."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from app.config import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()
LAST: dict[str, int] = {
    "1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2,
    "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1,
    "3.2": 2, "3.3": 4, "3.4": 6, "3.5": 5, "3.7": 2,
    "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4,
    "5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3,
    "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4,
    "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2,
    "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1,
    "9.1": 3, "9.2": 4,
    "10.1": 2, "10.2": 2, "10.3": 4, "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3,
    "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1,
    "12.1": 3, "12.2": 2, "12.3": 4,
    "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5,
    "14.1": 2, "14.2": 4, "14.3": 3,
    "15.1": 3, "15.2": 3, "15.3": 7,
    "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3,
    "17.1": 1, "17.2": 4, "17.3": 2,
}  # fmt: skip
"""The last requirement of level 1 or 2 of each section of ASVS 5.0.0; those of level 3 follow."""
NUMBER = re.compile(r"\d+\.\d+\.\d+")
NAMED = re.compile(
    r"`((?:app|docs|migrations|scripts|supervisor|templates|tests)/[\w/.-]+)(::\w+)?`"
)


def rows() -> Iterator[list[str]]:
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if NUMBER.match(cells[0]):
            yield cells


@cache
def functions_of(path: Path) -> set[str]:
    return {
        node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)
    }


def test_each_requirement_of_levels_1_and_2_has_its_place() -> None:
    listed = [number for cells in rows() for number in cells[0].split(", ")]
    wanted = [f"{section}.{n}" for section, last in LAST.items() for n in range(1, last + 1)]
    assert sorted(listed) == sorted(wanted)
    assert len(wanted) == 253


def test_each_row_has_five_cells_and_a_test_or_the_reason_why_not() -> None:
    wrong = [
        cells
        for cells in rows()
        if len(cells) != 5 or (cells[3] == cells[4] == "–" and "Not applicable" not in cells[2])
    ]
    assert [cells[0] for cells in wrong] == ["11.1.2", "15.1.1"]  # met by the page itself


def test_every_named_file_and_test_exists() -> None:
    missing = []
    for name, test in NAMED.findall(PAGE):
        place = ROOT / name
        if not place.exists() or (test and test.removeprefix("::") not in functions_of(place)):
            missing.append(name + test)
    assert missing == []
