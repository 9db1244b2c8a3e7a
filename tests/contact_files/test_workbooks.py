"""XLSX: values as the spreadsheet shows them, of the sheet that people see."""

import io
import zipfile
from datetime import date, datetime
from typing import Any

import pytest
from openpyxl import Workbook
from xlwt.Workbook import Workbook as OldWorkbook

from app.contact_files import ContactTable, FileRow, ReadOptions, UnreadableFile, open_table
from tests.files.workbooks import inline_row, sheet_xml, workbook_bytes


def opened(data: bytes, **options: Any) -> ContactTable:
    return open_table(io.BytesIO(data), name="book", options=ReadOptions(**options))


def saved(*rows: list[Any], formats: dict[str, str] | None = None) -> bytes:
    """A workbook as a program writes it; ``formats`` are number formats by cell."""
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for cell, code in (formats or {}).items():
        sheet[cell].number_format = code
    data = io.BytesIO()
    workbook.save(data)
    return data.getvalue()


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        ("00447700900418", "General", "00447700900418"),
        (447700900418, "General", "447700900418"),
        (447700900418.0, "General", "447700900418"),
        (447700900418, "0.00E+00", "447700900418"),
        (12.5, "General", "12.5"),
        (2, "00000", "00002"),
        (2025550123, "(000) 000-0000", "(202) 555-0123"),
        (447700900418, '"+"0', "+447700900418"),
        (5550123, "[<=9999999]###-####;(###) ###-####", "555-0123"),
        (2025550123, "[<=9999999]###-####;(###) ###-####", "(202) 555-0123"),
        (2025550123, "[>=10000000000]+0;(000) 000-0000", "(202) 555-0123"),
        (12025550123, "[>=10000000000]+0;(000) 000-0000", "+12025550123"),
        (7, '"No; "0', "No; 7"),
        (1234.5, "[$€-407]#,##0.00", "€1,234.50"),
        (0.5, "0%", "50%"),
        (-3, "0", "-3"),
        (True, "General", "TRUE"),
        (date(2026, 12, 3), "yyyy-mm-dd", "2026-12-03"),
        (date(2026, 12, 3), "dd/mm/yyyy", "03/12/2026"),
        (datetime(2026, 12, 3, 9, 5), "d mmm yyyy h:mm AM/PM", "3 Dec 2026 9:05 AM"),  # noqa: DTZ001 as in a cell
        (date(1900, 1, 1), "d.m.yy", "1.1.00"),
        ("#N/A", "General", "#N/A"),
    ],
)
def test_a_value_is_read_as_it_is_shown(value: Any, number_format: str, shown: str) -> None:
    data = saved(["Name", "Value"], ["Ann", value], formats={"B2": number_format})
    with opened(data) as table:
        assert list(table.rows()) == [FileRow(2, ["Ann", shown])]


def test_a_formula_of_a_program_that_does_not_calculate_has_no_value() -> None:
    with opened(saved(["Name", "Value"], ["Ann", '="a"&B9'])) as table:
        assert list(table.rows()) == [FileRow(2, ["Ann", '=\t"a"&B9'])]


def test_a_shared_formula_without_a_result_has_no_value() -> None:
    rows = inline_row(1, "Name", "Value") + '<row r="2"><c><f t="shared" si="0"/></c></row>'
    with opened(workbook_bytes(("S", sheet_xml(rows)))) as table:
        assert list(table.rows()) == [FileRow(2, ["=\t…", ""])]


def test_an_empty_text_is_the_value_of_a_formula() -> None:
    cells = '<c t="str"><f>""</f><v></v></c><c t="str"><f>"a"</f><v>a</v></c>'
    rows = inline_row(1, "Name", "Value") + f'<row r="2">{cells}</row>'
    with opened(workbook_bytes(("S", sheet_xml(rows)))) as table:
        assert list(table.rows()) == [FileRow(2, ["", "a"])]


@pytest.mark.parametrize("value", ["NaN", "INF", "1E99999999"])
def test_a_value_that_is_no_number_is_read_as_it_is(value: str) -> None:
    styles = (
        '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<cellXfs><xf numFmtId="2"/></cellXfs></styleSheet>'
    )
    rows = inline_row(1, "Name", "Value") + f'<row r="2"><c s="0"><v>{value}</v></c></row>'
    with opened(workbook_bytes(("S", sheet_xml(rows)), styles=styles)) as table:
        assert list(table.rows()) == [FileRow(2, [value, ""])]


def test_parts_are_found_by_names_in_any_spelling() -> None:
    proper = zipfile.ZipFile(io.BytesIO(saved(["Name", "Value"], ["Ann", 5])))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as odd:
        for name in proper.namelist():
            odd.writestr(name.replace("/", "\\").replace("sheet1", "Sheet1"), proper.read(name))
    with opened(data.getvalue()) as table:
        assert list(table.rows()) == [FileRow(2, ["Ann", "5"])]


def test_rows_keep_the_numbers_of_the_sheet() -> None:
    rows = inline_row(2, "List of today") + inline_row(4, "Name", "Phone")
    rows += inline_row(7, "Ann", "+12025550123") + '<row r="9"><c r="B9" t="str"><v>x</v></c></row>'
    with opened(workbook_bytes(("List", sheet_xml(rows)))) as table:
        assert (table.kind, table.sheet, table.header_row_number) == ("xlsx", "List", 4)
        assert list(table.rows()) == [FileRow(7, ["Ann", "+12025550123"]), FileRow(9, ["", "x"])]
        assert (table.blank_rows, table.notes) == (3, ("title_rows",))


def _list(name: str) -> str:
    return sheet_xml(inline_row(1, "Name", "Phone") + inline_row(2, name, "+12025550123"))


def test_the_active_visible_sheet_is_read_and_another_can_be_chosen() -> None:
    sheets = (("Hidden", _list("Hid")), ("Cover", _list("Cov")), ("People", _list("Peo")))
    data = workbook_bytes(*sheets, states=("hidden", "visible", "visible"), active=2)
    with opened(data) as table:
        assert (table.sheet, table.sheets) == ("People", ("Hidden", "Cover", "People"))
        assert table.notes == ("other_sheets",)
    with opened(data, sheet="Hidden") as table:
        assert (next(table.rows()).cells[0], table.notes) == (
            "Hid",
            ("other_sheets", "hidden_sheet"),
        )
    with opened(workbook_bytes(*sheets, states=("hidden", "visible", "visible"))) as table:
        assert table.sheet == "Cover"


def test_a_missing_sheet_is_named() -> None:
    with pytest.raises(UnreadableFile) as refused:
        opened(workbook_bytes(("A", _list("x")), ("B", _list("y"))), sheet="C")
    assert (refused.value.code, refused.value.message) == (
        "choose_sheet",
        "There is no sheet “C” with rows in it. The sheets are: A, B.",
    )


def test_an_empty_sheet_among_others_is_not_the_whole_workbook() -> None:
    with pytest.raises(UnreadableFile) as refused:
        opened(workbook_bytes(("A", sheet_xml("")), ("B", _list("y"))))
    assert (refused.value.code, refused.value.message) == (
        "choose_sheet",
        "There is no sheet “A” with rows in it. The sheets are: A, B.",
    )


def test_shared_texts_leave_out_readings_and_formats() -> None:
    strings = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        "<si><t>Name</t></si><si><r><t>An</t></r><r><t>n &amp; Bo</t></r></si>"
        "<si><t>東</t><rPh sb='0' eb='1'><t>ヒガシ</t></rPh></si></sst>"
    )
    rows = "".join(f'<row r="{n}"><c t="s"><v>{n - 1}</v></c></row>' for n in (1, 2, 3))
    with opened(workbook_bytes(("L", sheet_xml(rows)), strings=strings)) as table:
        assert (table.header, [row.cells for row in table.rows()]) == (
            ["Name"],
            [["Ann & Bo"], ["東"]],
        )


def test_escaped_characters_are_read_as_they_were_written() -> None:
    cells = ("Ann_x000D_\nLee", "_x005F_x000D_", "_xD800_", "_x00e9_t\u00e9")
    sheet = sheet_xml(inline_row(1, "A", "B", "C", "D") + inline_row(2, *cells))
    with opened(workbook_bytes(("L", sheet))) as table:
        assert [row.cells for row in table.rows()] == [
            ["Ann\r\nLee", "_x000D_", "_xD800_", "\u00e9t\u00e9"]
        ]


def test_the_apostrophes_of_an_export_that_a_spreadsheet_saved_are_undone() -> None:
    """It shows them as text, for it takes none from a CSV, and saves them so."""
    rows = [["Name", "Phone"], ["'=Ann", "'+12025550123"], ["'Bob", "''-5"]]
    old = OldWorkbook()
    sheet = old.add_sheet("S")
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            sheet.write(number, column, text)
    data = io.BytesIO()
    old.save(data)
    inline = "".join(inline_row(number, *row) for number, row in enumerate(rows, 1))
    for workbook in (saved(*rows), workbook_bytes(("S", sheet_xml(inline))), data.getvalue()):
        with opened(workbook) as table:
            assert list(table.rows()) == [
                FileRow(2, ["=Ann", "+12025550123"]),
                FileRow(3, ["'Bob", "'-5"]),
            ]


def test_a_cell_beyond_the_header_gets_a_column_or_is_named() -> None:
    rows = [["Name", "Phone"], ["Ann", "+12025550123", "early"]]
    rows += [["Bo", "+12025550124"]] * 60 + [["Cy", "+12025550125", "", "late"]]
    with opened(saved(*rows)) as table:
        found = list(table.rows())
    assert table.header == ["Name", "Phone", "Column C"]
    assert (found[0].cells, found[0].problem) == (["Ann", "+12025550123", "early"], None)
    assert found[-1].problem is not None
    assert found[-1].problem.code == "column_count"
