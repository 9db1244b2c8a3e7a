"""The person's own file again, with its problems: in its kind, safe to open, and read again as it
was."""

import csv
import io
from uuid import UUID

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from app.contact_files import open_table
from app.models import ContactImport
from app.services.imports import corrections, reports, steps
from tests.files.corpus.workbooks import xls
from tests.fixtures.uploads import Importer, counts, number

ANN, BOB = number(1), number(2)


def returned(importer: Importer, upload_id: UUID, *, failed_only: bool = False) -> bytes:
    with importer.database.transaction(read_only=True) as session:
        upload = session.get_one(ContactImport, upload_id)
        writer = reports.writer_of(session, upload)
        rows, last = reports.rows_after(session, upload, 0, failed_only=failed_only)
        assert last is None
        return writer.begin(reports.header(upload)) + writer.rows(rows) + writer.end()


def workbook(*rows: list[object], sheet: str = "Patients") -> bytes:
    workbook_file = Workbook()
    opened = workbook_file.active
    assert isinstance(opened, Worksheet)
    opened.title = sheet
    for row in rows:
        opened.append(row)
    data = io.BytesIO()
    workbook_file.save(data)
    return data.getvalue()


def problem_of(importer: Importer, upload_id: UUID) -> str:
    rows = list(csv.reader(io.StringIO(returned(importer, upload_id).decode("utf-8-sig"))))
    return next(row[-1] for row in rows[1:] if row[-1])


@pytest.mark.parametrize(
    ("delimiter", "encoding"),
    [(";", "cp1252"), ("\t", "utf-16"), ("|", "utf-8-sig"), (",", "utf-8")],
)
def test_a_text_file_comes_back_in_its_own_dialect(
    importer: Importer, delimiter: str, encoding: str
) -> None:
    lines = [["Name", "Phone", "Note"], ["Zoë", ANN, "“a”"], ["Müller", "12", "=1+1"]]
    text = "\r\n".join(delimiter.join(line) for line in lines) + "\r\n"
    upload = importer.checked(text.encode(encoding))
    written = returned(importer, upload.id)
    found = "utf-8-sig" if encoding == "utf-8" else encoding
    rows = list(csv.reader(io.StringIO(written.decode(found)), delimiter=delimiter))
    problem = rows[2].pop()
    assert problem.startswith("Phone: ")
    assert rows == [
        ["Name", "Phone", "Note", "Problem"],
        ["Zoë", f"'{ANN}", "“a”", ""],
        ["Müller", "12", "'=1+1"],
    ]
    again = importer.checked(written)
    assert (again.columns[-1], again.mapping[-1]) == ("Problem", "ignore")
    assert counts(again) == counts(upload)


def test_the_added_column_is_left_out_when_cells_beyond_the_last_column_follow_it(
    importer: Importer,
) -> None:
    good = "".join(f"Cy,{number(n)},Hove\n" for n in (3, 4, 5))
    bad = f"Lee, Ann,{ANN},Hove\nBob, Al,{BOB},York\n"
    upload = importer.checked(f"Name,Phone,City\n{good}{bad}".encode())
    again = importer.checked(returned(importer, upload.id, failed_only=True))
    assert again.columns == ["Name", "Phone", "City", "Problem", "Column E"]
    assert again.mapping[3:] == ["ignore", "metadata:Column E"]
    rows = list(csv.reader(io.StringIO(returned(importer, again.id).decode("utf-8-sig"))))
    assert rows[0] == again.columns
    assert [row[4] for row in rows[1:]] == ["Hove", "York"]


def test_a_column_of_the_file_with_the_same_name_is_kept(importer: Importer) -> None:
    upload = importer.checked(f"Name,Phone,Problem,City\nAnn,{ANN},Toothache,Hove\n".encode())
    assert upload.mapping[2] == "metadata:Problem"


def test_a_text_file_comes_back_as_utf_8_if_its_encoding_lacks_a_corrected_character(
    importer: Importer,
) -> None:
    upload = importer.checked(f"Name,Phone\nZoë,{ANN}\nBob,12\n".encode("cp1252"))
    with importer.database.transaction() as session:
        corrections.correct_rows(
            session, importer.caller, upload.id, {3: {0: "Łukasz", 1: BOB}}, set()
        )
    importer.check(upload.id)
    rows = list(csv.reader(io.StringIO(returned(importer, upload.id).decode("utf-8-sig"))))
    assert rows[1:] == [["Zoë", f"'{ANN}", ""], ["Łukasz", f"'{BOB}", ""]]


def test_a_workbook_comes_back_as_one_with_its_bad_cells_marked(importer: Importer) -> None:
    data = workbook(["Name", "Phone", "Code"], ["Ann", ANN, "007"], ["<Bob>", "12", "-x"])
    upload = importer.checked(data)
    written = returned(importer, upload.id)
    sheet = load_workbook(io.BytesIO(written))["Patients"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    problem = rows[2].pop()
    assert str(problem).startswith("Phone: ")
    assert rows == [
        ["Name", "Phone", "Code", "Problem"],
        ["Ann", ANN, "007", None],
        ["<Bob>", "12", "-x"],
    ]
    marked = [
        cell.coordinate
        for row in sheet.iter_rows(max_row=3)
        for cell in row
        if cell.fill.fill_type == "solid"
    ]
    assert marked == ["B3"]
    assert sheet["B2"].quotePrefix
    assert not sheet["C2"].quotePrefix
    assert sheet["C3"].quotePrefix
    assert [sheet[at].data_type for at in ("B2", "C2", "C3")] == ["s", "s", "s"]
    assert {sheet[at].number_format for at in ("B2", "C2", "C3")} == {"@"}
    with open_table(io.BytesIO(written)) as table:
        assert table.header == ["Name", "Phone", "Code", "Problem"]
        assert [row.cells[:3] for row in table.rows()] == [row[:3] for row in rows[1:]]
    assert counts(importer.checked(written)) == counts(upload)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_text_that_looks_like_an_escape_of_a_workbook_comes_back_unchanged(
    importer: Importer,
) -> None:
    data = workbook(["Name", "Phone", "Note"], ["_x005F_x0041_", "12", "two_x000D_\nlines"])
    written = returned(importer, importer.checked(data).id)
    with open_table(io.BytesIO(written)) as table:
        assert [row.cells[:3] for row in table.rows()] == [["_x0041_", "12", "two\r\nlines"]]


def test_a_file_of_only_the_failed_rows_can_be_requested(importer: Importer) -> None:
    upload = importer.checked(workbook(["Name", "Phone"], ["Ann", ANN], ["Bob", "12"]))
    written = returned(importer, upload.id, failed_only=True)
    sheet = load_workbook(io.BytesIO(written))["Patients"]
    assert [[cell.value for cell in row][:2] for row in sheet.iter_rows()] == [
        ["Name", "Phone"],
        ["Bob", "12"],
    ]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_old_workbook_comes_back_as_a_new_one(importer: Importer) -> None:
    upload = importer.checked(xls(("Old", [["Name", "Phone"], ["Ann", ANN], ["Bob", "12"]])))
    assert upload.file_kind == "xls"
    sheet = load_workbook(io.BytesIO(returned(importer, upload.id)))["Old"]
    assert [cell.value for cell in sheet["A"]] == ["Name", "Ann", "Bob"]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_cards_come_back_as_csv(importer: Importer) -> None:
    card = f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ann\r\nTEL:{ANN}\r\nEND:VCARD\r\n"
    upload = importer.checked(card)
    assert upload.file_kind == "vcard"
    rows = list(csv.reader(io.StringIO(returned(importer, upload.id).decode("utf-8-sig"))))
    assert rows[0][-1] == "Problem"
    assert f"'{ANN}" in rows[1]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_columns_that_were_mapped_by_hand_stay_so_when_the_file_comes_back(
    importer: Importer,
) -> None:
    upload = importer.checked(f"A,B\nAnn,{ANN}\nBob,12\n")
    with importer.database.transaction() as session:
        steps.read_again(session, importer.caller, upload.id, mapping=["lastName", "phone"])
    upload = importer.check(upload.id)
    again = importer.checked(returned(importer, upload.id))
    assert again.mapping == ["lastName", "phone", "ignore"]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_rows_that_are_ignored_say_why(importer: Importer) -> None:
    upload = importer.checked(f"Name,Phone,Status\nAnn,{ANN},completed\n")
    assert problem_of(importer, upload.id) == "Ignored: Outreach has ended"
