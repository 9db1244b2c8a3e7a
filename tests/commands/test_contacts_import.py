"""Contact files by command: what is printed, what is done, and how it ends."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.config import ROOT
from app.models import AuditEntry, Contact, ContactImport, ImportRow
from tests import matrix
from tests.commands.conftest import Shell
from tests.files.workbooks import inline_row, sheet_xml, workbook_bytes
from tests.fixtures.databases import BACKENDS

DOCS = ROOT / "docs" / "contact-files.md"
ANN, BOB, CY = "+12025550101", "+12025550102", "+12025550103"
LIST = f"Name,Phone,City\nAnn Lee,{ANN},Hove\n,,\nBob Li,12,Hove\nCy Ek,202-555-0103,\n"
ASSUMED = "Numbers without a country code were read as numbers of the organization's country."
SENTENCE = "Too short for the United States: 1 digit after the 1, 10 are needed."

pytestmark = pytest.mark.parametrize(
    "backend", BACKENDS if matrix.is_full() else ["sqlite"], indirect=True
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(LIST)
    return path


def written(folder: Path, text: str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_text(text)
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


TOLD = {
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


def test_one_object_tells_what_was_done(shell: Shell, session: Session, people: Path) -> None:
    assert shell.told(people) == (1, TOLD)
    assert phones(session, shell) == [ANN, CY]


def test_the_docs_show_that_very_object(shell: Shell, tmp_path: Path) -> None:
    blocks = re.findall(r"^```\w*\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    (example,) = (block for block in blocks if block.startswith("Name,Phone,City\n"))
    (shown,) = (block for block in blocks if block.startswith("{\n"))
    assert shell.told(written(tmp_path, example)) == (1, json.loads(shown))


def test_a_dry_run_tells_the_same_and_leaves_nothing(
    shell: Shell, session: Session, people: Path
) -> None:
    assert shell.told(people, "--dry-run") == (1, TOLD)
    assert phones(session, shell) == []
    assert session.scalars(select(ContactImport)).all() == []
    assert not list(people.parent.rglob("uploads/*"))


def test_the_import_is_kept_as_the_command_lines_own(
    shell: Shell, session: Session, people: Path
) -> None:
    shell.told(people)
    upload = session.scalars(select(ContactImport)).one()
    assert (upload.state, upload.author, upload.file_name) == ("done", "command line", "people.csv")
    assert (upload.created, upload.failed, upload.rows_applied) == (2, 1, 2)
    assert (upload.lease_until, upload.apply_when_checked) == (None, False)
    entries = select(AuditEntry.action, AuditEntry.actor).where(AuditEntry.target_type == "upload")
    who = "command line"
    assert [tuple(entry) for entry in session.execute(entries.order_by(AuditEntry.id))] == [
        ("upload.created", who),
        ("upload.started", who),
        ("upload.applied", who),
    ]


def test_every_row_good_ends_with_0(shell: Shell, tmp_path: Path) -> None:
    status, told = shell.told(written(tmp_path, f"Phone\n{ANN}\n"))
    assert (status, told["counters"]["created"]) == (0, 1)


def test_an_update_adds_nobody_and_a_removal_removes(
    shell: Shell, session: Session, tmp_path: Path
) -> None:
    shell.told(written(tmp_path, f"Phone\n{ANN}\n"))
    both = written(tmp_path, f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    status, told = shell.told(both, "--action", "updateOnly")
    assert status == 0
    assert [(r["is"], r["action"], r["kind"]) for r in told["rows"]] == [
        ("accepted", "updated", None),
        ("ignored", None, "not_in_campaign"),
    ]
    status, told = shell.told(both, "--action", "remove")
    assert [(r["is"], r["action"]) for r in told["rows"]] == [
        ("accepted", "deleted"),
        ("error", None),
    ]
    assert (status, phones(session, shell)) == (1, [])


def test_a_person_reads_what_became_of_the_file(
    shell: Shell, session: Session, people: Path
) -> None:
    result = shell.put_in(people)
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


def test_the_very_same_file_is_recognised(shell: Shell, tmp_path: Path) -> None:
    people = written(tmp_path, f"Phone\n{ANN}\n")
    assert "applied before" not in shell.put_in(people).stdout
    assert "This very file was applied before" in shell.put_in(people).stdout


def test_numbers_are_read_as_those_of_the_chosen_country(shell: Shell, tmp_path: Path) -> None:
    people = written(tmp_path, "Phone\n020 7946 0000\n")
    _, told = shell.told(people, "--region", "gb")
    assert told["rows"][0]["contact"] == {"phone": "+442079460000"}


def test_columns_are_given_to_fields_by_hand(shell: Shell, tmp_path: Path) -> None:
    people = written(
        tmp_path, f"Kunde,Tel 1,Tel 2,E-mail,Zimmer\nAnn,{ANN},{BOB},ann@mail.example,7\n"
    )
    chosen = {"phone": ["Tel 2", "B"], "firstName": "kunde", "Room": "E"}
    mapping = written(tmp_path, json.dumps(chosen), "mapping.json")
    told = [shell.told(people, "--mapping", mapping, *more)[1] for more in (("--dry-run",), ())]
    assert told[0] == told[1]
    assert told[0]["read"]["mappedBy"] == "hand"
    assert told[0]["read"]["mapping"] == {
        "firstName": ["Kunde"],
        "phone": ["Tel 1", "Tel 2"],
        "email": ["E-mail"],
        "Room": ["Zimmer"],
    }
    assert told[0]["rows"][0]["contact"] == {
        "firstName": "Ann",
        "phone": BOB,
        "email": "ann@mail.example",
        "contactMetadata": {"Tel 1": ANN, "Room": "7"},
    }


def test_a_mapping_is_remembered_for_the_campaign(shell: Shell, tmp_path: Path) -> None:
    people = written(tmp_path, f"Kunde,Nummer\nAnn,{ANN}\n")
    mapping = written(tmp_path, '{"phone": "Nummer", "firstName": "Kunde"}', "mapping.json")
    shell.told(people, "--mapping", mapping)
    _, told = shell.told(people, "--dry-run")
    assert (told["read"]["mappedBy"], told["counters"]["updated"]) == ("hand", 1)


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ("[]", "it is no object of fields and columns"),
        ('{"phone": 2}', "“phone” needs the name or the letter of a column"),
        ('{"phone": "Phone", "email": "B"}', "the column “Phone” is named twice"),
        ('{"firstName": ["A", "B"]}', "“firstName” can only come from one column"),
        ('{"externalId": "A"}', "“externalId” is no external id of the campaign, which has: none"),
        ('{"' + "k" * 65 + '": "A"}', f"“{'k' * 20}…” has more than 64 characters"),
    ],
)
def test_a_mapping_that_is_none_is_refused(
    shell: Shell, people: Path, mapping: str, sentence: str
) -> None:
    path = written(people.parent, mapping, "mapping.json")
    result = shell.put_in(people, "--mapping", path, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: The mapping can't be used: {sentence}.\n"


def refused(kind: str, message: str, at: int | None = None) -> tuple[int, dict[str, Any]]:
    refusal = {"kind": kind, "row": at, "message": message}
    nothing: dict[str, Any] = {"read": None, "counters": None, "rows": [], "warnings": []}
    return 2, {"outcome": "refused", "refusal": refusal, **nothing}


def test_what_the_file_does_not_have_is_a_refusal(
    shell: Shell, session: Session, people: Path
) -> None:
    mapping = written(people.parent, '{"phone": "Mobile"}', "mapping.json")
    columns = "There is no column “Mobile”. The columns are: Name, Phone, City."
    assert shell.told(people, "--mapping", mapping) == refused("no_such_column", columns)
    missing = "Row 9 does not exist or is blank, so it cannot hold the column names."
    assert shell.told(people, "--header-row", 9) == refused("no_header", missing, 9)
    none = "No column holds phone numbers, e-mail addresses or an external id. Choose one."
    other = written(people.parent, "Fruit,Colour\nApple,green\n", "fruit.csv")
    assert shell.told(other) == refused("no_contact_column", none)
    assert session.scalars(select(ContactImport)).all() == []


def test_another_sheet_is_chosen_by_its_name(shell: Shell, tmp_path: Path) -> None:
    sheets = [
        (name, sheet_xml(inline_row(1, "Phone") + inline_row(2, number)))
        for name, number in (("Old", BOB), ("New", ANN))
    ]
    path = tmp_path / "people.xlsx"
    path.write_bytes(workbook_bytes(*sheets))
    _, told = shell.told(path, "--sheet", "New", "--dry-run")
    assert (told["read"]["sheet"], told["rows"][0]["contact"]["phone"]) == ("New", ANN)
    message = "There is no sheet “Gone” to read. The sheets are: Old, New."
    assert shell.told(path, "--sheet", "Gone") == refused("choose_sheet", message)


def test_a_refusal_far_down_in_the_file_leaves_its_trace_and_no_rows(
    shell: Shell, session: Session, tmp_path: Path
) -> None:
    rows = "".join(f"+1202555{index:04d}\n" for index in range(60))
    path = written(tmp_path, f"Phone\n{rows}{'x' * 70_000}\n")
    message = "Row 62 has a cell of more than 65,536 characters. Shorten it."
    assert shell.told(path, "--dry-run") == refused("field_too_long", message, 62)
    assert shell.told(path) == refused("field_too_long", message, 62)
    upload = session.scalars(select(ContactImport)).one()
    assert (upload.state, upload.failure) == ("failed", message)
    assert session.scalars(select(ImportRow)).all() == []


def test_a_person_reads_why_a_file_is_refused(shell: Shell, tmp_path: Path) -> None:
    result = shell.put_in(written(tmp_path, "Name,Phone\n"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "Error: The file has a header and no rows below it, so there is nothing to upload.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing.csv",), "File 'nothing.csv' does not exist."),
        (("--region", "XX"), "XX is no country with phone numbers: write US, GB, DE."),
        (("--action", "replace"), "'replace' is not one of 'upsert', 'updateOnly', 'remove'."),
        (("--header-row", -1), "-1 is not in the range x>=0."),
    ],
)
def test_what_is_not_understood_ends_with_2(
    shell: Shell, people: Path, words: tuple[object, ...], sentence: str
) -> None:
    path = () if words[0] == "nothing.csv" else (people,)
    result = shell.run(
        "contacts", "import", *path, *words, "--campaign", shell.campaign_id, "--json"
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


def test_a_campaign_that_is_not_there_ends_with_2(shell: Shell, people: Path) -> None:
    result = Shell(shell.app, shell.tenant, uuid4()).put_in(people, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: There is no such campaign.\n"


def test_more_rows_than_allowed_are_refused(make_app: Any, shell: Shell, tmp_path: Path) -> None:
    app = make_app(max_import_rows=2)
    small = Shell(app, shell.tenant, shell.campaign_id)
    path = written(tmp_path, f"Phone\n{ANN}\n{BOB}\n{CY}\n")
    message = "The file has more than 2 rows. Split it into several files."
    assert small.told(path, "--dry-run") == refused("too_many_rows", message)


def test_a_file_too_large_is_refused_before_it_is_read(
    make_app: Any, shell: Shell, tmp_path: Path
) -> None:
    small = Shell(make_app(max_upload_bytes=2048), shell.tenant, shell.campaign_id)
    path = written(tmp_path, "Phone\n" + f"{ANN}\n" * 300)
    message = "The file is larger than 2\u00a0kB. Split it, or save it as CSV."
    assert small.told(path) == refused("too_large", message)


def test_a_campaign_is_made_with_its_external_ids(shell: Shell, session: Session) -> None:
    words = ("--organization", shell.tenant.organization.id, "--name", "Spring")
    keys = ("--external-id-key", "crmId", "--external-id-key", "siteId")
    result = shell.run("campaigns", "create", *words, *keys, "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told) == (
        0,
        {
            "id": told["id"],
            "name": "Spring",
            "organizationId": str(shell.tenant.organization.id),
            "status": "paused",
            "externalIdKeys": ["crmId", "siteId"],
        },
    )
    own = Shell(shell.app, shell.tenant, UUID(told["id"]))
    path = Path(shell.app.instance_path) / "ids.csv"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"crmId,siteId,Phone\nC-1,S-1,{ANN}\n")
    _, first = own.told(path)
    path.write_text(f"siteId,Phone\nS-1,{BOB}\n")
    _, second = own.told(path)
    assert [each["rows"][0]["action"] for each in (first, second)] == ["created", "updated"]
    assert phones(session, own) == [BOB]


def test_a_campaign_without_keys_has_no_external_ids(shell: Shell) -> None:
    words = ("--organization", shell.tenant.organization.id, "--name", "Spring", "--json")
    shell.run("campaigns", "create", *words, "--external-id-key", "crmId")
    told = json.loads(shell.run("campaigns", "create", *words).stdout)
    assert told["externalIdKeys"] == []


def test_an_organization_that_is_not_there_gets_no_campaign(shell: Shell) -> None:
    result = shell.run("campaigns", "create", "--organization", uuid4(), "--name", "Spring")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
