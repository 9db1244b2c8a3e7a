"""XLS: values as shown, texts of any length, and damage that ends in a sentence."""

import io
from datetime import date
from random import Random
from typing import Any

import pytest

from app.contact_files import FileRow, UnreadableFile, open_table
from app.contact_files.xls import MAX_BYTES
from tests.files.corpus.workbooks import xls
from tests.matrix import is_full


def read_cells(*values: Any) -> list[str]:
    """What the cells of one row are read as."""
    data = xls(("L", [[f"c{index}" for index in range(len(values))], list(values)]))
    with open_table(io.BytesIO(data)) as table:
        return next(table.rows()).cells


def test_values_are_read_as_they_are_shown() -> None:
    values = ("00447", 2025550101, 447700900418.0, 12.5, -3, 0.1, True, date(2026, 12, 3), "#REF!")
    assert read_cells(*values) == [
        "00447", "2025550101", "447700900418", "12.5", "-3", "0.1", "TRUE", "2026-12-03", "#REF!",
    ]  # fmt: skip


def test_number_formats_are_followed() -> None:
    formats = (("00000", 2), ("(000) 000-0000", 2025550123), ('"+"0', 447700900418), ("0%", 0.5))
    assert read_cells(*formats) == ["00002", "(202) 555-0123", "+447700900418", "50%"]


def test_texts_continue_across_records() -> None:
    texts = ["é" * 20_000, "Ж" * 20_000, "a" * 8_000 + "Ж", "", "last"]
    assert read_cells(*texts) == texts


def test_rows_keep_their_numbers() -> None:
    data = xls(("L", [[], ["Name", "Phone"], [], [], ["Ann", "+12025550123", None]]))
    with open_table(io.BytesIO(data)) as table:
        assert (table.header_row_number, list(table.rows())) == (
            2,
            [FileRow(5, ["Ann", "+12025550123"])],
        )
        assert table.blank_rows == 2


def test_a_file_beyond_the_limit_is_refused() -> None:
    data = xls(("L", [["Name"], ["Ann"]])) + bytes(MAX_BYTES)
    with pytest.raises(UnreadableFile) as refused:
        open_table(io.BytesIO(data))
    assert (refused.value.code, refused.value.message) == (
        "too_large",
        "The file is larger than 32 MiB. Split it, or save it as CSV.",
    )


def test_damage_anywhere_is_refused_or_read() -> None:
    rows: list[list[Any]] = [
        ["Name", "Phone"],
        ["Ann", 12025550101],
        ["Zoë", "+12025550102"],
        [True, "#REF!"],
    ]
    data = xls(("People", rows), ("More", [["x"] * 30] * 40))
    random = Random(8)
    ends = set()
    for round_number in range(1500 if is_full() else 300):
        broken = bytearray(data)
        for _ in range(random.choice([1, 2, 5, 20])):
            place = random.randrange(512 if round_number % 3 else len(broken))
            broken[place] = random.randrange(256)
        end = random.randrange(len(broken)) if round_number % 7 == 0 else len(broken)
        try:
            with open_table(io.BytesIO(bytes(broken[:end]))) as table:
                list(table.rows())
        except UnreadableFile as refused:
            ends.add(refused.code)
        else:
            ends.add("read")
    assert ends == {"read", "unreadable_workbook", "not_text", "choose_sheet", "unsupported_type"}
