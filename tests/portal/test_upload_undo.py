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
from app.services.mails.work_texts import outcome
from tests.fixtures.uploads import number
from tests.portal.uploader import Uploader, heading, words

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
ANN, BOB, CATO = number(1), number(2), number(3)


def send(uploader: Uploader, *items: dict[str, str]) -> None:
    with uploader.database.transaction() as session:
        campaign = session.get_one(Campaign, uploader.campaign_id)
        contacts.apply(session, campaign, items, ContactAction.UPSERT)


def test_an_undo_shows_its_preview_and_then_its_result(uploader: Uploader) -> None:
    send(uploader, {"phone": ANN, "firstName": "Ann", "lastName": "Lee"})
    address = uploader.applied(f"First name,Last name,Phone\nAnna,Lees,{ANN}\nBob,Ray,{BOB}\n")
    assert "Undo is possible until" in uploader.shows(address)
    send(uploader, {"phone": ANN, "lastName": "Gray"}, {"phone": BOB, "lastName": "Rey"})
    asked = uploader.browser.get(f"{address}/undo")
    assert heading(asked) == "Undo this upload?"
    message = words(asked)
    for part in (
        "Would be removed 1 Bob Ray Would get earlier values 1 Anna Lees Would be restored 0",
        "Left as they are 1 Anna Lees",
        "1 contact is removed although it was changed since",
        "1 field of 1 contact stays as now",
        "Calls already placed stay in the record",
    ):
        assert part in message
    assert uploader.press(address, "undo").location == address
    waiting = uploader.browser.get(address)
    assert heading(waiting) == "Undoing 2 changes to 2 contacts"
    assert "0 of 2 changes undone" in words(uploader.browser.get(f"{address}/live"))
    uploader.work(address)
    done = uploader.browser.get(address)
    assert heading(done) == "Upload undone"
    message = words(done)
    assert "Removed 1 Got earlier values 1 Restored 0 Left as they were 1" in message
    assert "1 + 1 + 0 + 0 + 0 = 2 rows in the file." in message
    assert "Undone by" in message
    also = "1 contact was removed although it was changed since The upload added it."
    assert f"Also removed {also} Later changes are removed too. What stays" in message
    people = uploader.shows(f"/campaigns/{uploader.campaign_id}")
    assert "Ann Gray" in people
    assert "Bob" not in people


def test_an_undo_counts_contacts_and_the_changes_to_them(uploader: Uploader) -> None:
    address = uploader.applied(f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\nRob,{BOB}\n")
    message = uploader.shows(f"{address}/undo")
    assert "Would be removed 2 Ann, Rob Would get earlier values 0 Would be restored 0" in message
    assert "The upload made 3 changes to 2 contacts." in message
    uploader.press(address, "undo")
    assert heading(uploader.browser.get(address)) == "Undoing 3 changes to 2 contacts"


def test_an_upload_that_changed_nothing_offers_no_undo(uploader: Uploader) -> None:
    file = f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\nBob,{BOB}\n"
    uploader.applied(file)
    address = uploader.applied(file)
    message = uploader.shows(f"{address}/undo")
    assert "Would be removed 0 Would get earlier values 0 Would be restored 0" in message
    assert "Left as they are 2 Ann, Bob" in message
    assert "Nothing would change" in message
    assert "2 contacts have their earlier values already" in message
    assert "Undo this upload" not in message
    assert "An undo can’t be undone" not in message


def test_an_undo_counts_contacts_that_the_upload_left_as_they_were(uploader: Uploader) -> None:
    uploader.applied(f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = uploader.applied(f"First name,Phone\nAnna,{ANN}\nBob,{BOB}\n")
    message = uploader.shows(f"{address}/undo")
    assert "Would get earlier values 1 Anna Would be restored 0 Left as they are 1 Bob" in message
    uploader.press(address, "undo")
    uploader.work(address)
    assert "Got earlier values 1 Restored 0 Left as they were 1" in uploader.shows(address)


def test_the_estimate_for_a_large_upload_knows_what_it_left_as_it_was(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_preview, "MAX_TRIED_CHANGES", 1)
    uploader.applied(f"First name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = uploader.applied(f"First name,Phone\nAnna,{ANN}\nBob,{BOB}\n")
    message = uploader.shows(f"{address}/undo")
    assert "Would get earlier values 1 Would be restored 0 Left as they are 1" in message


def test_the_rest_of_an_upload_is_undone_after_one_person_was_erased(uploader: Uploader) -> None:
    send(uploader, {"phone": ANN, "firstName": "Ann"}, {"phone": BOB, "firstName": "Bob"})
    address = uploader.applied(
        "First name,Last name,Phone,Friend\n"
        f"Anna,Lee,{ANN},\nBobby,Ray,{BOB},\nCato,Orr,{CATO},Bobby Ray\n,,12,\n"
    )
    erase(uploader, BOB, "Bobby Ray")
    assert "Download 1 failed row" in uploader.shows(f"/campaigns/{uploader.campaign_id}/uploads")
    message = uploader.shows(f"{address}/undo")
    assert (
        "Would be removed 1 Cato Orr Would get earlier values 1 Anna Lee "
        "Would be restored 0" in message
    )
    assert "1 person was erased and stays erased" in message
    uploader.press(address, "undo")
    assert "0 of 2 changes undone" in uploader.shows(f"{address}/live")
    uploader.work(address)
    message = uploader.shows(address)
    assert "Removed 1 Got earlier values 1 Restored 0 Left as they were 0" in message
    assert "1 person was erased and stays erased" in message
    with uploader.database.transaction(read_only=True) as session:
        assert session.scalars(select(Contact.first_name)).all() == ["Ann"]


def erase(uploader: Uploader, phone: str, name: str) -> None:
    """Ask for it on the contact's page; do what the worker does then."""
    with uploader.database.transaction(read_only=True) as session:
        contact_id = session.scalars(select(Contact.id).where(Contact.phone == phone)).one()
    page = f"/campaigns/{uploader.campaign_id}/contacts/{contact_id}/erase"
    asked = uploader.browser.post(page, {"typed": name}, page=page)
    with uploader.app.app_context():
        erasure_id = UUID(str(asked.location).rsplit("/", 1)[1])
        SubjectErasure(uploader.database, files(), open_outbox(settings()), erasure_id).run()


def test_an_undo_sent_twice_or_afterwards_does_nothing_more(uploader: Uploader) -> None:
    address = uploader.applied(f"Name,Phone\nAnn,{ANN}\n")
    page = f"{address}/undo"
    for _ in range(2):
        assert uploader.browser.post(page, page="/uploads").location == address
    uploader.work(address)
    send(uploader, {"phone": ANN, "firstName": "New"})
    assert uploader.browser.post(page, page=uploader.page).location == address
    assert uploader.browser.get(page).location == address
    assert heading(uploader.browser.get(address)) == "Upload undone"
    assert "New" in uploader.shows(f"/campaigns/{uploader.campaign_id}")


def test_an_undo_is_no_longer_possible_after_its_days_and_the_page_says_so(
    uploader: Uploader,
) -> None:
    address = uploader.applied(f"Name,Phone\nAnn,{ANN}\n")
    with uploader.database.transaction() as session:
        session.execute(update(ContactImport).values(finished_at=utcnow() - timedelta(days=8)))
    message = uploader.shows(address)
    assert "Undo was possible until" in message
    assert "Undo this upload" not in message
    assert uploader.browser.get(f"{address}/undo").location == address
    assert uploader.browser.post(f"{address}/undo", page=uploader.page).location == address
    assert uploader.now(address).undo_status is None


def test_an_undo_that_stopped_can_go_on(uploader: Uploader) -> None:
    address = uploader.applied(f"Name,Phone\nAnn,{ANN}\n")
    with uploader.database.transaction() as session:
        session.execute(update(ContactImport).values(undo_status="stopped", undo_changes=1))
    assert "The undo stopped after 0 of 1 change" in uploader.shows(address)
    assert "An earlier undo stopped" in uploader.shows(f"{address}/undo")
    uploader.press(address, "undo")
    uploader.work(address)
    assert heading(uploader.browser.get(address)) == "Upload undone"


def test_the_history_of_a_campaign_shows_who_uploaded_what_and_how_it_ended(
    uploader: Uploader,
) -> None:
    history = f"/campaigns/{uploader.campaign_id}/uploads"
    assert "No uploads yet" in uploader.shows(history)
    first = uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,12\n", "first.csv")
    uploader.press(first, "undo")
    uploader.work(first)
    second = uploader.applied(f"Name,Phone\nBob,{BOB}\n", "second.csv")
    page = uploader.browser.get(history).text
    message = uploader.shows(history)
    assert "second.csv Add and update Applied" in message
    assert "Applied 1 1 – – – –" in message
    assert "Undone 2 1 " in message  # its rows and the failed one: nothing is applied any more
    assert "Download 1 failed row" in message
    assert f'href="{first}/undo"' not in page
    assert f'href="{second}/undo"' in page
    applied, undone = (uploader.shows(f"{history}?state={state}") for state in ("done", "undone"))
    assert "first.csv" not in applied
    assert "second.csv" in applied
    assert "first.csv" in undone
    assert "second.csv" not in undone
    assert "No upload matches" in uploader.shows(f"{history}?state=failed")


def test_the_same_file_after_an_undo_says_so(uploader: Uploader) -> None:
    data = f"Name,Phone\nAnn,{ANN}\n"
    first = uploader.applied(data)
    uploader.press(first, "undo")
    uploader.work(first)
    assert "This file was applied before and undone" in uploader.shows(uploader.upload(data))


def test_an_undone_upload_needs_no_attention_on_the_overview(uploader: Uploader) -> None:
    address = uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,12\n")
    assert "1 row was not applied" in uploader.shows("/")
    uploader.press(address, "undo")
    uploader.work(address)
    assert "not applied" not in uploader.shows("/")


def test_contacts_that_an_upload_leaves_as_they_are_are_no_change(
    uploader: Uploader, session: Session
) -> None:
    uploader.applied(f"Name,Phone\nAnn,{ANN}\nBob,{BOB}\n")
    address = uploader.applied(f"Name,Phone\nAnn,{ANN}\nRob,{BOB}\nCy,{CATO}\n")
    message = uploader.shows(address)
    assert "1 contact added, 1 updated, 1 unchanged." in message
    assert "Created 1 Updated 1 Unchanged 1 Deleted 0" in message
    assert "The same figures as on the check screen." in message
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
    assert "The upload made 2 changes to 2 contacts." in uploader.shows(f"{address}/undo")


def test_an_author_is_notified_only_of_uploads_that_took_long(
    uploader: Uploader, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploader.applied(f"Name,Phone\nAnn,{ANN}\n")
    assert "Upload applied" not in uploader.shows("/notifications")
    monkeypatch.setattr(apply, "WORTH_A_MAIL", timedelta())
    uploader.applied(f"Name,Phone\nBob,{BOB}\n")
    assert "Upload applied" in uploader.shows("/notifications")
