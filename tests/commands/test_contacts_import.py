"""Contact files by command: what is printed, what is done, and how it ends."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.config import ROOT
from app.models import AuditEntry, Contact, ContactImport
from tests import matrix
from tests.commands.conftest import Shell, written
from tests.fixtures.databases import BACKENDS

DOCS = ROOT / "docs" / "contact-files.md"
ANN, BOB, CY = "+12025550101", "+12025550102", "+12025550103"
LIST = f"Name,Phone,City\nAnn Lee,{ANN},Hove\n,,\nBob Li,12,Hove\nCy Ek,202-555-0103,\n"
ASSUMED = "Numbers without a country code were read as numbers of the organization’s country."
SENTENCE = "Too short for the United States: 1 digit after the 1, 10 are needed."

pytestmark = pytest.mark.parametrize(
    "backend", BACKENDS if matrix.is_full() else ["sqlite"], indirect=True
)


@pytest.fixture
def people_file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(LIST)
    return path


def phones(session: Session, shell: Shell) -> list[str | None]:
    query = select(Contact.phone).where(Contact.campaign_id == shell.campaign_id)
    return sorted(session.scalars(query), key=str)


def row(number: int, what: str, **more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "action": None,
        "contact": None,
        "warnings": [],
        "errors": [],
        "kind": None,
    }
    return {"row": number, "is": what, **empty, **more}


REPORTED = {
    "outcome": "read",
    "refusal": None,
    "read": {
        "type": "csv",
        "encoding": "utf-8",
        "delimiter": ",",
        "headerRow": 1,
        "sheet": None,
        "mappedBy": "auto",
        "mapping": {"fullName": ["Name"], "phone": ["Phone"], "City": ["City"]},
    },
    "counters": {
        "created": 2, "updated": 0, "deleted": 0, "ignored": 0, "skipped": 1, "failed": 1,
    },
    "rows": [
        row(2, "accepted", action="created", contact={
            "firstName": "Ann", "lastName": "Lee", "phone": ANN,
            "contactMetadata": {"City": "Hove"},
        }),
        row(3, "skipped"),
        row(4, "error", errors=[{"kind": "invalid_phone", "column": "Phone", "message": SENTENCE}]),
        row(5, "accepted", action="created", warnings=["assumed_country"],
            contact={"firstName": "Cy", "lastName": "Ek", "phone": CY}),
    ],
    "warnings": [{
        "kind": "assumed_country",
        "rows": 1,
        "message": ASSUMED,
    }],
}  # fmt: skip


def test_one_json_object_reports_what_was_done(
    shell: Shell, session: Session, people_file: Path
) -> None:
    assert shell.output(people_file) == (1, REPORTED)
    assert phones(session, shell) == [ANN, CY]


def test_the_docs_show_the_same_object(shell: Shell, tmp_path: Path) -> None:
    blocks = re.findall(r"^```\w*\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    (example,) = (block for block in blocks if block.startswith("Name,Phone,City\n"))
    (shown,) = (block for block in blocks if block.startswith("{\n"))
    assert shell.output(written(tmp_path, example)) == (1, json.loads(shown))


def test_of_blank_rows_the_first_ten_thousand_are_listed(shell: Shell, tmp_path: Path) -> None:
    path = written(tmp_path, f"Phone\n{ANN}\n" + "\n" * 10_003 + f"{BOB}\n")
    status, output = shell.output(path, "--dry-run")
    assert (status, output["counters"]["skipped"], output["counters"]["created"]) == (0, 10_003, 2)
    assert [each["row"] for each in output["rows"]] == [*range(2, 10_003), 10_006]


def test_a_dry_run_reports_the_same_and_writes_nothing(
    shell: Shell, session: Session, people_file: Path
) -> None:
    assert shell.output(people_file, "--dry-run") == (1, REPORTED)
    assert phones(session, shell) == []
    assert session.scalars(select(ContactImport)).all() == []
    assert not list(people_file.parent.rglob("uploads/*"))


def test_the_import_is_recorded_as_made_by_the_command_line(
    shell: Shell, session: Session, people_file: Path
) -> None:
    shell.output(people_file)
    upload = session.scalars(select(ContactImport)).one()
    assert (upload.status, upload.author, upload.file_name) == (
        "done",
        "command line",
        "people.csv",
    )
    assert (upload.created, upload.failed, upload.rows_applied) == (2, 1, 2)
    assert (upload.lease_until, upload.apply_when_checked) == (None, False)
    entries = select(AuditEntry.action, AuditEntry.actor).where(AuditEntry.target_type == "upload")
    who = "command line"
    assert [tuple(entry) for entry in session.execute(entries.order_by(AuditEntry.id))] == [
        ("upload.created", who),
        ("upload.started", who),
        ("upload.applied", who),
    ]


def test_the_exit_code_is_0_if_every_row_is_good(shell: Shell, tmp_path: Path) -> None:
    status, output = shell.output(written(tmp_path, f"Phone\n{ANN}\n"))
    assert (status, output["counters"]["created"]) == (0, 1)


def test_an_update_adds_no_contact_and_a_removal_removes(
    shell: Shell, session: Session, tmp_path: Path
) -> None:
    shell.output(written(tmp_path, f"Phone\n{ANN}\n"))
    both = written(tmp_path, f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    status, output = shell.output(both, "--action", "updateOnly")
    assert status == 0
    assert [(r["is"], r["action"], r["kind"]) for r in output["rows"]] == [
        ("accepted", "updated", None),
        ("ignored", None, "not_in_campaign"),
    ]
    status, output = shell.output(both, "--action", "remove")
    assert [(r["is"], r["action"]) for r in output["rows"]] == [
        ("accepted", "deleted"),
        ("error", None),
    ]
    assert (status, phones(session, shell)) == (1, [])


def test_without_json_the_result_is_a_few_sentences(
    shell: Shell, session: Session, people_file: Path
) -> None:
    result = shell.put_in(people_file)
    upload = session.scalars(select(ContactImport)).one()
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "people.csv: text, utf-8, parted by commas, column names in row 1, columns by their names",
        "  fullName: Name",
        "  phone: Phone",
        "  City: City",
        "3 rows: 2 created, 0 updated, 0 deleted, 0 ignored, 1 failed; 1 blank or footers.",
        "  failed           1  Not a phone number (invalid_phone): first in row 4, Phone. "
        + SENTENCE,
        f"  warning          1  assumed_country: {ASSUMED}",
        f"Get the failed rows as a file: http://localhost/uploads/{upload.id}",
    ]


def test_a_dry_run_says_what_would_change(shell: Shell, people_file: Path) -> None:
    lines = shell.put_in(people_file, "--dry-run").stdout.splitlines()
    counts = "2 would be created, 0 would be updated, 0 would be deleted, 0 ignored, 1 failed"
    assert (lines[4], lines[-1]) == (
        f"3 rows: {counts}; 1 blank or footers.",
        "Nothing was changed: this was a dry run.",
    )


def test_a_file_that_was_imported_before_is_recognised(shell: Shell, tmp_path: Path) -> None:
    people = written(tmp_path, f"Phone\n{ANN}\n")
    assert "applied before" not in shell.put_in(people).stdout
    assert "This file was applied before" in shell.put_in(people).stdout


def test_the_check_applies_the_storage_limit_that_the_installation_has_set(
    shell: Shell, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.output(written(tmp_path, f"Phone\n{ANN}\n"))
    session.execute(update(ContactImport).values(stored_bytes=10**10))
    session.commit()
    limits = {"storage_organization_bytes": 10**11, "storage_partner_bytes": 10**11}
    settings = shell.app.extensions["settings"].model_copy(update=limits)
    monkeypatch.setitem(shell.app.extensions, "settings", settings)
    status, output = shell.output(written(tmp_path, f"Phone\n{BOB}\n"))
    assert (status, output["counters"]["created"]) == (0, 1)


def test_numbers_are_read_as_those_of_the_chosen_country(shell: Shell, tmp_path: Path) -> None:
    people = written(tmp_path, "Phone\n020 7946 0000\n")
    _, output = shell.output(people, "--region", "gb")
    assert output["rows"][0]["contact"] == {"phone": "+442079460000"}


def test_columns_are_mapped_to_fields_by_hand(shell: Shell, tmp_path: Path) -> None:
    people = written(
        tmp_path, f"Kunde,Tel 1,Tel 2,E-mail,Zimmer\nAnn,{ANN},{BOB},ann@mail.example,7\n"
    )
    chosen = {"phone": ["Tel 2", "B"], "firstName": "kunde", "Room": "E"}
    mapping = written(tmp_path, json.dumps(chosen), "mapping.json")
    output = [shell.output(people, "--mapping", mapping, *more)[1] for more in (("--dry-run",), ())]
    assert output[0] == output[1]
    assert output[0]["read"]["mappedBy"] == "hand"
    assert output[0]["read"]["mapping"] == {
        "firstName": ["Kunde"],
        "phone": ["Tel 1", "Tel 2"],
        "email": ["E-mail"],
        "Room": ["Zimmer"],
    }
    assert output[0]["rows"][0]["contact"] == {
        "firstName": "Ann",
        "phone": BOB,
        "email": "ann@mail.example",
        "contactMetadata": {"Tel 1": ANN, "Room": "7"},
    }


def test_a_mapping_is_remembered_for_the_campaign(shell: Shell, tmp_path: Path) -> None:
    people = written(tmp_path, f"Kunde,Nummer\nAnn,{ANN}\n")
    mapping = written(tmp_path, '{"phone": "Nummer", "firstName": "Kunde"}', "mapping.json")
    shell.output(people, "--mapping", mapping)
    _, output = shell.output(people, "--dry-run")
    assert (output["read"]["mappedBy"], output["counters"]["updated"]) == ("hand", 1)
