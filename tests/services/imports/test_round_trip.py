"""Any list of contacts, written in any dialect, is read back as the same list."""

import csv
import io
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from app.contact_files import guard_cell, open_table
from app.contact_files.cleaning import may_be_twice_encoded
from app.services.imports.mapping import HeaderMapping
from app.services.imports.rows import to_contact
from app.services.imports.suggestions import suggest
from tests.fixtures.uploads import number

_LETTERS = st.characters(categories=("Lu", "Ll", "Lo"), max_codepoint=0x24F)
_WORDS = (
    st.text(_LETTERS, min_size=2, max_size=12)
    .map(lambda text: f"X{text}")
    .filter(lambda text: not may_be_twice_encoded(text))
)
_NOTES = st.text(
    st.characters(categories=("L", "N", "P", "S", "Zs"), max_codepoint=0x2FF), max_size=30
).map(str.strip).filter(lambda text: text and not text.startswith(("#", "=", "'")))  # fmt: skip
_CONTACTS = st.lists(
    st.fixed_dictionaries(
        {
            "firstName": _WORDS,
            "lastName": _WORDS,
            "phone": st.integers(0, 7999).map(number),
            "email": st.integers(0, 10**6).map("p{}@mail.example".format),
            "contactMetadata": st.fixed_dictionaries({"Notes": _NOTES}),
        }
    ),
    min_size=1,
    max_size=30,
)
_HEADER = ["First name", "Last name", "Phone", "E-mail", "Notes"]


def _rows(contacts: list[dict[str, Any]]) -> list[list[str]]:
    return [
        [c["firstName"], c["lastName"], c["phone"], c["email"], c["contactMetadata"]["Notes"]]
        for c in contacts
    ]


def _read_back(data: bytes) -> list[dict[str, Any]]:
    with open_table(io.BytesIO(data)) as table:
        mapping = HeaderMapping(table.header, suggest(table.header))
        read = [(row, to_contact(row.cells, mapping, "US")) for row in table.rows()]
    assert [row.number for row, _ in read] == list(range(2, len(read) + 2))
    assert not any(row.problem or mapped.errors for row, mapped in read)
    return [mapped.contact for _, mapped in read]


@settings(max_examples=200, deadline=None)
@given(
    contacts=_CONTACTS,
    delimiter=st.sampled_from(",;\t|"),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    guarded=st.booleans(),
)
def test_a_list_in_any_dialect_is_read_back_as_it_was(
    contacts: list[dict[str, Any]],
    delimiter: str,
    line_end: str,
    quoting: int,
    encoding: str,
    guarded: bool,
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)  # type: ignore[arg-type]  # a constant of the module
    writer.writerow(_HEADER)
    for row in _rows(contacts):
        writer.writerow([guard_cell(cell) for cell in row] if guarded else row)
    assert _read_back(text.getvalue().encode(encoding)) == contacts


@settings(max_examples=40, deadline=None)
@given(contacts=_CONTACTS)
def test_a_list_in_a_workbook_is_read_back_as_it_was(contacts: list[dict[str, Any]]) -> None:
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("People")
    sheet.append(_HEADER)
    for row in _rows(contacts):
        sheet.append(row)
    data = io.BytesIO()
    workbook.save(data)
    assert _read_back(data.getvalue()) == contacts
