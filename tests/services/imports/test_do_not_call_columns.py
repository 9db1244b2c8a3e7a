"""Columns that say who must not be called: known by their names; yes refuses, no says nothing."""

from typing import Any

import pytest
from sqlalchemy import select

from app.enums import ContactAction
from app.models import Contact
from app.services.imports import undo
from app.services.imports.cells import CellNote
from app.services.imports.mapping import ColumnTarget, HeaderMapping, MappedRow, TargetField
from app.services.imports.mapping_file import targets_of
from app.services.imports.pipeline import undo_rows
from app.services.imports.rows import to_contact
from app.services.imports.suggestions import suggest
from tests.fixtures.uploads import Importer

NUMBER, OTHER = "+12025550101", "+12025550102"
ASKED = "Asked not to be called: kept, and not called."


@pytest.mark.parametrize(
    "name",
    [
        *("Do Not Call", "DoNotCall", "DO_NOT_CALL", "Do_Not_Call__c", "DNC", "Don't call"),
        *("HasOptedOutOfCall", "Opted out of calls", "Phone opt-out", "Call Opt Out", "DND"),
        *("Do not phone", "Do not allow Phone Calls", "Do Not Contact", "Opted Out"),
        *("Phone 2 DNC", "DNC Mobile", "Cell DNC Flag", "TPS", "Bloctel", "Lista Robinson"),
        *("Nicht anrufen", "Keine Anrufe", "Ne pas appeler", "No llamar", "Não ligar"),
        *("Non chiamare", "Niet bellen", "Bel-me-niet", "federal_donotcall"),
    ],
)
def test_a_do_not_call_column_is_recognised_by_its_name(name: str) -> None:
    assert suggest(["Phone", name]) == [
        ColumnTarget(TargetField.PHONE),
        ColumnTarget(TargetField.DO_NOT_CALL),
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("Email Opt Out", "HasOptedOutOfEmail", "HasOptedOutOfFax", "SMS Opt Out"),
        *(
            "Opted out of email: Newsletter",
            "Unsubscribed",
            "Do not mail",
            "Call notes",
            "Notes DNC",
        ),
    ],
)
def test_an_opt_out_of_something_else_allows_calls(name: str) -> None:
    assert suggest(["Phone", name]) == [
        ColumnTarget(TargetField.PHONE),
        ColumnTarget(TargetField.METADATA, name),
    ]


def mapped(*cells: str, header: tuple[str, ...] = ("Phone", "Do Not Call")) -> MappedRow:
    return to_contact(cells, HeaderMapping(header, suggest(header)), "US")


def refused(source: str, *notes: CellNote) -> MappedRow:
    answer_text = {"consent": "no", "consentSource": source, "consentAt": None}
    return MappedRow({"phone": NUMBER, "contactMetadata": answer_text}, list(notes))


@pytest.mark.parametrize(
    "text", ["Yes", "TRUE", "1", "-1", "x", "✓", "Ja", "oui", "SÍ", "sim", "DNC", " Opted  out "]
)
def test_yes_is_a_refusal_that_names_its_column(text: str) -> None:
    assert mapped(NUMBER, text) == refused("Do Not Call", CellNote(1, "do_not_call", ASKED))


@pytest.mark.parametrize("text", ["", " ", "No", "FALSE", "0", "nein", "non", "Não", "Allow"])
def test_no_is_not_recorded_as_consent(text: str) -> None:
    assert mapped(NUMBER, text) == MappedRow({"phone": NUMBER})


def test_a_placeholder_counts_as_empty() -> None:
    empty = CellNote(1, "placeholder_value", "“N/A” counts as empty.")
    assert mapped(NUMBER, "N/A") == MappedRow({"phone": NUMBER}, [empty])


@pytest.mark.parametrize("text", ["mornings only", "2026-03-01", "Email, SMS, Call", "2"])
def test_an_answer_that_is_neither_yes_nor_no_is_a_refusal_and_is_quoted(text: str) -> None:
    message = f"“{text}” is neither yes nor no: kept, and not called."
    unclear = CellNote(1, "do_not_call_unclear", message)
    assert mapped(NUMBER, text) == refused(f"Do Not Call: {text}", unclear)


def test_a_cell_with_an_error_of_the_spreadsheet_is_a_problem() -> None:
    row = mapped(NUMBER, "#REF!")
    assert [(note.column, note.code) for note in row.errors] == [(1, "cell_error")]


def test_any_of_several_columns_refuses_and_counts_more_than_consent() -> None:
    header = ("Phone", "Consent", "Consent date", "DNC", "Do Not Call", "DNC (2)")
    assert mapped(NUMBER, "yes", "2026-03-01", "no", "yes", "y", header=header) == MappedRow(
        {
            "phone": NUMBER,
            "contactMetadata": {
                "consent": "no", "consentSource": "Do Not Call", "consentAt": "2026-03-01",
            },
        },
        [CellNote(4, "do_not_call", ASKED), CellNote(5, "do_not_call", ASKED)],
    )  # fmt: skip


def test_a_column_is_given_the_meaning_by_hand_and_others_keep_theirs() -> None:
    header = ["Phone", "Leave me alone", "DNC"]
    chosen = targets_of({"doNotCall": "B"}, header, {}, suggest(header))
    assert [str(target) for target in chosen.targets] == ["phone", "doNotCall", "doNotCall"]
    taken = targets_of({"metadata:DNC": "DNC"}, header, {}, suggest(header))
    assert [str(target) for target in taken.targets] == [
        "phone",
        "metadata:Leave me alone",
        "metadata:DNC",
    ]


def answer_text(importer: Importer) -> list[tuple[Any, ...]]:
    """Of every contact in the campaign: number, consent, its source, and all metadata."""
    query = select(
        Contact.phone, Contact.consent, Contact.consent_source, Contact.contact_metadata
    ).order_by(Contact.phone)
    with importer.database.transaction(read_only=True) as session:
        return [tuple(row) for row in session.execute(query)]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_refusal_is_stored_counted_and_taken_back(importer: Importer) -> None:
    given = {"consent": "yes", "consentSource": "a form", "consentAt": "2026-03-01"}
    importer.send({"phone": NUMBER, "contactMetadata": given})
    before = answer_text(importer)
    upload = importer.checked(f"Phone,DNC\n{NUMBER},Yes\n{OTHER},ask Ann\n+12025550103,No\n")
    assert [problem[:3] for problem in importer.problems(upload.id)] == [
        (2, 1, "do_not_call"),
        (3, 1, "do_not_call_unclear"),
    ]
    assert [row[1] for row in importer.rows(upload.id)] == ["updated", "created", "created"]
    removing = importer.checked(f"Phone,DNC\n{NUMBER},Yes\n{OTHER},Yes\n", ContactAction.REMOVE)
    assert [problem[2] for problem in importer.problems(removing.id)] == ["not_found"]
    importer.apply(upload.id)
    assert answer_text(importer) == [
        (NUMBER, "refused", "DNC", {"consent": "no", "consentSource": "DNC"}),
        (OTHER, "refused", "DNC: ask Ann", {"consent": "no", "consentSource": "DNC: ask Ann"}),
        ("+12025550103", None, None, None),
    ]
    with importer.database.transaction() as session:
        order = undo.start(session, importer.caller, upload.id, 7).undo_number
    undo_rows(importer.database, upload.id, order)
    assert answer_text(importer) == before
