"""A file with very many problems: only the first rows are listed, and nothing is lost."""

from typing import Any

import pytest
from sqlalchemy import func, select

from app.enums import ContactAction
from app.models import ImportBlock
from app.services.contacts.results import FAILED
from app.services.imports import corrections, packing, preview, reports, steps, summary
from tests.fixtures.uploads import Importer, counts, number

HEADER = "Name,Phone,Email\n"
PLACES = range(60)


def line(place: int) -> str:
    """Rows of every sort, each kind again and again."""
    match place % 6:
        case 0:
            return f"Good {place},{number(place)},\n"
        case 1:
            return f"Noted {place},,p{place}@example.com\n"
        case 2:
            return f"Short {place},12,\n"
        case 3:
            return f"Two {place},34,not an address\n"
        case 4:
            return f"Rounded {place},1.2025550{100 + place}E+10,\n"
        case _:
            return f"None {place},,\n"


FILE = HEADER + "".join(map(line, PLACES))


def everything(importer: Importer, data: str, action: ContactAction) -> dict[str, Any]:
    """A file as screens, scripts and downloads show it."""
    found = importer.checked(data, action)
    with importer.database.transaction(read_only=True) as session:
        files: dict[bool, list[reports.MarkedRow]] = {}
        for failed_only in (True, False):
            rows: list[reports.MarkedRow] = []
            last: int | None = 0
            while last is not None:
                some, last = reports.rows_after(session, found, last, failed_only=failed_only)
                rows += some
            files[failed_only] = rows
        scripts: list[summary.RowSummary] = []
        number_seen = 0
        while listed := summary.kept_rows(session, found, number_seen):
            scripts += listed
            number_seen = listed[-1]["row"]
        return {
            "counts": counts(found),
            "rows": found.rows_total,
            "failed": reports.failed_kinds(session, found),
            "ignored": reports.ignored_kinds(session, found),
            "notes": reports.note_kinds(session, found),
            "repairs": reports.repairs(session, found),
            "files": files,
            "scripts": scripts,
        }


def blocks(importer: Importer) -> int:
    with importer.database.transaction(read_only=True) as session:
        return session.scalar(select(func.count()).select_from(ImportBlock)) or 0


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are listed, and a file has many chunks."""
    monkeypatch.setattr(packing, "LISTED_ROWS", 4)
    monkeypatch.setattr(packing, "LISTED_ROWS_OF_KIND", 2)
    monkeypatch.setattr(packing, "LISTED_PROBLEMS", 12)
    monkeypatch.setattr(preview, "CHUNK", 7)
    monkeypatch.setattr(reports, "CHUNK", 5)


@pytest.mark.parametrize("action", [ContactAction.UPSERT, ContactAction.REMOVE])
def test_counts_downloads_and_results_are_those_of_a_file_whose_rows_are_all_listed(
    importer: Importer, request: pytest.FixtureRequest, action: ContactAction
) -> None:
    importer.send({"phone": number(6), "firstName": "Known"})
    listed = everything(importer, FILE, action)
    assert blocks(importer) == 0
    request.getfixturevalue("small_blocks")
    assert everything(importer, FILE, action) == listed
    assert blocks(importer) > 2


@pytest.mark.usefixtures("small_blocks")
def test_the_first_rows_of_each_kind_are_listed_with_all_their_problems(importer: Importer) -> None:
    found = importer.checked(HEADER + "".join(line(place) for place in PLACES if place % 6 > 1))
    with importer.database.transaction(read_only=True) as session:
        page = reports.page(session, found, outcome=FAILED)
        shown = [(row.number, [problem.code for problem in row.problems]) for row in page.rows]
    assert shown == [
        (2, ["invalid_phone"]),
        (3, ["invalid_phone", "invalid_email"]),
        (4, ["excel_damaged_phone"]),
        (5, ["missing_identifier"]),
        (8, ["excel_damaged_phone"]),
        (9, ["missing_identifier"]),
    ]
    assert (found.failed, found.packed and found.packed["rows"]) == (40, 34)


@pytest.mark.usefixtures("small_blocks")
def test_a_packed_file_is_applied_repaired_and_checked_again(importer: Importer) -> None:
    found = importer.checked(FILE)
    assert counts(found) == (20, 0, 0, 0, 40)
    with importer.database.transaction() as session:
        corrections.correct_rows(session, importer.caller, found.id, {4: {1: number(500)}}, set())
    assert counts(importer.check(found.id)) == (21, 0, 0, 0, 39)
    with importer.database.transaction() as session:
        (repair,) = reports.repairs(session, importer.now(found.id))
        assert repair.rows == 10
        steps.repair(session, importer.caller, found.id, repair.reason)
    assert counts(importer.check(found.id)) == (31, 0, 0, 0, 29)
    assert counts(importer.apply(found.id)) == (31, 0, 0, 0, 29)
    assert len(importer.people()) == 31


@pytest.mark.usefixtures("small_blocks")
def test_a_check_that_starts_again_replaces_the_blocks_of_the_one_before(
    importer: Importer,
) -> None:
    found = importer.checked(FILE)
    before = blocks(importer), found.stored_bytes, found.packed
    with importer.database.transaction() as session:
        steps.read_again(session, importer.caller, found.id)
    again = importer.check(found.id)
    assert (blocks(importer), again.stored_bytes, again.packed) == before
