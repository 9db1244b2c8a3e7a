"""What an export writes is no formula in any spreadsheet, and an import undoes exactly that."""

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


@pytest.mark.parametrize("number", ["+12025550101", "+491511234567890"])
def test_phone_numbers_stay_as_they_are_and_are_read_in_both_spellings(number: str) -> None:
    assert guard_cell(number) == number
    assert unguard_cell(number) == unguard_cell(f"'{number}") == number


@pytest.mark.parametrize(
    "value", ["+1+1", "+1 202 555 0101", "+1-2", "+1|cmd", "+1234567890123456", "+", "'+1", "+١"]
)
def test_what_only_begins_like_a_phone_number_gets_an_apostrophe(value: str) -> None:
    assert guard_cell(value) == f"'{value}"
    assert unguard_cell(f"'{value}") == value


def test_reading_undoes_exactly_the_change_of_writing() -> None:
    values = ["".join(letters) for n in range(7) for letters in product("';=\t\"a", repeat=n)]
    assert [v for v in values if unguard_cell(guard_cell(v)) != v] == []
