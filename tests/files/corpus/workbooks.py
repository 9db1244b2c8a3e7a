"""XLSX and XLS, as programs write them, and invalid ones."""

import io
from datetime import date
from typing import Any

from openpyxl import Workbook
from xlwt.Style import easyxf
from xlwt.Workbook import Workbook as OldWorkbook

from tests.files.corpus.cases import ANN, BOB, CY, Case, bad, ok, skipped
from tests.files.workbooks import inline_row, sheet_xml, workbook_bytes


def xlsx(
    *rows: list[Any],
    formats: dict[str, str] | None = None,
    hidden: tuple[int | str, ...] = (),
) -> bytes:
    """A workbook of one sheet, with number formats by cell; ``hidden`` are rows and columns."""
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in rows:
        sheet.append(row)
    for cell, code in (formats or {}).items():
        sheet[cell].number_format = code
    for place in hidden:
        if isinstance(place, int):
            sheet.row_dimensions[place].hidden = True
        else:
            sheet.column_dimensions[place].hidden = True
    data = io.BytesIO()
    workbook.save(data)
    return data.getvalue()


def xls(
    *sheets: tuple[str, list[list[Any]]],
    hidden: tuple[int, ...] = (),
    active: int = 0,
    hidden_rows: tuple[int, ...] = (),
    hidden_columns: tuple[int, ...] = (),
) -> bytes:
    """An old workbook; dates carry a date's format, pairs their own, ``#REF!`` is that error.
    Hidden are sheets, and rows and columns of each, all counted from 0."""
    workbook = OldWorkbook()
    for index, (name, rows) in enumerate(sheets):
        sheet = workbook.add_sheet(name)
        sheet.visibility = int(index in hidden)
        for place in hidden_rows:
            sheet.row(place).hidden = True
        for column in hidden_columns:
            sheet.col(column).hidden = True
        for place, row in enumerate(rows):
            for column, value in enumerate(row):
                if value == "#REF!":
                    sheet.row(place).set_cell_error(column, 0x17)
                elif isinstance(value, tuple):
                    style = easyxf(num_format_str=value[0])
                    sheet.write(place, column, value[1], style)
                elif value is not None:
                    code = "yyyy-mm-dd" if isinstance(value, date) else "General"
                    sheet.write(place, column, value, easyxf(num_format_str=code))
    workbook.set_active_sheet(active)
    data = io.BytesIO()
    workbook.save(data)
    return data.getvalue()


HEADER = ["Name", "Phone", "Recall"]
_SHEET = sheet_xml(inline_row(1, "Name", "Phone") + inline_row(2, "Ann Lee", ANN))
_OTHER = sheet_xml(inline_row(1, "Name", "Phone") + inline_row(2, "Bob Li", BOB))
_LIST: list[list[Any]] = [["Name", "Phone"], ["Ann Lee", ANN]]

WORKBOOKS = {
    "XLSX with numbers, texts and dates": Case(
        "list.xlsx",
        xlsx(HEADER, ["Ann Lee", 12025550101, date(2026, 12, 3)],
             ["Bob Li", "202-555-0102", "soon"], ["Cy", 12025550103, 7],
             formats={"B2": '"+"0', "C2": "dd/mm/yyyy", "C4": "000"}),
        [
            ok(2, "Ann", "Lee", ANN, meta={"Recall": "03/12/2026"}),
            ok(3, "Bob", "Li", BOB, meta={"Recall": "soon"}, warnings="assumed_country"),
            ok(4, "Cy", "", "+12025550103", meta={"Recall": "007"}, warnings="assumed_country"),
        ],
        {"type": "xlsx", "encoding": None, "delimiter": None, "sheet": "Sheet"},
    ),
    "XLSX with blank rows, a title and a footer": Case(
        "list.xlsx",
        xlsx(["Recall list"], [], ["Name", "Phone"], ["Ann Lee", ANN], [], ["Bob Li", BOB], [],
             ["Total: 2"]),
        [
            ok(4, "Ann", "Lee", ANN), skipped(5), ok(6, "Bob", "Li", BOB),
            skipped(7), skipped(8, "footer_rows"),
        ],
        {"headerRow": 3},
        {"title_rows": 1, "footer_rows": 1},
    ),
    "XLSX with a hidden sheet, read as it is shown": Case(
        "list.xlsx",
        workbook_bytes(("Old", _OTHER), ("New", _SHEET), ("More", _OTHER),
                       states=("hidden", "visible", "visible"), active=1),
        [ok(2, "Ann", "Lee", ANN)],
        {"sheet": "New"},
        {"other_sheets": 0},
    ),
    "XLSX with rows and columns that a filter or a hand has hidden": Case(
        "list.xlsx",
        xlsx(["Recall list"], ["Name", "Phone", "City"], ["Ann Lee", ANN, "Hove"],
             ["Bob Li", BOB, "Rye"], [], ["Cy Ek", CY, ""], hidden=(1, 4, 5, 6, "C")),
        [
            ok(3, "Ann", "Lee", ANN, meta={"City": "Hove"}),
            ok(4, "Bob", "Li", BOB, meta={"City": "Rye"}), skipped(5), ok(6, "Cy", "Ek", CY),
        ],
        {"headerRow": 2},
        {"title_rows": 1, "hidden_rows": 2, "hidden_columns": 0},
    ),
    "XLSX, all that it does not need hidden": Case(
        "list.xlsx", xlsx(*_LIST, hidden=(3, "D", "E")),
        [ok(2, "Ann", "Lee", ANN), skipped(3)],
    ),
    "XLSX, its hidden sheet chosen": Case(
        "list.xlsx",
        workbook_bytes(("Old", _OTHER), ("New", _SHEET), states=("hidden", "visible")),
        [ok(2, "Bob", "Li", BOB)],
        {"sheet": "Old"},
        {"hidden_sheet": 0},
        options={"sheet": "Old"},
    ),
    "XLSX with formulas": Case(
        "list.xlsx",
        workbook_bytes(("L", sheet_xml(
            inline_row(1, "Name", "Phone", "Sum")
            + f'<row r="2"><c t="str"><f>A1</f><v>Ann</v></c><c t="str"><f>B1</f><v>{ANN}</v></c>'
            '<c><f>1+1</f><v></v></c></row>'
            f'<row r="3"><c t="str"><v>Bob</v></c><c t="str"><f>CONCAT(A1,B1)</f></c></row>'
            f'<row r="4"><c t="e"><v>#N/A</v></c><c t="str"><v>{BOB}</v></c></row>'
        ))),
        [
            ok(2, "Ann", phone=ANN, warnings="formula_without_value"),
            bad(3, ("formula_without_value", "Phone")),
            ok(4, "", phone=BOB, warnings="placeholder_value"),
        ],
    ),
    "a workbook with macros": Case(
        "list.xlsm",
        workbook_bytes(("L", _SHEET), extra={"xl/vbaProject.bin": b"\xd0\xcf\x11\xe0"}),
        [ok(2, "Ann", "Lee", ANN)],
        {"type": "xlsx"},
        {"macros_ignored": 0},
    ),
    "XLSX that is called CSV": Case(
        "list.csv", xlsx(*_LIST), [ok(2, "Ann", "Lee", ANN)], {"type": "xlsx"},
        {"content_mismatch": 0},
    ),
    "XLS with numbers, texts, dates and errors": Case(
        "list.xls",
        xls(("People", [HEADER, ["Ann Lee", 2025550101, date(2026, 12, 3)],
                        ["Bob Li", BOB, 2.5], [None, None, None], ["#REF!", ANN, True],
                        ["Grand Totals (3 records)", None, None]])),
        [
            ok(2, "Ann", "Lee", ANN, meta={"Recall": "2026-12-03"}, warnings="assumed_country"),
            ok(3, "Bob", "Li", BOB, meta={"Recall": "2.5"}),
            skipped(4), bad(5, ("cell_error", "Name")), skipped(6, "footer_rows"),
        ],
        {"type": "xls", "encoding": None, "sheet": "People", "headerRow": 1},
        {"footer_rows": 1},
    ),
    "XLS with several sheets": Case(
        "list.xls",
        xls(("Old", [["x"]]), ("People", _LIST), ("More", [["y"]]), hidden=(0,), active=1),
        [ok(2, "Ann", "Lee", ANN)],
        {"sheet": "People"},
        {"other_sheets": 0},
    ),
    "XLS with number formats and many long texts": Case(
        "list.xls",
        xls(("L", [["Name", "Phone", "Code", "Share", "Note"],
                   ["Ann", 2025550101, ("00000", 2), ("0.0%", 0.125), "é" * 9000],
                   ["Bob", ('"+"0', 12025550102), ("0.00E+00", 447700900418), -3, "Ж" * 9000]])),
        [bad(2, ("value_too_long", "Note")), bad(3, ("value_too_long", "Note"))],
        {"type": "xls"},
    ),
    "XLS with hidden rows and columns": Case(
        "list.xls",
        xls(("L", [*_LIST, ["Bob Li", BOB]]), hidden_rows=(2,), hidden_columns=(1,)),
        [ok(2, "Ann", "Lee", ANN), ok(3, "Bob", "Li", BOB)],
        {"type": "xls"},
        {"hidden_rows": 1, "hidden_columns": 0},
    ),
    "XLS that is called XLSX": Case(
        "list.xlsx", xls(("People", _LIST)), [ok(2, "Ann", "Lee", ANN)], {"type": "xls"},
        {"content_mismatch": 0},
    ),
}  # fmt: skip
