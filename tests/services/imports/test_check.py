"""The check of a file, and that applying it has exactly the announced effect."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
from sqlalchemy import func, select, update

from app.enums import ContactAction, ImportStatus
from app.errors import Conflict, ValidationFailed
from app.models import AuditEntry, Campaign, Contact, ImportProblem, ImportRow, Organization
from app.services import contacts, do_not_call
from app.services.imports import check, reports, steps, uploads
from app.services.imports.check import CheckSuperseded
from app.services.imports.reports import ProblemKind
from tests.files.exports import Export, hubspot_contacts, hubspot_workbook
from tests.fixtures.uploads import Importer, counts, number

UPSERT, UPDATE_ONLY, REMOVE = ContactAction
ANN, BOB, CLARA = number(1), number(2), number(3)
COUNTS = ("created", "updated", "deleted", "ignored", "failed")
HEADER = "First name,Phone,E-mail,Status\n"


class Case(NamedTuple):
    """A file, what it should become, and what the campaign then holds."""

    action: ContactAction
    rows: str
    outcomes: Sequence[tuple[int, str, str | None]]
    people: Sequence[tuple[str | None, str | None, str | None]]
    stored: Sequence[dict[str, Any]] = ({"firstName": "Ann", "phone": ANN},)
    skipped: int = 0


CASES = {
    "people are added and updated": Case(
        UPSERT,
        f"Anna,{ANN},,\nBob,{BOB},bob@mail.example,\n",
        [(2, "updated", None), (3, "created", None)],
        [("Anna", ANN, None), ("Bob", BOB, "bob@mail.example")],
    ),
    "the same person twice is created once, then updated": Case(
        UPSERT,
        f"Bob,{BOB},,\nBobby,{BOB},,\nRobert,,BOB@mail.example,\n,{BOB},bob@mail.example,\n",
        [
            (2, "created", None),
            (3, "updated", None),
            (4, "created", None),
            (5, "failed", "ambiguous_match"),
        ],
        [("Ann", ANN, None), ("Bobby", BOB, None), ("Robert", None, "BOB@mail.example")],
    ),
    "people whose outreach has ended are not added": Case(
        UPSERT,
        f"Bob,{BOB},, Completed \nAnn,{ANN},,disqualified\n",
        [(2, "ignored", "status_ended"), (3, "updated", None)],
        [("Ann", ANN, None)],
    ),
    "nobody is added by an update": Case(
        UPDATE_ONLY,
        f"Bob,{BOB},,\nAnna,{ANN},,\n",
        [(2, "ignored", "not_in_campaign"), (3, "updated", None)],
        [("Anna", ANN, None)],
    ),
    "people are removed once": Case(
        REMOVE,
        f",{ANN},,\n,{ANN},,\n,{BOB},,\n",
        [(2, "deleted", None), (3, "failed", "not_found"), (4, "failed", "not_found")],
        [],
    ),
    "one person's phone and another's address belong together for nobody": Case(
        UPSERT,
        f"Who,{ANN},bob@mail.example,\n",
        [(2, "failed", "ambiguous_match")],
        [("Ann", ANN, None), (None, BOB, "bob@mail.example")],
        stored=({"firstName": "Ann", "phone": ANN}, {"phone": BOB, "email": "bob@mail.example"}),
    ),
    "blank rows are left out": Case(
        UPSERT,
        f"\n,,,\nBob,{BOB},,\n , ,,\n",
        [(4, "created", None)],
        [("Ann", ANN, None), ("Bob", BOB, None)],
        skipped=3,
    ),
    "cells out of place are not guessed at": Case(
        UPSERT,
        f"Bob,{BOB},,,12 High Street\nClara,{CLARA},,\nAnn,{ANN},,\n",
        [(2, "failed", "column_count"), (3, "created", None), (4, "updated", "unchanged")],
        [("Ann", ANN, None), ("Clara", CLARA, None)],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_result_equals_the_check(importer: Importer, case: Case) -> None:
    importer.send(*case.stored)
    before = importer.people()
    upload = importer.checked(HEADER + case.rows, case.action)
    outcomes = [outcome for _, outcome, _ in case.outcomes]
    expected = tuple(outcomes.count(name) for name in COUNTS)
    assert importer.rows(upload.id) == case.outcomes
    assert (upload.status, counts(upload)) == (ImportStatus.CHECKED, expected)
    assert (upload.rows_total, upload.rows_skipped) == (len(outcomes), case.skipped)
    assert importer.people() == before

    if not any(expected[:3]):
        with pytest.raises(Conflict) as refusal:
            importer.start(upload.id)
        assert refusal.value.code == "nothing_to_apply"
        return
    applied = importer.apply(upload.id)
    assert (applied.status, counts(applied)) == (ImportStatus.DONE, expected)
    assert applied.expected == dict(zip(COUNTS, expected, strict=True))
    assert importer.rows(upload.id) == case.outcomes
    assert importer.people() == sorted(case.people, key=repr)


@pytest.mark.parametrize("make", [hubspot_contacts, hubspot_workbook], ids=["csv", "xlsx"])
def test_a_real_export_has_its_bad_rows_named(
    importer: Importer, make: Callable[[], Export]
) -> None:
    export = make()
    upload = importer.checked(export.data)
    good = export.rows - len(export.bad)
    assert counts(upload) == (good, 0, 0, 0, len(export.bad))
    failed = [(row, code) for row, outcome, code in importer.rows(upload.id) if outcome == "failed"]
    assert failed == export.bad
    with importer.database.transaction(read_only=True) as session:
        kinds = reports.failed_kinds(session, upload)
        shown = reports.page(session, upload, code="invalid_email", limit=4)
    assert sum(kind.rows for kind in kinds) == len(export.bad)
    assert kinds[0] == ProblemKind("invalid_email", None, 6)
    emails = [row for row, code in export.bad if code == "invalid_email"]
    assert [row.number for row in shown.rows] == emails[:4]
    assert shown.next_number == emails[3]


def test_a_row_with_several_problems_counts_and_is_found_for_each(importer: Importer) -> None:
    upload = importer.checked("name,phone,email\nAnn,12,ann\nBob,+12025550102,bob\n")
    with importer.database.transaction(read_only=True) as session:
        kinds = reports.failed_kinds(session, upload)
        shown = reports.page(session, upload, code="invalid_email")
    assert upload.failed == 2
    assert {(kind.code, kind.rows) for kind in kinds} == {
        ("invalid_email", 2),
        ("invalid_phone", 1),
    }
    assert [row.number for row in shown.rows] == [2, 3]


def test_checking_changes_nothing(importer: Importer) -> None:
    importer.send({"phone": ANN})
    with importer.database.transaction(read_only=True) as session:
        revision = session.scalar(select(Campaign.revision))
    importer.checked(HEADER + f"Anna,{ANN},,\nBob,{BOB},,\n")
    with importer.database.transaction(read_only=True) as session:
        assert session.scalar(select(Campaign.revision)) == revision
        assert session.scalars(select(Contact.first_name)).all() == [None]


def test_all_problems_of_a_row_are_reported_at_once_at_their_cells(importer: Importer) -> None:
    upload = importer.checked(HEADER + f"{'x' * 101},4.47E+11,ann(at)mail,N/A\n")
    assert importer.problems(upload.id) == [
        (2, 1, "excel_damaged_phone", "phone", False),
        (2, 2, "invalid_email", "email", False),
        (2, 0, "value_too_long", "firstName", False),
        (2, 3, "placeholder_value", "status", True),
    ]


@pytest.mark.parametrize("name", ["contactMetadata", "externalIds", "other"])
def test_a_name_with_nul_in_the_json_of_a_row_fails_only_that_row(
    importer: Importer, name: str
) -> None:
    contact = json.dumps({name: {"a\0": "x"}} if name != "other" else {"\0": 1})
    cell = contact.replace('"', '""')
    file = f'phone,contactJson\n{number(1)},"{cell}"\n{number(2)},\n'
    upload = importer.checked(file)
    assert (upload.created, upload.failed) == (1, 1)
    problem = (2, 1, "invalid_metadata", "contactJson", False)
    assert importer.problems(upload.id) == [problem]


def test_a_file_and_the_api_name_a_problem_alike(importer: Importer) -> None:
    sent: list[dict[str, Any]] = [
        {"firstName": "Ann"},
        {"email": "ann(at)mail.example"},
        {"phone": ANN, "firstName": "x" * 101},
        {"phone": ANN, "contactMetadata": {"Notes": "x" * 1001}},
    ]
    file = "First name,Phone,E-mail,Notes\n" + "".join(
        f"{item.get('firstName', '')},{item.get('phone', '')},{item.get('email', '')},"
        f"{item.get('contactMetadata', {}).get('Notes', '')}\n"
        for item in sent
    )
    upload = importer.checked(file)
    with importer.database.transaction(read_only=True) as session:
        campaign = session.get_one(Campaign, importer.campaign_id)
        answer = contacts.apply(session, campaign, sent, UPSERT, dry_run=True)
        shown = reports.page(session, upload)
    answer_text = [[(p.code, p.field, p.message) for p in row.problems] for row in shown.rows]
    assert answer_text == [
        [(p.code, p.field, p.message) for p in answer.problems[index]] for index in range(4)
    ]


def test_numbers_on_the_do_not_call_list_are_refused_if_the_organization_chose_it(
    importer: Importer,
) -> None:
    with importer.database.transaction() as session:
        session.execute(update(Organization).values(refuse_do_not_call=True))
        do_not_call.add(session, importer.caller, importer.organization_id, ANN)
    upload = importer.checked(HEADER + f"Ann,{ANN},,\nBob,{BOB},,\n")
    assert importer.rows(upload.id) == [(2, "failed", "do_not_contact"), (3, "created", None)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            b"MZ\x00\x01" * 60,
            "This is a program, not a contact file. Save the list as CSV or XLSX.",
        ),
        (
            HEADER.encode(),
            "The file has a header and no rows below it, so there is nothing to upload.",
        ),
        (b"\n\n \n", "The file is empty. Export it again and upload the new file."),
        (b"%PDF-1.7 ...", "This is a PDF, not a contact file. Save the list as CSV or XLSX."),
        (
            b"PK\x03\x04 not a workbook",
            "The workbook is damaged. Open it in a spreadsheet and save it again.",
        ),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    importer: Importer, data: bytes, sentence: str
) -> None:
    upload = importer.checked(data)
    assert (upload.status, upload.failure) == (ImportStatus.FAILED, sentence)
    assert importer.rows(upload.id) == []


def test_an_empty_file_is_refused_at_once(importer: Importer) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        importer.upload(b"")
    assert refusal.value.code == "empty_file"


def test_a_file_that_is_gone_says_so(importer: Importer) -> None:
    upload_id = importer.upload(HEADER + f"Ann,{ANN},,\n")
    importer.files.delete(importer.now(upload_id).file_key)
    assert importer.check(upload_id).failure == (
        "The file is no longer available. Nothing was changed. Upload it again."
    )


def test_a_repair_is_made_only_after_a_user_confirms_it(importer: Importer) -> None:
    upload = importer.checked(HEADER + f"Ann,{ANN}.0,,\nBob,12025550142.0,,\nCy,4.47E+11,,\n")
    assert counts(upload) == (0, 0, 0, 0, 3)
    with importer.database.transaction() as session:
        proposed = reports.repairs(session, upload)
        steps.repair(session, importer.caller, upload.id, "decimals")
    assert [(r.reason, r.rows, r.row_number, r.value, r.repaired) for r in proposed] == [
        ("decimals", 2, 2, f"{ANN}.0", ANN)
    ]
    assert counts(importer.check(upload.id)) == (2, 0, 0, 0, 1)
    assert (3, 1, "repaired", "phone", True) in importer.problems(upload.id)
    with importer.database.transaction() as session:
        steps.undo_repair(session, importer.caller, upload.id, "decimals")
    assert counts(importer.check(upload.id)) == (0, 0, 0, 0, 3)


def test_columns_that_were_chosen_are_remembered_for_the_next_file(importer: Importer) -> None:
    first = importer.checked(f"A,B\nAnn,{ANN}\n")
    assert first.mapping == ["metadata:A", "metadata:B"]
    assert counts(first) == (0, 0, 0, 0, 1)
    with importer.database.transaction() as session:
        steps.read_again(session, importer.caller, first.id, mapping=["firstName", "phone"])
    assert counts(importer.check(first.id)) == (1, 0, 0, 0, 0)
    second = importer.checked(f"A,B\nBob,{BOB}\n")
    assert (second.mapping, counts(second)) == (["firstName", "phone"], (1, 0, 0, 0, 0))


def test_columns_without_names_are_remembered_where_the_values_agree(importer: Importer) -> None:
    first = importer.checked(f"Ann,{ANN},ann@example.com\nBob,{BOB},bob@example.com\n")
    assert first.mapping == ["firstName", "phone", "email"]
    with importer.database.transaction() as session:
        steps.read_again(session, importer.caller, first.id, mapping=["lastName", "phone", "email"])
    alike = importer.checked(f"Cy,{number(3)},-\nDi,{number(4)},n/a\n")
    assert (alike.mapping, counts(alike)) == (["lastName", "phone", "email"], (2, 0, 0, 0, 0))
    other = importer.checked(f"cy@example.com,Cy,{number(3)}\ndi@example.com,Di,{number(4)}\n")
    assert other.mapping == ["email", "firstName", "phone"]
    assert counts(other) == (2, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("mapping", "problems"),
    [
        (["firstName", "nonsense"], [("columns.1", "unknown_target")]),
        (["firstName", "metadata:a\0"], [("columns.1", "unknown_target")]),
        (["firstName", "externalId:crmId"], [("columns.1", "unknown_target")]),
        (["firstName", "firstName"], [("columns.1", "column_twice")]),
        (
            ["metadata", "phone:x"],
            [("columns.0", "unknown_target"), ("columns.1", "unknown_target")],
        ),
    ],
)
def test_an_impossible_mapping_is_refused(
    importer: Importer, mapping: list[str], problems: list[tuple[str, str]]
) -> None:
    upload = importer.checked(f"A,B\nAnn,{ANN}\n")
    with pytest.raises(ValidationFailed) as refusal, importer.database.transaction() as session:
        steps.read_again(session, importer.caller, upload.id, mapping=mapping)
    assert [(p.field, p.code) for p in refusal.value.problems] == problems


def test_encoding_sheet_and_header_can_be_chosen(importer: Importer) -> None:
    upload = importer.checked(f"List of spring\nName;Phone\nAnn;{ANN}\n")
    with importer.database.transaction() as session:
        steps.read_again(
            session,
            importer.caller,
            upload.id,
            reading=steps.ReadingChoices(delimiter=",", header_row=2),
        )
    again = importer.check(upload.id)
    assert (again.columns, again.found["headerRow"]) == (["Name;Phone"], 2)


def test_a_new_check_stops_the_one_before(importer: Importer) -> None:
    upload_id = importer.upload(HEADER + f"Ann,{ANN},,\n")
    with importer.database.transaction() as session:
        task = check.start(session, upload_id, 1)
    assert task is not None
    assert counts(importer.check(upload_id)) == (1, 0, 0, 0, 0)
    with pytest.raises(CheckSuperseded), importer.database.transaction() as session:
        check.store_rows(session, task, [], [])
    with importer.database.transaction() as session:
        assert check.start(session, upload_id, 1) is None
        assert session.scalar(select(func.count()).select_from(ImportRow)) == 1


def test_the_same_file_is_recognised_once_it_was_applied(importer: Importer) -> None:
    data = HEADER + f"Ann,{ANN},,\n"
    first, second = importer.checked(data), importer.checked(data)
    with importer.database.transaction(read_only=True) as session:
        assert uploads.same_file(session, second) is None
    importer.apply(first.id)
    with importer.database.transaction(read_only=True) as session:
        same = uploads.same_file(session, second)
    assert same is not None
    assert same.id == first.id


def test_the_history_shows_who_uploaded_and_applied(importer: Importer) -> None:
    upload = importer.checked(HEADER + f"Ann,{ANN},,\n")
    importer.apply(upload.id)
    query = select(AuditEntry.action, AuditEntry.actor).where(
        AuditEntry.target_id == str(upload.id)
    )
    with importer.database.transaction(read_only=True) as session:
        reported = [tuple(row) for row in session.execute(query.order_by(AuditEntry.id))]
    who = importer.caller.label
    assert reported == [("upload.created", who), ("upload.started", who), ("upload.applied", who)]


def test_a_number_of_a_country_that_is_not_open_is_stored_with_a_warning(
    importer: Importer,
) -> None:
    with importer.database.transaction() as session:
        session.execute(update(Organization).values(allowed_regions=["US", "GB"]))
    upload = importer.checked("Phone\n+12025550101\n+4930901820\n+447400123456\n+18762345678\n")
    assert counts(upload) == (4, 0, 0, 0, 0)
    with importer.database.transaction(read_only=True) as session:
        query = select(ImportProblem.row_number, ImportProblem.message).where(
            ImportProblem.code == "country_not_open", ImportProblem.is_warning
        )
        found = [tuple(row) for row in session.execute(query.order_by(ImportProblem.row_number))]
        notes = reports.note_kinds(session, upload)
    words = "This number is in {}, which isn't open for calls, so it won't be called."
    # The partner has opened no country besides that of the organization.
    countries = {3: "Germany", 4: "the United Kingdom", 5: "Jamaica"}
    assert found == [(row, words.format(country)) for row, country in countries.items()]
    assert ProblemKind("country_not_open", None, 3) in notes
