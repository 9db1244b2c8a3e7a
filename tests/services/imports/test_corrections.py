"""Fixing a file on the check screen: what is typed counts as if it stood in the file."""

import pytest
from sqlalchemy import select

from app.enums import ImportStatus
from app.errors import Conflict, NotFound
from app.models import AuditEntry, ContactImport
from app.services.imports import corrections, steps
from app.services.imports.corrections import CorrectionCounts
from tests.fixtures.tenants import make_tenant
from tests.fixtures.uploads import Importer, counts, number

HEADER = "Name,Phone,E-mail\n"
ANN, BOB, CY = number(1), number(2), number(3)


def fix(
    importer: Importer,
    upload: ContactImport,
    typed: dict[int, dict[int, str]],
    left_out: set[int] | None = None,
) -> ContactImport:
    with importer.database.transaction() as session:
        corrections.correct_rows(
            session,
            importer.caller,
            upload.id,
            typed,
            left_out or set(),
            expected_check=upload.check_number,
        )
    return importer.check(upload.id)


def fixed_in(importer: Importer, upload: ContactImport) -> CorrectionCounts:
    with importer.database.transaction(read_only=True) as session:
        return corrections.count_corrections(session, upload)


def test_a_cell_that_is_typed_again_is_checked_and_applied_as_typed(importer: Importer) -> None:
    upload = importer.checked(HEADER + f"Ann,12,\nBob,{BOB},bob(at)mail.example\n")
    assert counts(upload) == (0, 0, 0, 0, 2)
    upload = fix(importer, upload, {2: {1: ANN}, 3: {2: "bob@mail"}})
    assert counts(upload) == (1, 0, 0, 0, 1)
    assert importer.problems(upload.id) == [(3, 2, "invalid_email", "email", False)]
    upload = fix(importer, upload, {3: {2: "bob@mail.example"}})
    assert counts(upload) == (2, 0, 0, 0, 0)
    assert fixed_in(importer, upload) == CorrectionCounts(cells=2, left_out=0)
    importer.apply(upload.id)
    assert importer.people() == [("Ann", ANN, None), ("Bob", BOB, "bob@mail.example")]
    with importer.database.transaction(read_only=True) as session:
        entries = session.scalars(
            select(AuditEntry.after)
            .where(AuditEntry.action == "upload.mended")
            .order_by(AuditEntry.id)
        ).all()
    assert list(entries) == [
        {"cells": 2, "rowsLeftOut": 0},
        {"cells": 1, "rowsLeftOut": 0},
    ]


def test_a_fixed_row_counts_among_all_the_others(importer: Importer) -> None:
    upload = importer.checked(HEADER + f"Ann,12,\nAnna,{ANN},\n")
    upload = fix(importer, upload, {2: {1: ANN}})
    assert counts(upload) == (1, 1, 0, 0, 0)
    assert counts(importer.apply(upload.id)) == (1, 1, 0, 0, 0)


def test_rows_can_be_left_out_and_taken_back(importer: Importer) -> None:
    upload = importer.checked(HEADER + f"Ann,12,\nBob,{BOB},\n")
    upload = fix(importer, upload, {}, {2})
    assert counts(upload) == (1, 0, 0, 1, 0)
    assert importer.rows(upload.id) == [(2, "ignored", "left_out"), (3, "created", None)]
    assert importer.problems(upload.id) == []
    with importer.database.transaction() as session:
        corrections.restore_left_out(session, importer.caller, upload.id)
    assert counts(importer.check(upload.id)) == (1, 0, 0, 0, 1)


def test_a_row_with_shifted_cells_is_good_once_all_are_confirmed(
    importer: Importer,
) -> None:
    upload = importer.checked(HEADER + f"Lee, Ann,{ANN},ann@mail.example\nBob,{BOB},\n")
    assert importer.problems(upload.id)[0][2] == "column_count"
    upload = fix(importer, upload, {2: {0: "Ann Lee", 1: ANN, 2: "ann@mail.example"}})
    assert counts(upload) == (2, 0, 0, 0, 0)
    importer.apply(upload.id)
    assert ("Ann", ANN, "ann@mail.example") in importer.people()


def test_a_file_that_is_read_another_way_keeps_the_corrections_that_still_fit(
    importer: Importer,
) -> None:
    upload = importer.checked(HEADER + f"Ann,12,\nBob,{BOB},\n")
    upload = fix(importer, upload, {2: {1: ANN}})
    with importer.database.transaction() as session:
        reading = steps.ReadingChoices(delimiter=";")
        steps.read_again(session, importer.caller, upload.id, reading=reading)
    assert importer.check(upload.id).columns == ["Name,Phone,E-mail"]
    with importer.database.transaction() as session:
        steps.read_again(session, importer.caller, upload.id, reading=steps.ReadingChoices())
    assert counts(importer.check(upload.id)) == (2, 0, 0, 0, 0)


def test_all_corrections_can_be_discarded(importer: Importer) -> None:
    upload = importer.checked(HEADER + f"Ann,12,\nBob,{BOB},\n")
    upload = fix(importer, upload, {2: {1: ANN}})
    with importer.database.transaction() as session:
        corrections.discard_corrections(session, importer.caller, upload.id)
    assert counts(importer.check(upload.id)) == (1, 0, 0, 0, 1)
    assert fixed_in(importer, upload) == CorrectionCounts(0, 0)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_cells_that_are_as_they_were_are_no_change(importer: Importer) -> None:
    upload = importer.checked(HEADER + f'"Ann\nLee",12,\nBob,{BOB},\n')
    with importer.database.transaction() as session:
        same = {2: {0: "AnnLee", 1: "12"}, 99: {1: ANN}, 3: {40: "x"}}
        corrections.correct_rows(session, importer.caller, upload.id, same, set())
    assert importer.now(upload.id).status is ImportStatus.CHECKED


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_a_correction_of_an_older_check_or_another_upload_is_refused(importer: Importer) -> None:
    upload = importer.checked(HEADER + "Ann,12,\n")
    fix(importer, upload, {2: {1: "13"}})
    with importer.database.transaction() as session:
        with pytest.raises(Conflict) as caught:
            corrections.correct_rows(
                session, importer.caller, upload.id, {2: {1: ANN}}, set(), expected_check=1
            )
        stranger = make_tenant(session, "Other").caller(importer.caller.role)
        with pytest.raises(NotFound):
            corrections.correct_rows(session, stranger, upload.id, {2: {1: ANN}}, set())
    assert caught.value.code == "changed_meanwhile"
