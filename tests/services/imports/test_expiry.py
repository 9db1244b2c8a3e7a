"""The rows of an upload are kept for some days, its figures and its history forever."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from app.enums import ImportStatus
from app.errors import Conflict
from app.jobs.purging import purge_rows
from app.models import (
    AuditEntry,
    ContactImport,
    ImportChange,
    ImportCorrection,
    ImportProblem,
    ImportRow,
    utcnow,
)
from app.services.imports import apply, corrections, expiry, steps, undo, uploads
from app.services.imports.pipeline import apply_rows, undo_rows
from tests.fixtures.uploads import Importer, counts, number, table

ANN, BOB = number(1), number(2)


def test_rows_and_values_go_after_their_days_and_the_history_stays(importer: Importer) -> None:
    upload = importer.checked(f"Name,Phone\nAnn,{ANN}\nBob,12\n")
    with importer.database.transaction() as session:
        corrections.correct_rows(session, importer.caller, upload.id, {3: {1: "13"}}, set())
    importer.check(upload.id)
    done = importer.apply(upload.id)
    waiting = importer.checked(f"Name,Phone\nBob,{BOB}\n")
    purge_rows(importer.database, 30)
    assert importer.rows(upload.id) != []
    with importer.database.transaction() as session:
        session.execute(
            update(ContactImport)
            .where(ContactImport.id == upload.id)
            .values(finished_at=utcnow() - timedelta(days=31))
        )
    purge_rows(importer.database, 30)
    now = importer.now(upload.id)
    assert now.rows_forgotten_at is not None
    assert (now.samples, counts(now), now.status) == ([], counts(done), ImportStatus.DONE)
    assert not undo.can_be_undone(now, 365)
    with importer.database.transaction(read_only=True) as session:
        for kept in (ImportRow, ImportProblem, ImportCorrection):
            own = select(func.count()).where(kept.import_id == upload.id)
            assert session.scalar(own) == 0
        log = session.execute(select(ImportChange.action, ImportChange.before, ImportChange.after))
        assert [tuple(row) for row in log] == [("created", None, None)]
        entries = select(func.count()).where(AuditEntry.target_id == str(upload.id))
        assert session.scalar(entries) == 4
    assert importer.rows(waiting.id) == [(2, "created", None)]


def test_an_upload_that_is_being_undone_keeps_its_rows_until_the_undo_has_ended(
    importer: Importer,
) -> None:
    importer.send({"phone": ANN, "firstName": "Ann"})
    upload = importer.apply(importer.checked(f"First name,Phone\nAnna,{ANN}\n").id)
    with importer.database.transaction() as session:
        undo_number = undo.start(session, importer.caller, upload.id, 30).undo_number
        session.execute(update(ContactImport).values(finished_at=utcnow() - timedelta(days=31)))
    purge_rows(importer.database, 30)
    undo_rows(importer.database, upload.id, undo_number)
    assert importer.people() == [("Ann", ANN, None)]
    purge_rows(importer.database, 30)
    assert importer.now(upload.id).rows_forgotten_at is not None


def test_an_upload_whose_rows_are_being_deleted_is_neither_undone_nor_continued(
    importer: Importer,
) -> None:
    rows = [(f"P{index}", number(index)) for index in range(apply.BATCH_SIZE + 1)]
    upload = importer.checked(table("Name,Phone", rows))
    order = importer.start(upload.id)
    with importer.database.transaction() as session:
        apply.apply_batch(session, upload.id, order)
        steps.cancel(session, importer.caller, upload.id)
    apply_rows(importer.database, upload.id, order)
    with importer.database.transaction() as session:
        session.execute(update(ContactImport).values(finished_at=utcnow() - timedelta(days=2)))
        assert undo.can_be_undone(importer.now(upload.id), 7)
        assert expiry.to_purge(session, 1) == upload.id
    with pytest.raises(Conflict):
        importer.start(upload.id)
    with importer.database.transaction() as session, pytest.raises(Conflict):
        undo.start(session, importer.caller, upload.id, 7)


def test_a_stopped_upload_does_not_continue_without_its_rows(importer: Importer) -> None:
    rows = [(f"P{index}", number(index)) for index in range(apply.BATCH_SIZE + 1)]
    upload = importer.checked(table("Name,Phone", rows))
    order = importer.start(upload.id)
    with importer.database.transaction() as session:
        apply.apply_batch(session, upload.id, order)
        steps.cancel(session, importer.caller, upload.id)
    apply_rows(importer.database, upload.id, order)
    assert uploads.can_go_on(importer.now(upload.id))
    with importer.database.transaction() as session:
        session.execute(update(ContactImport).values(finished_at=utcnow() - timedelta(days=31)))
    purge_rows(importer.database, 30)
    with pytest.raises(Conflict):
        importer.start(upload.id)
    now = importer.now(upload.id)
    assert (now.status, now.rows_applied) == (ImportStatus.CANCELLED, apply.BATCH_SIZE)


def test_a_refused_file_is_read_otherwise_only_while_it_is_kept(importer: Importer) -> None:
    upload = importer.checked("%PDF-1.4")
    assert uploads.can_be_read_again(upload)
    with importer.database.transaction() as session:
        expiry.record_files_deleted(session, [upload.id])
    assert not uploads.can_be_read_again(importer.now(upload.id))
