"""Undoing an upload on its pages: what it would do, that it is done, and what was left."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.enums import ContactAction
from app.extensions import files, settings
from app.gateways.mailers import open_outbox
from app.jobs.erase_subject import SubjectErasure
from app.models import AuditEntry, Campaign, Contact, ContactImport, utcnow
from app.services import contacts
from app.services.imports import apply, undo_preview, uploads
from app.services.mails.work_words import outcome
from tests.fixtures.uploads import number
from tests.portal.uploader import Desk, heading, words

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
ANN, BOB, CATO = number(1), number(2), number(3)


def send(desk: Desk, *items: dict[str, str]) -> None:
    with desk.database.transaction() as session:
        campaign = session.get_one(Campaign, desk.campaign_id)
        contacts.apply(session, campaign, items, ContactAction.UPSERT)


def test_an_undo_shows_its_preview_and_then_its_result(desk: Desk) -> None:
    send(desk, {"phone": ANN, "firstName": "Ann", "lastName": "Lee"})
    address = desk.applied(f"First name,Last name,Phone\nAnna,Lees,{ANN}\nBob,Ray,{BOB}\n")
    assert "Undo is possible until" in desk.shows(address)
    send(desk, {"phone": ANN, "lastName": "Gray"}, {"phone": BOB, "lastName": "Rey"})
    asked = desk.browser.get(f"{address}/undo")
    assert heading(asked) == "Undo this upload?"
    said = words(asked)
    for part in (
        "Would be removed 1 Bob Ray Would get earlier values 1 Anna Lees Would be restored 0",
        "Left as they are 1 Anna Lees",
        "1 contact is removed although it was changed since",
        "1 field of 1 contact stays as now",
        "Calls already placed stay in the record",
    ):
        assert part in said
    assert desk.press(address, "undo").location == address
    waiting = desk.browser.get(address)
    assert heading(waiting) == "Undoing 2 changes to 2 contacts"
    assert "0 of 2 changes undone" in words(desk.browser.get(f"{address}/live"))
    desk.work(address)
    done = desk.browser.get(address)
    assert heading(done) == "Upload undone"
    said = words(done)
    assert "Removed 1 Got earlier values 1 Restored 0 Left as they were 1" in said
    assert "1 + 1 + 0 + 0 + 0 = 2 rows in the file." in said
    assert "Undone by" in said
    also = "1 contact was removed although it was changed since The upload added it."
    assert f"Also removed {also} Later changes are removed too. What stays" in said
    people = desk.shows(f"/campaigns/{desk.campaign_id}")
    assert "Ann Gray" in people
    assert "Bob" not in people


def test_an_undo_counts_contacts_and_the_changes_to_them(desk: Desk) -> None:
    address = desk.applied(f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\nRob,{BOB}\n")
    said = desk.shows(f"{address}/undo")
    assert "Would be removed 2 Ann, Rob Would get earlier values 0 Would be restored 0" in said
    assert "The upload made 3 changes to 2 contacts." in said
    desk.press(address, "undo")
    assert heading(desk.browser.get(address)) == "Undoing 3 changes to 2 contacts"


def test_an_upload_that_changed_nothing_offers_no_undo(desk: Desk) -> None:
    file = f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\nBob,{BOB}\n"
    desk.applied(file)
    address = desk.applied(file)
    said = desk.shows(f"{address}/undo")
    assert "Would be removed 0 Would get earlier values 0 Would be restored 0" in said
    assert "Left as they are 2 Ann, Bob" in said
    assert "Nothing would change" in said
    assert "2 contacts have their earlier values already" in said
    assert "Undo this upload" not in said
    assert "An undo can’t be undone" not in said


def test_an_undo_counts_contacts_that_the_upload_left_as_they_were(desk: Desk) -> None:
    desk.applied(f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = desk.applied(f"First name,Phone\nAnna,{ANN}\nBob,{BOB}\n")
    said = desk.shows(f"{address}/undo")
    assert "Would get earlier values 1 Anna Would be restored 0 Left as they are 1 Bob" in said
    desk.press(address, "undo")
    desk.work(address)
    assert "Got earlier values 1 Restored 0 Left as they were 1" in desk.shows(address)


def test_the_estimate_for_a_large_upload_knows_what_it_left_as_it_was(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_preview, "WORKED_OUT_AT_ONCE", 1)
    desk.applied(f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = desk.applied(f"First name,Phone\nAnna,{ANN}\nBob,{BOB}\n")
    said = desk.shows(f"{address}/undo")
    assert "Would get earlier values 1 Would be restored 0 Left as they are 1" in said


def test_the_rest_of_an_upload_is_undone_after_one_person_was_erased(desk: Desk) -> None:
    send(desk, {"phone": ANN, "firstName": "Ann"}, {"phone": BOB, "firstName": "Bob"})
    address = desk.applied(
        "First name,Last name,Phone,Friend\n"
        f"Anna,Lee,{ANN},\nBobby,Ray,{BOB},\nCato,Orr,{CATO},Bobby Ray\n,,12,\n"
    )
    erase(desk, BOB, "Bobby Ray")
    assert "Download 1 failed row" in desk.shows(f"/campaigns/{desk.campaign_id}/uploads")
    said = desk.shows(f"{address}/undo")
    assert (
        "Would be removed 1 Cato Orr Would get earlier values 1 Anna Lee "
        "Would be restored 0" in said
    )
    assert "1 person was erased and stays erased" in said
    desk.press(address, "undo")
    assert "0 of 2 changes undone" in desk.shows(f"{address}/live")
    desk.work(address)
    said = desk.shows(address)
    assert "Removed 1 Got earlier values 1 Restored 0 Left as they were 0" in said
    assert "1 person was erased and stays erased" in said
    with desk.database.transaction(read_only=True) as session:
        assert session.scalars(select(Contact.first_name)).all() == ["Ann"]


def erase(desk: Desk, phone: str, name: str) -> None:
    """Ask for it on the contact's page; do what the worker does then."""
    with desk.database.transaction(read_only=True) as session:
        contact_id = session.scalars(select(Contact.id).where(Contact.phone == phone)).one()
    page = f"/campaigns/{desk.campaign_id}/contacts/{contact_id}/erase"
    asked = desk.browser.post(page, {"typed": name}, page=page)
    with desk.app.app_context():
        erasure_id = UUID(str(asked.location).rsplit("/", 1)[1])
        SubjectErasure(desk.database, files(), open_outbox(settings()), erasure_id).run()


def test_an_undo_sent_twice_or_afterwards_does_nothing_more(desk: Desk) -> None:
    address = desk.applied(f"Name,Phone\nAnn,{ANN}\n")
    page = f"{address}/undo"
    for _ in range(2):
        assert desk.browser.post(page, page="/uploads").location == address
    desk.work(address)
    send(desk, {"phone": ANN, "firstName": "New"})
    assert desk.browser.post(page, page=desk.page).location == address
    assert desk.browser.get(page).location == address
    assert heading(desk.browser.get(address)) == "Upload undone"
    assert "New" in desk.shows(f"/campaigns/{desk.campaign_id}")


def test_an_undo_is_no_longer_possible_after_its_days_and_the_page_says_so(desk: Desk) -> None:
    address = desk.applied(f"Name,Phone\nAnn,{ANN}\n")
    with desk.database.transaction() as session:
        session.execute(update(ContactImport).values(finished_at=utcnow() - timedelta(days=8)))
    said = desk.shows(address)
    assert "Undo was possible until" in said
    assert "Undo this upload" not in said
    assert desk.browser.get(f"{address}/undo").location == address
    assert desk.browser.post(f"{address}/undo", page=desk.page).location == address
    assert desk.now(address).undo_state is None


def test_an_undo_that_stopped_can_go_on(desk: Desk) -> None:
    address = desk.applied(f"Name,Phone\nAnn,{ANN}\n")
    with desk.database.transaction() as session:
        session.execute(update(ContactImport).values(undo_state="stopped", undo_changes=1))
    assert "The undo stopped after 0 of 1 change" in desk.shows(address)
    assert "An earlier undo stopped" in desk.shows(f"{address}/undo")
    desk.press(address, "undo")
    desk.work(address)
    assert heading(desk.browser.get(address)) == "Upload undone"


def test_the_history_of_a_campaign_shows_who_uploaded_what_and_how_it_ended(desk: Desk) -> None:
    history = f"/campaigns/{desk.campaign_id}/uploads"
    assert "No uploads yet" in desk.shows(history)
    first = desk.applied(f"Name,Phone\nAnn,{ANN}\nBob,12\n", "first.csv")
    desk.press(first, "undo")
    desk.work(first)
    second = desk.applied(f"Name,Phone\nBob,{BOB}\n", "second.csv")
    page = desk.browser.get(history).text
    said = desk.shows(history)
    assert "second.csv Add and update Applied" in said
    assert "Applied 1 1 – – – –" in said
    assert "Undone 2 1 – – – 1" in said
    assert "Download 1 failed row" in said
    assert f'href="{first}/undo"' not in page
    assert f'href="{second}/undo"' in page
    applied, undone = (desk.shows(f"{history}?state={state}") for state in ("done", "undone"))
    assert "first.csv" not in applied
    assert "second.csv" in applied
    assert "first.csv" in undone
    assert "second.csv" not in undone
    assert "No upload matches" in desk.shows(f"{history}?state=failed")


def test_the_same_file_after_an_undo_says_so(desk: Desk) -> None:
    data = f"Name,Phone\nAnn,{ANN}\n"
    first = desk.applied(data)
    desk.press(first, "undo")
    desk.work(first)
    assert "This file was applied before and undone" in desk.shows(desk.upload(data))


def test_an_undone_upload_needs_no_attention_on_the_overview(desk: Desk) -> None:
    address = desk.applied(f"Name,Phone\nAnn,{ANN}\nBob,12\n")
    assert "1 row was not applied" in desk.shows("/")
    desk.press(address, "undo")
    desk.work(address)
    assert "not applied" not in desk.shows("/")


def test_contacts_that_an_upload_leaves_as_they_are_are_no_change(
    desk: Desk, session: Session
) -> None:
    desk.applied(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = desk.applied(f"Name,Phone\nAnn,{ANN}\nRob,{BOB}\nCy,{CATO}\n")
    said = desk.shows(address)
    assert "1 contact added, 1 updated, 1 unchanged." in said
    assert "Created 1 Updated 1 Unchanged 1 Deleted 0" in said
    assert "The same figures as on the check screen." in said
    entry = session.scalars(
        select(AuditEntry)
        .where(AuditEntry.action == "upload.applied")
        .order_by(AuditEntry.id.desc())
    ).first()
    assert entry is not None
    assert entry.after is not None
    assert outcome(entry.after) == "1 created, 1 updated, 1 unchanged"
    upload = session.scalars(select(ContactImport).order_by(ContactImport.id.desc())).first()
    assert upload is not None
    assert uploads.counts_of(upload)["updated"] == 2  # as scripts count
    assert "The upload made 2 changes to 2 contacts." in desk.shows(f"{address}/undo")


def test_an_author_is_notified_only_of_uploads_that_took_long(
    desk: Desk, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.applied(f"Name,Phone\nAnn,{ANN}\n")
    assert "Upload applied" not in desk.shows("/notifications")
    monkeypatch.setattr(apply, "WORTH_A_MAIL", timedelta())
    desk.applied(f"Name,Phone\nBob,{BOB}\n")
    assert "Upload applied" in desk.shows("/notifications")
