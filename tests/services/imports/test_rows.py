"""Rows onto contacts, by what their columns became."""

import pytest

from app.services.imports.cells import CellNote
from app.services.imports.mapping import ColumnTarget, HeaderMapping, MappedRow, TargetField
from app.services.imports.rows import to_contact
from app.services.imports.suggestions import suggest

HEADER = ("First", "Last", "E-mail", "Phone", "Mobile", "Status", "crmId", "Recall due", "Notes")


def mapped(region: str | None = "US", **cells: str) -> MappedRow:
    values = [cells.get(name.lower().replace("-", "").replace(" ", "_"), "") for name in HEADER]
    return to_contact(values, HeaderMapping(HEADER, suggest(HEADER, ["crmId"])), region)


def test_a_row_becomes_a_contact_in_the_shape_of_the_bulk_request() -> None:
    row = mapped(
        first=" Aurelia ",
        last="Whitcombe-Szymańska",
        email="Aurelia@mail.example",
        phone="(202) 555-0123",
        status="new",
        crmid="A-17",
        recall_due="03/12/2026",
    )
    assert row == MappedRow(
        contact={
            "firstName": "Aurelia",
            "lastName": "Whitcombe-Szymańska",
            "email": "Aurelia@mail.example",
            "phone": "+12025550123",
            "status": "new",
            "externalIdKey": "crmId",
            "externalIdValue": "A-17",
            "contactMetadata": {"Recall due": "03/12/2026"},
        },
        assumed_country=True,
    )


def test_empty_cells_are_left_out() -> None:
    assert mapped(phone="+12025550123", first="  ") == MappedRow({"phone": "+12025550123"})


@pytest.mark.parametrize("text", ["N/A", "-", "none", "NULL", "n.a.", "—", "#N/A", "NaN"])
def test_placeholders_count_as_empty_with_a_warning(text: str) -> None:
    row = mapped(first=text, email=text, phone="+12025550123", recall_due="none")
    message = f"“{text}” counts as empty."
    assert row == MappedRow(
        {"phone": "+12025550123", "contactMetadata": {"Recall due": "none"}},
        [CellNote(0, "placeholder_value", message), CellNote(2, "placeholder_value", message)],
    )


def test_a_person_called_nan_keeps_her_name() -> None:
    assert mapped(first="Nan", last="Na").contact == {"firstName": "Nan", "lastName": "Na"}


NUMBER, OTHER = "+12025550123", "+1 202-555-0124"


def test_the_first_valid_phone_counts_and_the_others_are_kept_as_metadata() -> None:
    row = mapped(phone=NUMBER, mobile=OTHER)
    assert row == MappedRow(
        {"phone": NUMBER, "contactMetadata": {"Mobile": OTHER}},
        [CellNote(4, "several_phones", f"{NUMBER} is used; this number is kept as metadata.")],
    )


def test_a_phone_that_cannot_be_used_gives_way_to_the_next() -> None:
    row = mapped(phone="4.41E+11", mobile=OTHER)
    message = "Rounded by the spreadsheet: the last digits are lost. +12025550124 is used instead."
    assert row == MappedRow(
        {"phone": "+12025550124", "contactMetadata": {"Phone": "4.41E+11"}},
        [CellNote(3, "phone_dropped", message, "rounded")],
    )


def test_the_same_number_twice_gives_no_warning() -> None:
    assert mapped(phone=NUMBER, mobile="(202) 555-0123") == MappedRow({"phone": NUMBER})


def test_the_preferred_phone_column_can_be_chosen() -> None:
    mapping = HeaderMapping(
        ["Phone", "Mobile"], [ColumnTarget(TargetField.PHONE)] * 2, phone_order=[1]
    )
    assert to_contact([NUMBER, OTHER], mapping, None).contact == {
        "phone": "+12025550124",
        "contactMetadata": {"Phone": NUMBER},
    }


@pytest.mark.parametrize(
    ("label", "column"), [("Phone 1 - Label", "Phone 1 - Value"), ("Phone Type", "Phone")]
)
def test_a_number_that_the_column_beside_it_calls_a_fax_is_no_phone(
    label: str, column: str
) -> None:
    header = [label, column, "Mobile"]
    mapping = HeaderMapping(header, suggest(header))
    assert to_contact(["Work Fax", NUMBER, OTHER], mapping, None) == MappedRow(
        {"phone": "+12025550124", "contactMetadata": {label: "Work Fax", column: NUMBER}}
    )
    assert to_contact(["Work", NUMBER, ""], mapping, None).contact["phone"] == NUMBER


@pytest.mark.parametrize(
    "written", ["ext. 45", "x45", "#45", ",,45", ",,,45#", "p45", " (x45)", " (ext. 45)"]
)
def test_an_extension_is_kept_as_metadata_with_a_warning(written: str) -> None:
    message = "Kept without its extension 45, which is kept as metadata."
    assert mapped(phone=f"(202) 555-0123{written}") == MappedRow(
        {"phone": NUMBER, "contactMetadata": {"phoneExtension": "45"}},
        [CellNote(3, "extension_dropped", message)],
        assumed_country=True,
    )


def test_a_number_that_its_country_does_not_have_is_kept_with_a_warning() -> None:
    message = "No number like this is in use in its country: check the digits."
    assert mapped("GB", phone="07700 90041") == MappedRow(
        {"phone": "+44770090041"},
        [CellNote(3, "implausible_phone", message)],
        assumed_country=True,
    )


@pytest.mark.parametrize(
    ("cells", "region", "error"),
    [
        (
            {"phone": "7700900418"},
            "GB",
            CellNote(
                3, "excel_damaged_phone", "Leading zero lost.", "leading_zero_lost", "+447700900418"
            ),
        ),
        (
            {"phone": "06 12 34 56 7"},
            "FR",
            CellNote(
                3,
                "invalid_phone",
                "Too short for France: 8 digits after the 0, 9 are needed.",
                "too_short",
            ),
        ),
        (
            {"phone": "555-0143"},
            "US",
            CellNote(
                3,
                "invalid_phone",
                "The area code is missing for the United States: 7 digits, 10 are needed.",
                "area_code_missing",
            ),
        ),
        (
            {"phone": "202-555-0123; 202-555-0124"},
            "US",
            CellNote(
                3,
                "several_phones",
                "Several numbers in one cell: keep one and put the others in separate columns.",
            ),
        ),
        (
            {"email": "a@mail.example; b@mail.example"},
            "US",
            CellNote(2, "several_emails", "Several email addresses in one cell: keep one."),
        ),
        (
            {"first": "#REF!"},
            "US",
            CellNote(0, "cell_error", "The spreadsheet shows an error here: #REF!."),
        ),
        (
            {"notes": "a\x07b"},
            "US",
            CellNote(8, "control_characters", "Holds control characters: type it again."),
        ),
    ],
)
def test_a_value_that_can_not_be_stored_is_an_error_of_its_cell(
    cells: dict[str, str], region: str, error: CellNote
) -> None:
    assert mapped(region, **cells).errors == [error]


def test_every_bad_phone_is_named_when_none_can_be_used() -> None:
    errors = mapped(phone="####", mobile="call me").errors
    assert [(note.column, note.code, note.reason) for note in errors] == [
        (3, "excel_damaged_phone", "hashes"),
        (4, "invalid_phone", "letters"),
    ]


def test_of_several_emails_the_first_valid_one_counts() -> None:
    mapping = HeaderMapping(["E-mail", "Work", "Home"], [ColumnTarget(TargetField.EMAIL)] * 3)
    row = to_contact(["ann(at)mail", "ann@work.example", "ann@home.example"], mapping, None)
    used = "ann@work.example is used; this address is kept as metadata only."
    assert row == MappedRow(
        {
            "email": "ann@work.example",
            "contactMetadata": {"E-mail": "ann(at)mail", "Home": "ann@home.example"},
        },
        [CellNote(0, "email_dropped", used), CellNote(2, "several_emails", used)],
    )


def test_further_columns_of_emails_are_kept_as_metadata() -> None:
    mapping = HeaderMapping(["E-mail", "Further"], [ColumnTarget(TargetField.EMAIL)] * 2)
    several = "b@mail.example; c@mail.example"
    row = to_contact(["ann@mail.example", several], mapping, None)
    used = "Several email addresses in one cell: keep one. ann@mail.example is used instead."
    assert row == MappedRow(
        {"email": "ann@mail.example", "contactMetadata": {"Further": several}},
        [CellNote(1, "email_dropped", used)],
    )


def test_an_invalid_email_is_checked_by_the_rule_of_contacts() -> None:
    assert mapped(email="ann(at)mail.example") == MappedRow({"email": "ann(at)mail.example"})


def test_a_row_has_as_many_external_ids_as_columns_hold() -> None:
    header = ["crmId", "siteId"]
    mapping = HeaderMapping(header, suggest(header, header))
    assert to_contact(["", "S1"], mapping, None).contact == {
        "externalIdKey": "siteId",
        "externalIdValue": "S1",
    }
    assert to_contact(["A1", "S1"], mapping, None).contact == {
        "externalIdKey": "crmId",
        "externalIdValue": "A1",
        "externalIds": {"siteId": "S1"},
    }


def test_columns_may_name_the_external_id_and_give_its_value() -> None:
    header = ["externalIdKey", "External ID value", "siteId"]
    mapping = HeaderMapping(header, suggest(header, ["siteId"]))
    assert to_contact(["crmId", "", "S1"], mapping, None).contact == {
        "externalIdKey": "crmId",
        "externalIds": {"siteId": "S1"},
    }


@pytest.mark.parametrize(
    ("code", "phone", "stored", "assumed"),
    [
        ("+44", "7700 900418", "+447700900418", False),
        ("0044", "07700 900418", "+447700900418", False),
        ("44", "7700900418", "+447700900418", False),
        ("1", "(202) 555-0123", "+12025550123", True),
        ("", "(202) 555-0123", "+12025550123", True),
        ("GB", "(202) 555-0123", "+12025550123", True),
        ("44", "+12025550123", "+12025550123", False),
    ],
)
def test_a_calling_code_in_a_column_beside_it_belongs_to_a_number(
    code: str, phone: str, stored: str, assumed: bool
) -> None:
    header = ["Phone", "Country code"]
    row = to_contact([phone, code], HeaderMapping(header, suggest(header)), "US")
    assert (row.contact["phone"], row.assumed_country, row.errors) == (stored, assumed, [])


def test_a_whole_name_fills_first_and_last_name() -> None:
    header = ["Name", "Phone"]
    contact = to_contact(["Ann Lee", NUMBER], HeaderMapping(header, suggest(header)), None).contact
    assert contact == {"firstName": "Ann", "lastName": "Lee", "phone": NUMBER}


@pytest.mark.parametrize(
    ("name", "beside", "reported"),
    [
        ("Müller", {"Vorname": "Hans"}, {"firstName": "Hans", "lastName": "Müller"}),
        ("Dr. Müller", {"Vorname": "Hans"}, {"firstName": "Hans", "lastName": "Müller"}),
        ("García López", {"Vorname": "Ana"}, {"firstName": "Ana", "lastName": "García López"}),
        ("Hans Müller", {"Vorname": "Hans"}, {"firstName": "Hans", "lastName": "Müller"}),
        ("Hans", {"Vorname": "Hans"}, {"firstName": "Hans"}),
        ("Ann", {"Surname": "Lee"}, {"firstName": "Ann", "lastName": "Lee"}),
    ],
)
def test_a_name_beside_the_first_or_the_last_name_is_the_other_one(
    name: str, beside: dict[str, str], reported: dict[str, str]
) -> None:
    fields = {"Vorname": TargetField.FIRST_NAME, "Surname": TargetField.LAST_NAME}
    targets = [
        ColumnTarget(TargetField.FULL_NAME),
        *(ColumnTarget(fields[column]) for column in beside),
    ]
    mapping = HeaderMapping(["Name", *beside], targets)
    contact = to_contact([name, *beside.values()], mapping, None).contact
    contact.pop("contactMetadata", None)
    assert contact == reported


def test_a_name_with_more_than_first_and_last_name_is_kept() -> None:
    def reported(header: list[str], *cells: str) -> dict[str, object]:
        return to_contact(cells, HeaderMapping(header, suggest(header)), None).contact

    assert reported(["Full name", "First name"], "Ann Marie Lee", "Ann") == {
        "firstName": "Ann",
        "lastName": "Lee",
        "contactMetadata": {"Full name": "Ann Marie Lee"},
    }
    assert reported(["Name", "Title"], "Dr. Ann Lee", "CEO") == {
        "firstName": "Ann",
        "lastName": "Lee",
        "contactMetadata": {"Title": "CEO", "Name": "Dr. Ann Lee"},
    }
