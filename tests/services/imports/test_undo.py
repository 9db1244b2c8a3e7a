"""Undoing an upload: its preview, its effects, and that it continues where it was interrupted."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app.enums import ContactAction, ImportState, Role
from app.errors import Conflict, NotFound
from app.models import AuditEntry, ContactImport, ImportChange
from app.services.imports import apply, steps, undo, undo_preview, uploads
from app.services.imports.pipeline import undo_rows
from app.services.imports.undo import UndoTotals
from tests.fixtures.cast import make_tenant
from tests.fixtures.uploads import Desk, number, table

HEADER = "First name,Phone,E-mail\n"
ANN, BOB, CY = number(1), number(2), number(3)
DAYS = 7


def preview(desk: Desk, upload_id: UUID) -> UndoTotals:
    with desk.database.transaction(read_only=True) as session:
        return undo_preview.preview(session, uploads.get(session, desk.caller, upload_id))[0]


def start(desk: Desk, upload_id: UUID) -> int:
    with desk.database.transaction() as session:
        return undo.start(session, desk.caller, upload_id, DAYS).undo_number


def undo_all(desk: Desk, upload_id: UUID) -> UndoTotals | None:
    undo_rows(desk.database, upload_id, start(desk, upload_id))
    return undo.result_of(desk.now(upload_id))


def apply_batch(desk: Desk, upload_id: UUID, order: int) -> None:
    with desk.database.transaction() as session:
        apply.apply_batch(session, upload_id, order)


def applied(desk: Desk, data: str, action: ContactAction = ContactAction.UPSERT) -> ContactImport:
    return desk.apply(desk.checked(data, action).id)


def test_an_undo_does_what_its_preview_says(desk: Desk) -> None:
    desk.send({"phone": ANN, "firstName": "Ann"}, {"phone": CY, "firstName": "Cy"})
    before = desk.people()
    upload = applied(desk, HEADER + f"Anna,{ANN},\nBob,{BOB},\nBobby,{BOB},\nCyril,{CY},\n")
    assert preview(desk, upload.id) == UndoTotals(removed=1, restored=2)
    desk.send({"phone": CY, "firstName": "Cyrus"})
    expected = UndoTotals(removed=1, restored=1, contacts_left=1, fields_left=1)
    assert preview(desk, upload.id) == expected
    assert undo_all(desk, upload.id) == expected
    assert desk.people() == [*before[:1], ("Cyrus", CY, None)]
    undone = desk.now(upload.id)
    assert (undone.undo_state, undone.undo_done, undone.undo_changes) == ("undone", 4, 4)
    with desk.database.transaction(read_only=True) as session:
        actions = session.scalars(
            select(AuditEntry.action)
            .where(AuditEntry.target_id == str(upload.id))
            .order_by(AuditEntry.id.desc())
            .limit(2)
        ).all()
    assert list(actions) == ["upload.undone", "upload.undo_started"]


def test_an_undo_of_many_rows_continues_after_its_last_batch(desk: Desk) -> None:
    desk.send({"phone": number(7), "firstName": "Old"})
    rows = [(f"P{index}", number(index)) for index in range(1200)]
    upload = applied(desk, table("First name,Phone", rows))
    order = start(desk, upload.id)
    with desk.database.transaction() as session:
        assert undo.undo_batch(session, upload.id, order)
    assert (desk.now(upload.id).undo_done, len(desk.people())) == (250, 950)
    with desk.database.transaction() as session:
        assert not undo.undo_batch(session, upload.id, order + 1)
        undo.stop(session, upload.id, order)
    assert desk.now(upload.id).undo_state == "stopped"
    assert undo_all(desk, upload.id) == UndoTotals(removed=1199, restored=1)
    assert desk.people() == [("Old", number(7), None)]


def test_later_changes_stay_even_if_a_batch_ends_between_their_rows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.send({"phone": ANN, "firstName": "Ann", "lastName": "Lee"})
    header = "First name,Last name,Phone\n"
    upload = applied(desk, header + f"Anna,Li,{ANN}\nAnne,Lim,{ANN}\n")
    desk.send({"phone": ANN, "firstName": "Anna", "lastName": "Ek"})
    expected = UndoTotals(contacts_left=1, fields_left=1)
    assert preview(desk, upload.id) == expected
    monkeypatch.setattr(undo, "BATCH", 1)
    order = start(desk, upload.id)
    with desk.database.transaction() as session:
        assert undo.undo_batch(session, upload.id, order)
        undo.stop(session, upload.id, order)
    assert preview(desk, upload.id) == UndoTotals()
    assert undo_all(desk, upload.id) == expected
    assert desk.people() == [("Anna", ANN, None)]


def test_removed_contacts_come_back_as_they_were(desk: Desk) -> None:
    desk.send({"phone": ANN, "firstName": "Ann"}, {"phone": BOB, "firstName": "Bob"})
    upload = applied(desk, f"Phone\n{ANN}\n{BOB}\n", ContactAction.REMOVE)
    desk.send({"phone": BOB, "firstName": "Another"})
    expected = UndoTotals(brought_back=1, taken=1)
    assert preview(desk, upload.id) == expected
    assert undo_all(desk, upload.id) == expected
    assert desk.people() == [("Ann", ANN, None), ("Another", BOB, None)]


def test_undoing_the_earlier_of_two_uploads_keeps_the_values_of_the_later(desk: Desk) -> None:
    desk.send({"phone": ANN, "firstName": "Ann", "lastName": "Lee"})
    header = "First name,Last name,Phone\n"
    first = applied(desk, header + f"Anna,Lees,{ANN}\n")
    second = applied(desk, header + f"Anne,Lees,{ANN}\n")
    assert undo_all(desk, first.id) == UndoTotals(restored=1, contacts_left=1, fields_left=1)
    assert undo_all(desk, second.id) == UndoTotals(restored=1)
    assert desk.people() == [("Anna", ANN, None)]


def test_an_upload_is_undone_once_and_in_its_time(desk: Desk) -> None:
    upload = applied(desk, HEADER + f"Ann,{ANN},\n")
    end = undo.ends_at(upload, DAYS)
    assert upload.finished_at
    assert end == upload.finished_at + timedelta(days=DAYS)
    order = start(desk, upload.id)
    assert start(desk, upload.id) == order
    undo_rows(desk.database, upload.id, order)
    desk.send({"phone": ANN})
    assert start(desk, upload.id) == order
    undo_rows(desk.database, upload.id, order)
    assert desk.people() == [(None, ANN, None)]

    late = applied(desk, HEADER + f"Bob,{BOB},\n")
    with desk.database.transaction() as session:
        session.execute(update(ContactImport).values(finished_at=end - timedelta(days=2 * DAYS)))
    with pytest.raises(Conflict) as caught:
        start(desk, late.id)
    assert caught.value.code == "upload_not_undoable"


def test_an_upload_that_was_stopped_can_be_undone_and_then_does_not_go_on(desk: Desk) -> None:
    rows = [(f"P{index}", number(index)) for index in range(600)]
    upload = desk.checked(table("First name,Phone", rows))
    order = desk.start(upload.id)
    apply_batch(desk, upload.id, order)
    with desk.database.transaction() as session:
        steps.cancel(session, desk.caller, upload.id)
    apply_batch(desk, upload.id, order)
    assert undo_all(desk, upload.id) == UndoTotals(removed=500)
    stopped = desk.now(upload.id)
    assert (stopped.state, uploads.can_go_on(stopped)) == (ImportState.CANCELLED, False)
    with pytest.raises(Conflict):
        desk.start(upload.id)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
def test_an_upload_of_another_tenant_cannot_be_undone(desk: Desk) -> None:
    upload = applied(desk, HEADER + f"Ann,{ANN},\n")
    with desk.database.transaction() as session:
        stranger = make_tenant(session, "Other").caller(Role.PARTNER_ADMIN)
        with pytest.raises(NotFound):
            undo.start(session, stranger, upload.id, DAYS)


def test_of_a_large_upload_the_preview_gives_sums(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.define(crmId=True)
    desk.send({"phone": ANN, "firstName": "Ann"}, {"phone": CY, "firstName": "Cy"})
    upload = applied(desk, HEADER + f"Anna,{ANN},\nBob,{BOB},\nBobby,{BOB},\nCyril,{CY},\n")
    desk.send({"phone": CY, "firstName": "Cyrus"})
    monkeypatch.setattr(undo_preview, "WORKED_OUT_AT_ONCE", 3)
    assert preview(desk, upload.id) == UndoTotals(
        removed=1, restored=2, contacts_left=1, estimated=True
    )
    removing = applied(desk, f"Phone\n{ANN}\n{BOB}\n{CY}\n", ContactAction.REMOVE)
    desk.send({"phone": ANN})
    monkeypatch.setattr(undo_preview, "WORKED_OUT_AT_ONCE", 2)
    assert preview(desk, removing.id) == UndoTotals(brought_back=2, taken=1, estimated=True)
    people = [{"email": "Ann@example.com"}, {"phone": BOB}, {"phone": CY}]
    own = {"externalIdKey": "crmId", "externalIdValue": "7"}
    desk.send({"phone": ANN, **people[0]}, people[1] | own, people[2])
    again = applied(desk, f"Phone\n{ANN}\n{BOB}\n{CY}\n", ContactAction.REMOVE)
    desk.send({"email": "ann@example.com"}, {"phone": number(9), **own})
    expected = UndoTotals(brought_back=1, taken=2)
    assert preview(desk, again.id) == replace(expected, estimated=True)
    assert undo_all(desk, again.id) == expected
    with desk.database.transaction(read_only=True) as session:
        kept = session.scalars(
            select(ImportChange.action).where(ImportChange.import_id == removing.id)
        )
        assert set(kept) == {"deleted"}


def test_rows_that_changed_nothing_are_no_changes(desk: Desk) -> None:
    desk.send({"phone": ANN, "firstName": "Ann"}, {"phone": BOB, "firstName": "Bob"})
    upload = applied(desk, HEADER + f"Ann,{ANN},\nBobby,{BOB},\nCy,{CY},\nCy,{CY},\n")
    with desk.database.transaction(read_only=True) as session:
        assert undo.extent(session, upload) == (2, 2)
    assert uploads.unchanged_rows(upload) == 2
    figures = uploads.figures_of(upload)
    assert [figures[name] for name in ("created", "updated", "unchanged", "deleted")] == [
        1,
        1,
        2,
        0,
    ]
