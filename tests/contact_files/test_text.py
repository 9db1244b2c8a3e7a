"""CSV and its relatives, in every encoding and with every quirk."""

import io
from typing import Any

import pytest

from app.contact_files import (
    ContactTable,
    FileRow,
    ReadOptions,
    guard_cell,
    open_table,
    unguard_cell,
)


def opened(data: bytes, **options: Any) -> ContactTable:
    return open_table(io.BytesIO(data), name="list", options=ReadOptions(**options))


def rows_of(data: bytes) -> list[tuple[int, list[str], str | None]]:
    """Number, cells and the code of the problem of every row."""
    with opened(data) as table:
        return [
            (n, cells, problem.code if problem else None) for n, cells, problem, _ in table.rows()
        ]


TEXT = "Nombre,Apellidos,Teléfono\nJosé,Núñez,+34612555019\n"


@pytest.mark.parametrize(
    ("data", "encoding", "notes"),
    [
        (TEXT.encode(), "utf-8", ()),
        (TEXT.encode("utf-8-sig"), "utf-8-sig", ()),
        (TEXT.encode("utf-16"), "utf-16", ()),
        (TEXT.encode("utf-16-le"), "utf-16-le", ()),
        (TEXT.encode("utf-16-be"), "utf-16-be", ()),
        (TEXT.encode("utf-32"), "utf-32", ()),
        (TEXT.encode("cp1252"), "cp1252", ("encoding_guessed",)),
        (TEXT.encode("latin-1") + b"\x81,b,1\n", "latin-1", ("encoding_guessed",)),
    ],
)
def test_the_encoding_is_found(data: bytes, encoding: str, notes: tuple[str, ...]) -> None:
    with opened(data) as table:
        first = next(table.rows())
        assert (table.kind, table.encoding, table.notes) == ("csv", encoding, notes)
        assert first == FileRow(2, ["José", "Núñez", "+34612555019"])


def test_the_encoding_can_be_chosen() -> None:
    with opened("Name,Phone\nŁódź,+12025550123\n".encode("cp1250"), encoding="cp1250") as table:
        assert list(table.rows()) == [FileRow(2, ["Łódź", "+12025550123"])]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_delimiter_and_line_end_are_found(delimiter: str, line_end: str) -> None:
    lines = [["Name", "City", "Phone"], ["Lee, Ann", "Hove", "+1"], ["Bo", "Köln, DE; x", "+2"]]
    quoted = [delimiter.join(f'"{cell}"' if "," in cell else cell for cell in row) for row in lines]
    with opened(line_end.join([*quoted, ""]).encode()) as table:
        assert table.delimiter == delimiter
        assert [row.cells for row in table.rows()] == lines[1:]


def test_a_separator_line_sets_the_delimiter() -> None:
    with opened(b"sep=|\r\nName|Phone\r\nAnn, Bob|+12025550123\r\n") as table:
        assert (table.delimiter, table.header_row_number) == ("|", 2)
        assert list(table.rows()) == [FileRow(3, ["Ann, Bob", "+12025550123"])]


def test_rows_can_be_read_again_and_blank_ones_are_counted() -> None:
    with opened(b"Name,Phone\n\nAnn,+12025550123\n , \n,,\nBob,+12025550124\n\n") as table:
        expected = [FileRow(3, ["Ann", "+12025550123"]), FileRow(6, ["Bob", "+12025550124"])]
        assert [list(table.rows()), list(table.rows())] == [expected, expected]
        assert table.blank_rows == 4


@pytest.mark.parametrize(
    ("data", "header", "row_number", "notes"),
    [
        (b"Name,Phone\nA,+12025550123\n", ["Name", "Phone"], 1, ()),
        (
            b"Export of today\n\nFirst Name,Last Name,Phone\nA,B,+12025550123\n",
            ["First Name", "Last Name", "Phone"],
            3,
            ("title_rows",),
        ),
        (
            b"A,Lee,+12025550123\nB,Li,+12025550124\n",
            ["Column A", "Column B", "Column C"],
            None,
            (),
        ),
        (b"A,,x\nB,+12025550123,y\n", ["Column A", "Column B", "Column C"], None, ()),
        (b"+12025550123\n+12025550124\n", ["Column A"], None, ()),
        (b"Phone\n+12025550123\n", ["Phone"], 1, ()),
        (b"Rufnummer;Wer\n0170 1234567;Ann\n", ["Rufnummer", "Wer"], 1, ()),
        (
            b"Phone,,Phone\n+12025550123,x,y\n",
            ["Phone", "Column B", "Phone (2)"],
            1,
            ("unnamed_column", "duplicate_columns"),
        ),
        (
            b'"Full\n name",Phone,\nAnn,+12025550123,x\n',
            ["Full name", "Phone", "Column C"],
            1,
            ("unnamed_column",),
        ),
    ],
)
def test_the_header_is_found(
    data: bytes, header: list[str], row_number: int | None, notes: tuple[str, ...]
) -> None:
    with opened(data) as table:
        assert (table.header, table.header_row_number, table.notes) == (header, row_number, notes)


def test_the_header_can_be_chosen() -> None:
    data = b"Name,Phone\nPerson,Number\nAnn,+12025550123\n"
    with opened(data, header_row=2) as table:
        assert (table.header, len(list(table.rows()))) == (["Person", "Number"], 1)
    with opened(data, header_row=0) as table:
        assert (table.header, len(list(table.rows()))) == (["Column A", "Column B"], 3)


def test_the_header_may_be_far_down() -> None:
    list_ = b"Name,Phone\nAnn,+12025550123\n"
    with opened(b"\n" * 200 + list_) as table:
        assert (table.header_row_number, next(table.rows()).number) == (201, 202)
    with opened(b"Words\n" * 200 + list_, header_row=201) as table:
        assert (table.header, next(table.rows()).number) == (["Name", "Phone"], 202)


HEAD = b"name,city,phone\n"
TAIL = b"Eve,Rome,+12025550129\n"
EVE = ["Eve", "Rome", "+12025550129"]


def test_a_quote_that_never_closes_affects_only_its_row() -> None:
    lines = b"".join(b"B%d,Hove,+1202555%04d\n" % (n, n) for n in range(3000))
    rows = rows_of(HEAD + b'"Ann,Hove,+12025550123\n' + lines + TAIL)
    assert rows[0] == (2, ['"Ann', "Hove", "+12025550123"], "unclosed_quote")
    assert (len(rows), rows[1][1][0], rows[-1]) == (3002, "B0", (3003, EVE, None))
    assert [row[2] for row in rows[1:]] == [None] * 3001


def test_a_quote_that_closes_rows_later_loses_no_row() -> None:
    swallowed = b'Ann,"Hove,+12025550123\nBob,Bath,+12025550124\nCat,York",+12025550125\n'
    assert rows_of(HEAD + swallowed + TAIL) == [
        (2, ["Ann", '"Hove', "+12025550123"], "unclosed_quote"),
        (3, ["Bob", "Bath", "+12025550124"], None),
        (4, ["Cat", 'York"', "+12025550125"], None),
        (5, EVE, None),
    ]


@pytest.mark.parametrize("name", ['"Ann "A" Lee"', '"6" Ann"', '"Ann" Lee'])
def test_a_quote_inside_a_quoted_value_is_named(name: str) -> None:
    assert rows_of(HEAD + f"{name},Hove,+12025550123\n".encode() + TAIL) == [
        (2, [name, "Hove", "+12025550123"], "bad_quote"),
        (3, EVE, None),
    ]


def test_a_quote_that_ends_at_the_quote_of_another_value_counts_as_open() -> None:
    assert rows_of(HEAD + b'"Ann,Hove,"+12025550123"\n' + TAIL) == [
        (2, ['"Ann', "Hove", "+12025550123"], "unclosed_quote"),
        (3, EVE, None),
    ]


@pytest.mark.parametrize("count", [1, 100])
def test_control_characters_in_short_rows_do_not_make_the_file_binary(count: int) -> None:
    rows = rows_of(b"name,phone\n" + b"Ann\x02,1202555\n" * count)
    assert [cells for _, cells, _ in rows] == [["Ann\x02", "1202555"]] * count


def test_a_quote_open_in_the_last_line_is_named() -> None:
    assert rows_of(HEAD + TAIL + b'Ann,Hove,"+12025550123') == [
        (2, EVE, None),
        (3, ["Ann", "Hove", '"+12025550123'], "unclosed_quote"),
    ]


def test_values_of_several_lines_are_one_row() -> None:
    data = HEAD + b'Ann,"12 High St, 2nd floor\nHove, East Sussex\n\nUK",+12025550123\n' + TAIL
    assert rows_of(data) == [
        (2, ["Ann", "12 High St, 2nd floor\nHove, East Sussex\n\nUK", "+12025550123"], None),
        (3, EVE, None),
    ]


def test_doubled_quotes_and_inches_are_ordinary() -> None:
    assert rows_of(HEAD + b'"Ann ""A"" Lee",5\' 10",+12025550123\n') == [
        (2, ['Ann "A" Lee', "5' 10\"", "+12025550123"], None)
    ]


def test_a_separator_inside_a_value_is_named_and_trailing_ones_are_not() -> None:
    data = HEAD + b"Ann,Hove,+12025550123,,,\nLee, Ann,Hove,+12025550124\n" + TAIL
    assert rows_of(data) == [
        (2, ["Ann", "Hove", "+12025550123"], None),
        (3, ["Lee", " Ann", "Hove", "+12025550124"], "column_count"),
        (4, EVE, None),
    ]


def test_a_column_without_a_name_at_the_end_has_the_values_below_it() -> None:
    with opened(b"Name,Phone,\nAnn,+12025550171,\nBo Two,+12025550172,gold\n") as table:
        assert (table.header, table.notes) == (["Name", "Phone", "Column C"], ("unnamed_column",))
        assert list(table.rows()) == [
            FileRow(2, ["Ann", "+12025550171", ""]),
            FileRow(3, ["Bo Two", "+12025550172", "gold"]),
        ]


def test_separators_at_the_end_of_every_row_make_no_column() -> None:
    data = b"Phone,Name,City,\n+12025550171,Ann,Hove,\n+12025550172,Lee, Bo,Hove,\n"
    with opened(data) as table:
        good, broken = table.rows()
    assert table.header == ["Phone", "Name", "City"]
    assert good == FileRow(2, ["+12025550171", "Ann", "Hove"])
    assert broken.problem is not None
    assert broken.problem.message == (
        "Has 5 cells where the header has 4 columns. "
        "Put quotation marks around the value that holds a separator."
    )


def test_a_late_value_in_a_column_without_a_name_is_reported() -> None:
    rows = b"Ann,+12025550171,\n" * 60 + b"Bo,+12025550172,gold\n"
    with opened(b"Name,Phone,\n" + rows) as table:
        *_, last = table.rows()
    assert table.header == ["Name", "Phone"]
    assert last.problem is not None
    assert last.problem.message == (
        "Has a value in column C, which has no name in the header. Give this column a name."
    )


def test_cells_missing_at_the_end_are_reported() -> None:
    with opened(HEAD + b"Ann,Hove\n" + TAIL) as table:
        assert list(table.rows()) == [FileRow(2, ["Ann", "Hove", ""], None, 1), FileRow(3, EVE)]


def test_a_byte_that_is_not_utf8_affects_only_its_row() -> None:
    good = "".join(f"Jos\u00e9,Hove,+1202555{n:04d}\n" for n in range(50)).encode()
    rows = rows_of(HEAD + good + b"Ren\xe9,Hove,+12025550123\n" + TAIL)
    assert rows[-2:] == [
        (52, ["Ren\ufffd", "Hove", "+12025550123"], "undecodable_text"),
        (53, EVE, None),
    ]
    assert [row[2] for row in rows[:-2]] == [None] * 50


@pytest.mark.parametrize(
    "value",
    ["+12025550123", "=1+1", "-", "@x", "'=x", "''+1", "O'Neill", "'quoted'", "", "\tx", "'"],
)
def test_the_apostrophes_of_exports_are_removed_exactly(value: str) -> None:
    guarded = guard_cell(value)
    assert unguard_cell(guarded) == value
    assert not guarded.startswith(("=", "+", "-", "@", "\t"))


def test_guarded_cells_are_read_as_they_were() -> None:
    assert rows_of(HEAD + b"'=1+1,O'Neill,'+12025550123\n") == [
        (2, ["=1+1", "O'Neill", "+12025550123"], None)
    ]
