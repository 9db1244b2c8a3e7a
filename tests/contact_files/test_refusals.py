"""Files that are refused with a sentence that says what to do."""

import io
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from app.contact_files import FileLimits, ReadOptions, UnreadableFile, open_table
from tests.files.workbooks import inline_row, sheet_xml, workbook_bytes


def refusal(data: bytes, **options: Any) -> tuple[str, int | None]:
    """The code and the row with which reading all of it is refused."""
    settings = ReadOptions(**options)
    with (
        pytest.raises(UnreadableFile) as refused,
        open_table(io.BytesIO(data), options=settings) as table,
    ):
        list(table.rows())
    assert refused.value.message.endswith(".")
    return refused.value.code, refused.value.row


EXECUTABLES = [b"MZ\x90\x00\x03" + bytes(100), b"\x7fELF\x02\x01\x01" + bytes(100)]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty_file"),
        (b" \r\n\t\n", "empty_file"),
        (b"Name,Phone\n", "no_rows"),
        (b"Name,Phone\n,\n\n", "no_rows"),
        *((data, "unsupported_type") for data in EXECUTABLES),
        (b"%PDF-1.7\n%\xe2\xe3", "unsupported_type"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "unsupported_type"),
        (b"BEGIN:VCARD\r\nVERSION:3.0\r\n", "no_rows"),
        (b"dn: cn=Ann Lee,mail=ann@mail.example\nmail: ann@mail.example\n", "unsupported_type"),
        (b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n", "unsupported_type"),
        (b"MIME-Version: 1.0\r\n\r\n<table><tr><td>Phone</td></tr></table>", "unsupported_type"),
        (b'[\n  {\n    "name": "Ann"\n  }\n]\n', "unsupported_type"),
        (b"\xef\xbb\xbf<!DOCTYPE html><html>", "unsupported_type"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "unreadable_workbook"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
            + bytes(600)
            + "EncryptedPackage".encode("utf-16-le"),
            "password_protected",
        ),
        (bytes(range(1, 256)) * 50, "not_text"),
        (b"Name,Phone\nAnn\0,+12025550123\n", "nul_bytes"),
        (b"PK\x03\x04" + bytes(200), "unreadable_workbook"),
    ],
)
def test_a_file_that_is_no_contact_file_is_refused(data: bytes, code: str) -> None:
    assert refusal(data) == (code, None)


def test_the_sentence_says_what_to_do() -> None:
    with pytest.raises(UnreadableFile) as refused:
        open_table(io.BytesIO(EXECUTABLES[0]), name="contacts.csv")
    assert refused.value.message == (
        "This is a program, not a contact file. Save the list as CSV or XLSX."
    )


@pytest.mark.parametrize("encoding", ["nope", "base64", "rot13"])
def test_an_unknown_encoding_is_refused(encoding: str) -> None:
    assert refusal(b"a,b\n1,2\n", encoding=encoding)[0] == "encoding_unknown"


def test_text_that_is_not_in_the_chosen_encoding_is_refused() -> None:
    assert refusal("a,b\né,2\n".encode(), encoding="ascii")[0] == "undecodable_text"


def test_a_header_row_that_is_blank_is_refused() -> None:
    assert refusal(b"a,b\n\n1,2\n", header_row=2) == ("no_header", 2)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a,b\n1,2\n" + b"x" * 100_000_000, ("field_too_long", 3)),
        (b'a,b\n1,"' + b"x" * 70_000 + b'"\n', ("field_too_long", 2)),
        (b'a,b\n1,"' + b"x\n" * 35_000 + b'"\n3,4\n', ("field_too_long", 2)),
        (b'a,b\n1,"' + b"x\n" * 5_000_000 + b'"\n3,4\n', ("field_too_long", 2)),
        (b"a,b\n" + b"," * 1_000_000 + b"\n", ("too_many_columns", 2)),
        (b",".join([b"x"] * 513) + b"\n1\n", ("too_many_columns", 1)),
    ],
    ids=[
        *("100 MB in one field", "one field", "one field of many lines"),
        *("one field of millions of lines", "a million columns", "513"),
    ],
)
def test_a_text_that_goes_beyond_the_limits_is_refused(
    data: bytes, expected: tuple[str, int]
) -> None:
    assert refusal(data) == expected


def test_more_rows_than_the_limit_are_refused() -> None:
    data = b"Name,Phone\n" + b"Ann,+12025550123\n" * 11
    assert refusal(data, limits=FileLimits(rows=10)) == ("too_many_rows", None)


def test_blank_rows_do_not_count_towards_the_limit() -> None:
    formatted = "".join(f'<row r="{number}"/>' for number in range(3, 21))
    last = inline_row(1_048_576, "Bo", "+12025550124")
    data = workbook_bytes(("S", sheet_xml(GOOD + formatted + last)))
    with open_table(io.BytesIO(data), options=ReadOptions(limits=FileLimits(rows=2))) as table:
        numbers = [row.number for row in table.rows()]
    assert (numbers, table.blank_rows) == ([2, 1_048_576], 1_048_573)


def test_rows_far_below_their_column_names_are_found() -> None:
    data = b"Name,Phone\n" + b",\n" * 100 + b"Ann,+12025550123\n"
    with open_table(io.BytesIO(data)) as table:
        assert [row.number for row in table.rows()] == [102]


def test_blank_lines_without_end_are_refused() -> None:
    data = b"Name,Phone\nAnn,+12025550123\n" + b"\n" * 1_048_590
    assert refusal(data, limits=FileLimits(rows=10)) == ("too_many_rows", None)


GOOD = inline_row(1, "Name", "Phone") + inline_row(2, "Ann", "+12025550123")
BOMB = (
    '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)
EXTERNAL = '<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("prolog", [BOMB, EXTERNAL, "<!DOCTYPE w>"])
def test_a_document_type_is_refused_in_every_part(prolog: str) -> None:
    in_sheet = workbook_bytes(("L", sheet_xml(inline_row(1, "&c;", "x"), prolog)))
    in_strings = workbook_bytes(
        ("L", sheet_xml('<row r="1"><c t="s"><v>0</v></c></row>')), strings=f"{prolog}<sst/>"
    )
    in_styles = workbook_bytes(("L", sheet_xml(GOOD)), styles=f"{prolog}<styleSheet/>")
    codes = [refusal(data)[0] for data in (in_sheet, in_strings, in_styles)]
    assert codes == ["unsafe_workbook"] * 3


def test_a_workbook_that_unpacks_to_two_gibibytes_is_refused() -> None:
    data = io.BytesIO(workbook_bytes(("L", sheet_xml(GOOD))))
    with ZipFile(data, "a", ZIP_DEFLATED) as package:
        package.writestr("xl/more.xml", bytes(1024))
        package.getinfo("xl/more.xml").file_size = 2 * 1024**3
    assert refusal(data.getvalue())[0] == "zip_bomb"


def test_a_workbook_packed_too_tightly_is_refused() -> None:
    data = workbook_bytes(("L", sheet_xml(GOOD)), extra={"xl/more.xml": bytes(80 * 1024**2)})
    assert refusal(data)[0] == "zip_bomb"


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ('<row r="1"><c r="ZZZZZZZ1" t="str"><v>x</v></c></row>', "unreadable_workbook"),
        ('<row r="1"><c r="XFD1" t="str"><v>x</v></c></row>', "too_many_columns"),
        ('<row r="99999999999"><c t="str"><v>x</v></c></row>', "unreadable_workbook"),
        ('<row r="2"/><row r="1"/>', "unreadable_workbook"),
        ('<row r="1"><c t="s"><v>7</v></c></row>', "unreadable_workbook"),
        ('<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>', "unreadable_workbook"),
        (f'<row r="1"><c t="str"><v>{"x" * 70_000}</v></c></row>', "field_too_long"),
        ("<row", "unreadable_workbook"),
        ("", "empty_file"),
        (inline_row(1, "Name", "Phone"), "no_rows"),
    ],
)  # fmt: skip
def test_a_sheet_that_no_spreadsheet_writes_is_refused(rows: str, code: str) -> None:
    assert refusal(workbook_bytes(("L", sheet_xml(rows))))[0] == code


def test_an_archive_that_is_no_workbook_is_refused() -> None:
    data = io.BytesIO()
    with ZipFile(data, "w") as package:
        package.writestr("word/document.xml", "<w/>")
    assert refusal(data.getvalue())[0] == "unsupported_type"


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_a_workbook_cut_off_is_refused(cut: float) -> None:
    data = workbook_bytes(("L", sheet_xml(GOOD)))
    assert refusal(data[: int(len(data) * cut)])[0] == "unreadable_workbook"


def test_a_workbook_with_flipped_bytes_is_refused_or_read() -> None:
    data = workbook_bytes(("L", sheet_xml(GOOD)))
    ends = set()
    for position in range(0, len(data), 7):
        broken = bytearray(data)
        broken[position] ^= 0xFF
        try:
            with open_table(io.BytesIO(bytes(broken))) as table:
                list(table.rows())
        except UnreadableFile as refused:
            ends.add(refused.code)
        else:
            ends.add("read")
    assert ends == {
        *("read", "unreadable_workbook", "zip_bomb"),
        *("unsupported_type", "not_text", "password_protected"),
    }
