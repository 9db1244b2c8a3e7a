"""Every file of the corpus, read and checked: rows, problems and counts are as expected."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from app.enums import ContactAction, ImportState
from app.models import ContactImport, ImportProblem, ImportRow
from app.services.imports import kinds
from app.services.imports.mapping import Field, Target
from tests.files.corpus import CORPUS, Case
from tests.fixtures.uploads import Desk


def told(desk: Desk, upload_id: UUID) -> dict[str, Any]:
    """What an import has to say of its file, in the names of the command's JSON."""
    upload = desk.now(upload_id)
    if upload.state is ImportState.FAILED:
        return {"outcome": "refused", "refusal": upload.found["refusal"]}
    names = ("created", "updated", "deleted", "ignored", "failed")
    counters = {name: getattr(upload, name) for name in names}
    return {
        "outcome": "read",
        "counters": counters | {"skipped": upload.rows_skipped},
        "read": {
            "type": upload.file_kind,
            "mapping": _mapping(upload),
            **{name: upload.found[name] for name in ("encoding", "delimiter", "sheet")},
            "headerRow": upload.found["headerRow"],
        },
        "rows": _rows(desk, upload),
        "warnings": upload.found["noteRows"],
    }


def _mapping(upload: ContactImport) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {}
    for name, text in zip(upload.columns, upload.mapping, strict=True):
        target = Target.parse(text)
        key = target.key if target.field is Field.METADATA else str(target.field)
        columns.setdefault(key, []).append(name)
    return columns


def _rows(desk: Desk, upload: ContactImport) -> list[dict[str, Any]]:
    with desk.database.transaction(read_only=True) as session:
        kept = session.scalars(select(ImportRow).where(ImportRow.import_id == upload.id)).all()
        problems = session.scalars(
            select(ImportProblem).where(ImportProblem.import_id == upload.id)
        ).all()
    rows = [_row(upload, row, [p for p in problems if p.row_number == row.row_number])
            for row in kept]  # fmt: skip
    rows += [
        {"row": number, "is": "skipped", "kind": kind}
        for first, last, kind in upload.found["skipped"]
        for number in range(first, last + 1)
    ]
    return sorted(rows, key=lambda row: row["row"])


def _row(upload: ContactImport, row: ImportRow, problems: list[ImportProblem]) -> dict[str, Any]:
    if row.outcome == "failed":
        errors = [
            {
                "kind": p.code,
                "column": None if p.column_index is None else upload.columns[p.column_index],
            }
            for p in sorted(problems, key=lambda p: p.position)
            if not p.is_warning
        ]
        return {"row": row.row_number, "is": "error", "errors": errors}
    if row.outcome == "ignored":
        return {"row": row.row_number, "is": "ignored", "kind": row.code}
    return {
        "row": row.row_number,
        "is": "accepted",
        "action": row.outcome,
        "contact": row.contact,
        "warnings": sorted(p.code for p in problems),
    }


@pytest.mark.parametrize("case", CORPUS.values(), ids=list(CORPUS))
def test_a_file_of_the_corpus_is_read_as_expected(desk: Desk, case: Case) -> None:
    upload_id = desk.upload(case.data, ContactAction(case.action), case.name)
    if case.options:
        _choose(desk, upload_id, case.options)
    desk.check(upload_id)
    found = told(desk, upload_id)
    if not case.refusal:
        found["read"] = {name: found["read"][name] for name in case.read}
    assert found == case.expected


def _choose(desk: Desk, upload_id: UUID, options: dict[str, Any]) -> None:
    names = {"header_row": "headerRow"}
    chosen = {names.get(name, name): value for name, value in options.items()}
    with desk.database.transaction() as session:
        session.get_one(ContactImport, upload_id).read_options = chosen


def test_the_corpus_is_large_and_its_kinds_are_published() -> None:
    assert len(CORPUS) >= 60
    refusals = {case.refusal[0] for case in CORPUS.values() if case.refusal}
    errors = {e["kind"] for c in CORPUS.values() for r in c.rows for e in r.get("errors", ())}
    assert refusals <= kinds.REFUSALS.keys()
    assert errors <= kinds.ERRORS.keys()
