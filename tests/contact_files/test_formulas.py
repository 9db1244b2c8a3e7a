"""No cell of an export is a formula in a spreadsheet, and an import reverses the protection."""

from itertools import product

import pytest

from app.contact_files import guard_cell, unguard_cell


@pytest.mark.parametrize(
    ("value", "guarded"),
    [
        ("=1", "'=1"),
        ("'=1", "''=1"),
        ("\t=1", "'\t'=1"),
        (";=1", ";'=1"),
        ("Smith;=1+1", "Smith;'=1+1"),
        ("Smith;'@SUM(1)", "Smith;''@SUM(1)"),
        ('Smith;"=1"', 'Smith;"\'=1"'),
        ("one\n-2", "one\n'-2"),
        ("one\r\n+2", "one\r\n'+2"),
        ("one\t=2", "one\t'=2"),
        ("a; b, c=1", "a; b, c=1"),
        ("O'Neil; d'Arc", "O'Neil; d'Arc"),
    ],
)
def test_each_part_that_looks_like_a_formula_gets_an_apostrophe(value: str, guarded: str) -> None:
    assert guard_cell(value) == guarded
    assert unguard_cell(guarded) == value


def test_reading_undoes_exactly_the_change_of_writing() -> None:
    values = ["".join(letters) for n in range(7) for letters in product("';=\t\"a", repeat=n)]
    assert [v for v in values if unguard_cell(guard_cell(v)) != v] == []
