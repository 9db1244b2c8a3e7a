"""The quick look at a cell passes nothing that the thorough ones would have something to say of."""

import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from app.contact_files.cleaning import without_invisible
from app.services.imports.cells import (
    PLACEHOLDERS,
    are_ordinary,
    is_ordinary,
    placeholder,
    read_email,
    read_phone,
    undecodable,
    unusable,
)

_LATIN = st.characters(min_codepoint=0x20, max_codepoint=0x17F, exclude_categories=["C"])
_TEXTS = (
    st.text(min_size=1, max_size=12)
    | st.text(_LATIN, min_size=1, max_size=12)
    | st.sampled_from(sorted(PLACEHOLDERS)).map(str.upper)
)


@given(_TEXTS)
@example("#REF!")
@example("=A1")
@example("a\u200bb")
@example("a\u200db")
@example("a\u00adb")
@example("a\ufffdb")
@example("MÃ¼ller")
@example("a\x1fb")
def test_an_ordinary_cell_needs_no_second_look(text: str) -> None:
    text = text.strip()
    assume(text and is_ordinary(text))
    assert (placeholder(text, 0), unusable(text, 0), undecodable(text, 0)) == (None, None, None)
    assert {without_invisible(text, joiners=joiners) for joiners in (True, False)} == {text}


@given(st.lists(_TEXTS | st.just(""), max_size=5))
@example(["Ann", "a\u200bb"])
@example(["Ann", " N/A "])
@example(["", "=A1"])
@example(["Oâ€™Neill", "1"])
def test_a_row_that_is_ordinary_as_a_whole_is_so_in_every_cell(cells: list[str]) -> None:
    assume(are_ordinary(cells))
    filled = [text for cell in cells if (text := cell.strip())]
    assert [text for text in filled if not is_ordinary(text)] == []


def test_names_cities_and_numbers_are_ordinary() -> None:
    texts = [
        "Jörg",
        "Łódź",
        "+12025550123",
        "(202) 555-0123",
        "a@b.example",
        "2026-12-01",
        "Nadine",
    ]
    assert [text for text in texts if not is_ordinary(text)] == []
    assert are_ordinary([*texts, ""])


@pytest.mark.parametrize("text", ["1" * 9_000 + "x", "12 " * 3_000, "(12)1" * 2_000, "1p" * 4_000])
def test_a_cell_that_is_much_too_long_for_a_number_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    assert read_phone(text, 0, "US").error is not None
    assert time.process_time() - start < 0.3


def test_a_cell_that_is_much_too_long_for_an_address_is_left_as_it_is_quickly() -> None:
    text, start = "1a" * 30_000, time.process_time()
    assert read_email(text, 0) == (text, (), False)
    assert time.process_time() - start < 0.3
