"""Undoing an upload: its preview, its effects, and that it continues where it was interrupted."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app.enums import ContactAction, ImportStatus, Role
from app.errors import Conflict, NotFound
from app.models import AuditEntry, ContactImport, ImportChange
from app.services.imports import apply, steps, undo, undo_preview, uploads
from app.services.imports.pipeline import apply_rows, undo_rows
from app.services.imports.undo import UndoTotals
from tests.fixtures.tenants import make_tenant
from tests.fixtures.uploads import Importer, number, table

HEADER = "First name,Phone,E-mail\n"
ANN, BOB, CY = number(1), number(2), number(3)
DAYS = 7


def preview(importer: Importer, upload_id: UUID) -> UndoTotals:
    with importer.database.transaction(read_only=True) as session:
        return undo_preview.preview(session, uploads.get(session, importer.caller, upload_id))[0]


def start(importer: Importer, upload_id: UUID) -> int:
    with importer.database.transaction() as session:
        return undo.start(session, importer.caller, upload_id, DAYS).undo_number


def undo_all(importer: Importer, upload_id: UUID) -> UndoTotals | None:
    undo_rows(importer.database, upload_id, start(importer, upload_id))
    return undo.result_of(importer.now(upload_id))


def apply_batch(importer: Importer, upload_id: UUID, order: int) -> None:
    with importer.database.transaction() as session:
        apply.apply_batch(session, upload_id, order)


def applied(
    importer: Importer, data: str, action: ContactAction = ContactAction.UPSERT
) -> ContactImport:
    return importer.apply(importer.checked(data, action).id)


def test_an_undo_does_what_its_preview_says(importer: Importer) -> None:
    importer.send({"phone": ANN, "firstName": "Ann"}, {"phone": CY, "firstName": "Cy"})
    before = importer.people()
    upload = applied(importer, HEADER + f"Anna,{ANN},\nBob,{BOB},\nBobby,{BOB},\nCyril,{CY},\n")
    assert preview(importer, upload.id) == UndoTotals(removed=1, restored=2)
    importer.send({"phone": CY, "firstName": "Cyrus"})
    expected = UndoTotals(removed=1, restored=1, contacts_left=1, fields_left=1)
    assert preview(importer, upload.id) == expected
    assert undo_all(importer, upload.id) == expected
    assert importer.people() == [*before[:1], ("Cyrus", CY, None)]
    undone = importer.now(upload.id)
    assert (undone.undo_status, undone.undo_done, undone.undo_changes) == ("undone", 4, 4)
    with importer.database.transaction(read_only=True) as session:
        actions = session.scalars(
            select(AuditEntry.action)
            .where(AuditEntry.target_id == str(upload.id))
            .order_by(AuditEntry.id.desc())
            .limit(2)
        ).all()
    assert list(actions) == ["upload.undone", "upload.undo_started"]


def test_an_undo_of_many_rows_continues_after_its_last_batch(importer: Importer) -> None:
    importer.send({"phone": number(7), "firstName": "Old"})
    rows = [(f"P{index}", number(index)) for index in range(1200)]
    upload = applied(importer, table("First name,Phone", rows))
    order = start(importer, upload.id)
    with importer.database.transaction() as session:
        assert undo.undo_batch(session, upload.id, order)
    assert (importer.now(upload.id).undo_done, len(importer.people())) == (250, 950)
    with importer.database.transaction() as session:
        assert not undo.undo_batch(session, upload.id, order + 1)
        undo.stop(session, upload.id, order)
    assert importer.now(upload.id).undo_status == "stopped"
    assert undo_all(importer, upload.id) == UndoTotals(removed=1199, restored=1)
    assert importer.people() == [("Old", number(7), None)]


def test_later_changes_stay_even_if_a_batch_ends_between_their_rows(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    importer.send({"phone": ANN, "firstName": "Ann", "lastName": "Lee"})
    header = "First name,Last name,Phone\n"
    upload = applied(importer, header + f"Anna,Li,{ANN}\nAnne,Lim,{ANN}\n")
    importer.send({"phone": ANN, "firstName": "Anna", "lastName": "Ek"})
    expected = UndoTotals(contacts_left=1, fields_left=1)
    assert preview(importer, upload.id) == expected
    monkeypatch.setattr(undo, "BATCH_SIZE", 1)
    order = start(importer, upload.id)
    with importer.database.transaction() as session:
        assert undo.undo_batch(session, upload.id, order)
        undo.stop(session, upload.id, order)
    assert preview(importer, upload.id) == UndoTotals()
    assert undo_all(importer, upload.id) == expected
    assert importer.people() == [("Anna", ANN, None)]


def test_removed_contacts_come_back_as_they_were(importer: Importer) -> None:
    importer.send({"phone": ANN, "firstName": "Ann"}, {"phone": BOB, "firstName": "Bob"})
    upload = applied(importer, f"Phone\n{ANN}\n{BOB}\n", ContactAction.REMOVE)
    importer.send({"phone": BOB, "firstName": "Another"})
    expected = UndoTotals(brought_back=1, taken=1)
    assert preview(importer, upload.id) == expected
    assert undo_all(importer, upload.id) == expected
    assert importer.people() == [("Ann", ANN, None), ("Another", BOB, None)]


def test_undoing_the_earlier_of_two_uploads_keeps_the_values_of_the_later(
    importer: Importer,
) -> None:
    importer.send({"phone": ANN, "firstName": "Ann", "lastName": "Lee"})
    header = "First name,Last name,Phone\n"
    first = applied(importer, header + f"Anna,Lees,{ANN}\n")
    second = applied(importer, header + f"Anne,Lees,{ANN}\n")
    assert undo_all(importer, first.id) == UndoTotals(restored=1, contacts_left=1, fields_left=1)
    assert undo_all(importer, second.id) == UndoTotals(restored=1)
    assert importer.people() == [("Anna", ANN, None)]


def test_an_upload_is_undone_once_and_in_its_time(importer: Importer) -> None:
    upload = applied(importer, HEADER + f"Ann,{ANN},\n")
    end = undo.ends_at(upload, DAYS)
    assert upload.finished_at
    assert end == upload.finished_at + timedelta(days=DAYS)
    order = start(importer, upload.id)
    assert start(importer, upload.id) == order
    undo_rows(importer.database, upload.id, order)
    importer.send({"phone": ANN})
    assert start(importer, upload.id) == order
    undo_rows(importer.database, upload.id, order)
    assert importer.people() == [(None, ANN, None)]

    late = applied(importer, HEADER + f"Bob,{BOB},\n")
    with importer.database.transaction() as session:
        session.execute(update(ContactImport).values(finished_at=end - timedelta(days=2 * DAYS)))
    with pytest.raises(Conflict) as caught:
        start(importer, late.id)
    assert caught.value.code == "upload_not_undoable"


def test_an_upload_that_was_stopped_can_be_undone_and_then_does_not_go_on(
    importer: Importer,
) -> None:
    rows = [(f"P{index}", number(index)) for index in range(600)]
    upload = importer.checked(table("First name,Phone", rows))
    order = importer.start(upload.id)
    apply_batch(importer, upload.id, order)
    with importer.database.transaction() as session:
        steps.cancel(session, importer.caller, upload.id)
    apply_rows(importer.database, upload.id, order)
    assert undo_all(importer, upload.id) == UndoTotals(removed=500)
    stopped = importer.now(upload.id)
    assert (stopped.status, uploads.can_go_on(stopped)) == (ImportStatus.CANCELLED, False)
    with pytest.raises(Conflict):
        importer.start(upload.id)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_upload_of_another_tenant_cannot_be_undone(importer: Importer) -> None:
    upload = applied(importer, HEADER + f"Ann,{ANN},\n")
    with importer.database.transaction() as session:
        stranger = make_tenant(session, "Other").caller(Role.PARTNER_ADMIN)
        with pytest.raises(NotFound):
            undo.start(session, stranger, upload.id, DAYS)


def test_of_a_large_upload_the_preview_gives_sums(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    importer.define(crmId=True)
    importer.send({"phone": ANN, "firstName": "Ann"}, {"phone": CY, "firstName": "Cy"})
    upload = applied(importer, HEADER + f"Anna,{ANN},\nBob,{BOB},\nBobby,{BOB},\nCyril,{CY},\n")
    importer.send({"phone": CY, "firstName": "Cyrus"})
    monkeypatch.setattr(undo_preview, "MAX_TRIED_CHANGES", 3)
    assert preview(importer, upload.id) == UndoTotals(
        removed=1, restored=2, contacts_left=1, estimated=True
    )
    removing = applied(importer, f"Phone\n{ANN}\n{BOB}\n{CY}\n", ContactAction.REMOVE)
    importer.send({"phone": ANN})
    monkeypatch.setattr(undo_preview, "MAX_TRIED_CHANGES", 2)
    assert preview(importer, removing.id) == UndoTotals(brought_back=2, taken=1, estimated=True)
    people = [{"email": "Ann@example.com"}, {"phone": BOB}, {"phone": CY}]
    own = {"externalIdKey": "crmId", "externalIdValue": "7"}
    importer.send({"phone": ANN, **people[0]}, people[1] | own, people[2])
    again = applied(importer, f"Phone\n{ANN}\n{BOB}\n{CY}\n", ContactAction.REMOVE)
    importer.send({"email": "ann@example.com"}, {"phone": number(9), **own})
    expected = UndoTotals(brought_back=1, taken=2)
    assert preview(importer, again.id) == replace(expected, estimated=True)
    assert undo_all(importer, again.id) == expected
    with importer.database.transaction(read_only=True) as session:
        kept = session.scalars(
            select(ImportChange.action).where(ImportChange.import_id == removing.id)
        )
        assert set(kept) == {"deleted"}


def test_rows_that_changed_nothing_are_no_changes(importer: Importer) -> None:
    importer.send({"phone": ANN, "firstName": "Ann"}, {"phone": BOB, "firstName": "Bob"})
    upload = applied(importer, HEADER + f"Ann,{ANN},\nBobby,{BOB},\nCy,{CY},\nCy,{CY},\n")
    with importer.database.transaction(read_only=True) as session:
        assert undo.count_changes(session, upload) == (2, 2)
    assert uploads.unchanged_rows(upload) == 2
    figures = uploads.figures_of(upload)
    assert [figures[name] for name in ("created", "updated", "unchanged", "deleted")] == [
        1,
        1,
        2,
        0,
    ]
