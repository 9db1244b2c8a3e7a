"""vCards: cards of any version as rows, and none that is too much."""

import io

import pytest

from app.contact_files import FileRow, UnreadableFile, open_table


def read(*lines: str) -> tuple[list[str], list[FileRow]]:
    """Columns and rows of the cards between the lines given."""
    with open_table(io.BytesIO("\r\n".join([*lines, ""]).encode())) as table:
        return table.header, list(table.rows())


def test_cards_with_different_values_share_their_columns() -> None:
    header, rows = read(
        "BEGIN:VCARD", "N:Lee;Ann", "TEL:+12025550101", "END:VCARD",
        "BEGIN:VCARD", "N:Li;Bob", "ORG:Hove;Front desk", "END:VCARD",
    )  # fmt: skip
    assert header == ["First name", "Last name", "Phone", "Organization"]
    assert rows == [
        FileRow(1, ["Ann", "Lee", "+12025550101", ""]),
        FileRow(2, ["Bob", "Li", "", "Hove, Front desk"]),
    ]


def test_the_preferred_number_comes_first_and_a_fax_is_no_phone() -> None:
    header, rows = read(
        "BEGIN:VCARD", "N:;Ann", "TEL;TYPE=FAX:1", "TEL;TYPE=HOME:2", "TEL;TYPE=CELL:3",
        "TEL;TYPE=WORK,PREF:4", "END:VCARD",
    )  # fmt: skip
    cells = dict(zip(header, rows[0].cells, strict=True))
    assert [cells[name] for name in ("Phone", "Phone 2", "Phone 3", "Fax")] == ["4", "3", "2", "1"]


def test_a_preference_that_is_no_number_counts_as_the_highest() -> None:
    header, rows = read(
        "BEGIN:VCARD", "N:;Ann", "TEL;PREF=1:1", "TEL;PREF=\u00b2:2", "END:VCARD"
    )  # fmt: skip
    cells = dict(zip(header, rows[0].cells, strict=True))
    assert [cells[name] for name in ("Phone", "Phone 2")] == ["2", "1"]


def test_a_number_keeps_the_label_that_its_group_gives_it() -> None:
    header, rows = read(
        "BEGIN:VCARD", "N:;Ann", "item1.TEL:1", "item1.X-ABLabel:_$!<Assistant>!$_", "item2.TEL:2",
        "item2.X-ABLabel:Fax Hove", "TEL;TYPE=CELL:3", "END:VCARD",
    )  # fmt: skip
    assert dict(zip(header, rows[0].cells, strict=True)) == {
        "First name": "Ann",
        "Last name": "",
        "Phone": "3",
        "Phone type": "cell",
        "Phone 2": "1",
        "Phone 2 type": "Assistant",
        "Fax": "2",
    }


def test_a_nested_card_is_part_of_the_outer_one() -> None:
    _, rows = read(
        "BEGIN:VCARD", "N:;Ann", "AGENT:", "BEGIN:VCARD", "N:;Agent", "END:VCARD", "TEL:1",
        "END:VCARD",
    )  # fmt: skip
    assert [row.cells[0] for row in rows] == ["Ann"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["NOTE:" + "x" * 70_000], ("field_too_long", 1)),
        (["NOTE:x", *[" " + "x" * 70] * 2000], ("field_too_long", 1)),
        (["TEL:1"] * 600, ("too_many_columns", 1)),
        ([f"X-A{n}:1" for n in range(600)], ("too_many_columns", 1)),
        ([], ("no_rows", None)),
    ],
    ids=["one line", "folded lines", "equal values", "different values", "nothing"],
)
def test_a_card_beyond_the_limits_is_refused(
    lines: list[str], expected: tuple[str, int | None]
) -> None:
    with pytest.raises(UnreadableFile) as refused:
        read("BEGIN:VCARD", *lines, "END:VCARD")
    assert (refused.value.code, refused.value.row) == expected


def test_a_picture_is_left_out_however_large() -> None:
    _, rows = read("BEGIN:VCARD", "N:;Ann", "PHOTO:x", *[" " + "x" * 70] * 5000, "END:VCARD")
    assert rows == [FileRow(1, ["Ann", ""])]
