"""Contact files that a command refuses, and commands that are not understood."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import ContactImport, ImportRow
from tests import matrix
from tests.commands.conftest import Shell, written
from tests.files.workbooks import inline_row, sheet_xml, workbook_bytes
from tests.fixtures.databases import BACKENDS

ANN, BOB, CY = "+12025550101", "+12025550102", "+12025550103"

pytestmark = pytest.mark.parametrize(
    "backend", BACKENDS if matrix.is_full() else ["sqlite"], indirect=True
)


@pytest.fixture
def people_file(tmp_path: Path) -> Path:
    return written(tmp_path, f"Name,Phone,City\nAnn Lee,{ANN},Hove\n")


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ("[]", "it isn't an object of fields and columns"),
        ('{"phone": 2}', "“phone” needs the name or the letter of a column"),
        ('{"phone": "Phone", "email": "B"}', "the column “Phone” is named twice"),
        ('{"firstName": ["A", "B"]}', "“firstName” can only come from one column"),
        (
            '{"externalId": "A"}',
            "“externalId” isn't an external id of the campaign, which has: none",
        ),
        ('{"' + "k" * 65 + '": "A"}', f"“{'k' * 20}…” has more than 64 characters"),
    ],
)
def test_an_invalid_mapping_is_refused(
    shell: Shell, people_file: Path, mapping: str, sentence: str
) -> None:
    path = written(people_file.parent, mapping, "mapping.json")
    result = shell.put_in(people_file, "--mapping", path, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: The mapping can't be used: {sentence}.\n"


def test_a_mapping_with_invalid_characters_is_refused(shell: Shell, people_file: Path) -> None:
    path = written(people_file.parent, '{"phone": "\\ud800"}', "mapping.json")
    result = shell.put_in(people_file, "--mapping", path, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{path} is not JSON" in result.stderr


def refused(kind: str, message: str, at: int | None = None) -> tuple[int, dict[str, Any]]:
    refusal = {"kind": kind, "row": at, "message": message}
    nothing: dict[str, Any] = {"read": None, "counters": None, "rows": [], "warnings": []}
    return 2, {"outcome": "refused", "refusal": refusal, **nothing}


def test_a_sheet_or_column_that_the_file_lacks_is_refused(
    shell: Shell, session: Session, people_file: Path
) -> None:
    mapping = written(people_file.parent, '{"phone": "Mobile"}', "mapping.json")
    columns = "There is no column “Mobile”. The columns are: Name, Phone, City."
    assert shell.output(people_file, "--mapping", mapping) == refused("no_such_column", columns)
    missing = "Row 9 does not exist or is blank, so it cannot hold the column names."
    assert shell.output(people_file, "--header-row", 9) == refused("no_header", missing, 9)
    none = "No column holds phone numbers, email addresses or an external id. Choose one."
    other = written(people_file.parent, "Fruit,Colour\nApple,green\n", "fruit.csv")
    assert shell.output(other) == refused("no_contact_column", none)
    assert session.scalars(select(ContactImport)).all() == []


def test_another_sheet_is_chosen_by_its_name(shell: Shell, tmp_path: Path) -> None:
    sheets = [
        (name, sheet_xml(inline_row(1, "Phone") + inline_row(2, number)))
        for name, number in (("Old", BOB), ("New", ANN))
    ]
    path = tmp_path / "people.xlsx"
    path.write_bytes(workbook_bytes(*sheets))
    _, output = shell.output(path, "--sheet", "New", "--dry-run")
    assert (output["read"]["sheet"], output["rows"][0]["contact"]["phone"]) == ("New", ANN)
    message = "There is no sheet “Gone” with rows in it. The sheets are: Old, New."
    assert shell.output(path, "--sheet", "Gone") == refused("choose_sheet", message)


def test_a_refusal_far_down_in_the_file_is_recorded_and_leaves_no_rows(
    shell: Shell, session: Session, tmp_path: Path
) -> None:
    rows = "".join(f"+1202555{index:04d}\n" for index in range(60))
    path = written(tmp_path, f"Phone\n{rows}{'x' * 70_000}\n")
    message = "Row 62 has a cell of more than 65,536 characters. Shorten it."
    assert shell.output(path, "--dry-run") == refused("field_too_long", message, 62)
    assert shell.output(path) == refused("field_too_long", message, 62)
    upload = session.scalars(select(ContactImport)).one()
    assert (upload.status, upload.failure) == ("failed", message)
    assert session.scalars(select(ImportRow)).all() == []


def test_without_json_a_refusal_is_a_sentence(shell: Shell, tmp_path: Path) -> None:
    result = shell.put_in(written(tmp_path, "Name,Phone\n"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "Error: The file has a header and no rows below it, so there is nothing to upload.\n"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing.csv",), "File 'nothing.csv' does not exist."),
        (("--region", "XX"), "XX is not a country with phone numbers. Use US, GB or DE."),
        (("--action", "replace"), "'replace' is not one of 'upsert', 'updateOnly', 'remove'."),
        (("--header-row", -1), "-1 is not in the range x>=0."),
        (("--delimiter", ";;"), ";; can't separate cells. Use one character such as ; or tab."),
    ],
)
def test_wrong_arguments_end_with_exit_code_2(
    shell: Shell, people_file: Path, words: tuple[object, ...], sentence: str
) -> None:
    path = () if words[0] == "nothing.csv" else (people_file,)
    result = shell.run(
        "contacts", "import", *path, *words, "--campaign", shell.campaign_id, "--json"
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


def test_a_missing_campaign_ends_with_exit_code_2(shell: Shell, people_file: Path) -> None:
    result = Shell(shell.app, shell.tenant, uuid4()).put_in(people_file, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: There is no such campaign.\n"


def test_more_rows_than_allowed_are_refused(make_app: Any, shell: Shell, tmp_path: Path) -> None:
    app = make_app(max_import_rows=2)
    small = Shell(app, shell.tenant, shell.campaign_id)
    path = written(tmp_path, f"Phone\n{ANN}\n{BOB}\n{CY}\n")
    message = "The file has more than 2 rows. Split it into several files."
    assert small.output(path, "--dry-run") == refused("too_many_rows", message)


def test_a_file_too_large_is_refused_before_it_is_read(
    make_app: Any, shell: Shell, tmp_path: Path
) -> None:
    small = Shell(make_app(max_upload_bytes=2048), shell.tenant, shell.campaign_id)
    path = written(tmp_path, "Phone\n" + f"{ANN}\n" * 300)
    message = "The file is larger than 2\u00a0kB. Split it, or save it as CSV."
    assert small.output(path) == refused("too_large", message)
