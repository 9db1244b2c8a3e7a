"""Applying in batches: stopping, going on, a campaign that changes, the failed rows' file."""

import csv
import io
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from app.enums import ContactAction, ImportStatus
from app.errors import Conflict, NotFound
from app.models import ContactImport, ImportChange, utcnow
from app.services.imports import apply, expiry, reports, steps, uploads
from app.services.imports.pipeline import apply_rows
from tests.fixtures.tenants import make_tenant
from tests.fixtures.uploads import Importer, counts, number, table

HEADER = "First name,Phone,E-mail\n"
ANN, BOB = number(1), number(2)


def many(rows: int) -> str:
    return table("First name,Phone", [(f"P{index}", number(index)) for index in range(rows)])


def batch(importer: Importer, upload_id: UUID, apply_number: int) -> bool:
    with importer.database.transaction() as session:
        return apply.apply_batch(session, upload_id, apply_number)


def test_a_stopped_upload_keeps_what_was_applied_and_can_go_on(importer: Importer) -> None:
    upload = importer.checked(many(1200))
    first = importer.start(upload.id)
    assert batch(importer, upload.id, first)
    with importer.database.transaction() as session:
        steps.cancel(session, importer.caller, upload.id)
    apply_rows(importer.database, upload.id, first)
    stopped = importer.now(upload.id)
    assert (stopped.status, stopped.rows_applied, counts(stopped)) == (
        ImportStatus.CANCELLED,
        500,
        (500, 0, 0, 0, 0),
    )
    assert len(importer.people()) == 500
    assert uploads.can_go_on(stopped)

    done = importer.apply(upload.id)
    assert (done.status, done.rows_applied, counts(done)) == (
        ImportStatus.DONE,
        1200,
        (1200, 0, 0, 0, 0),
    )
    assert len(importer.people()) == 1200
    assert not batch(importer, upload.id, first)


def test_rows_that_undo_each_other_in_two_batches_are_unchanged_as_on_the_check(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply, "BATCH_SIZE", 2)
    importer.send({"phone": ANN, "firstName": "Ann"})
    rows = [("Anna", ANN), ("Bob", BOB), ("Rob", BOB), ("Bob", BOB), ("Ann", ANN)]
    upload = importer.checked(table("First name,Phone", rows))
    figures = uploads.figures_of(upload)
    assert (figures["created"], figures["updated"], figures["unchanged"]) == (1, 2, 2)
    assert uploads.figures_of(importer.apply(upload.id)) == figures


def test_a_batch_of_an_older_order_does_nothing(importer: Importer) -> None:
    upload = importer.checked(many(3))
    number_of_order = importer.start(upload.id)
    assert not batch(importer, upload.id, number_of_order + 1)
    assert importer.people() == []


def test_the_result_shows_that_the_campaign_changed_meanwhile(importer: Importer) -> None:
    upload = importer.checked(
        HEADER + f"Ann,{ANN},ann@mail.example\nBob,{BOB},bob@mail.example\nCy,,cy@mail.example\n"
    )
    assert counts(upload) == (3, 0, 0, 0, 0)
    importer.send({"phone": ANN}, {"phone": BOB}, {"email": "bob@mail.example"})
    done = importer.apply(upload.id)
    assert (done.status, counts(done)) == (ImportStatus.DONE, (1, 1, 0, 0, 1))
    assert done.expected == {"created": 3, "updated": 0, "deleted": 0, "ignored": 0, "failed": 0}
    assert importer.rows(upload.id) == [
        (2, "updated", None),
        (3, "failed", "ambiguous_match"),
        (4, "created", None),
    ]
    assert importer.problems(upload.id) == [
        (3, 1, "ambiguous_match", "phone", False),
        (4, None, "no_phone", None, True),
    ]


def test_only_rows_that_the_check_found_good_are_applied(importer: Importer) -> None:
    importer.send({"phone": ANN}, {"email": "ann@mail.example"})
    upload = importer.checked(HEADER + f"Ann,{ANN},ann@mail.example\nBob,{BOB},\n")
    with importer.database.transaction() as session:
        session.execute(update(ContactImport).values(action=ContactAction.UPDATE_ONLY))
    done = importer.apply(upload.id)
    assert counts(done) == (0, 0, 0, 1, 1)


def test_the_undo_log_holds_each_contact_before_and_after(importer: Importer) -> None:
    importer.send({"phone": ANN, "firstName": "Ann", "contactMetadata": {"Practice": "Hove"}})
    upload = importer.checked(HEADER + f"Anna,{ANN},\nBob,{BOB},\n")
    importer.apply(upload.id)
    with importer.database.transaction(read_only=True) as session:
        log = session.scalars(select(ImportChange).order_by(ImportChange.row_number)).all()
    empty: dict[str, Any] = {"lastName": None, "email": None, "status": None, "externalIds": {}}
    ann = {**empty, "firstName": "Ann", "phone": ANN, "metadata": '{"Practice":"Hove"}'}
    bob = {**empty, "firstName": "Bob", "phone": BOB, "metadata": None}
    assert [(change.row_number, change.action, change.before, change.after) for change in log] == [
        (2, "updated", ann, {**ann, "firstName": "Anna"}),
        (3, "created", None, bob),
    ]


def failed_rows(importer: Importer, upload_id: UUID) -> str:
    with importer.database.transaction(read_only=True) as session:
        upload = uploads.get(session, importer.caller, upload_id)
        writer = reports.writer_of(session, upload)
        rows, last = reports.rows_after(session, upload, 0, failed_only=True)
    assert last is None
    written = writer.begin(reports.header(upload)) + writer.rows(rows) + writer.end()
    return written.decode()


def test_failed_rows_come_back_as_a_file_that_can_be_fixed_and_sent_again(
    importer: Importer,
) -> None:
    upload = importer.checked(
        "Name,Phone,E-mail,Due\n"
        f"Ann,{ANN},ann(at)mail.example,03/12/2026\nBob,{BOB},,\n=1+1,,,-\nCy,12,,x,y\n"
    )
    text = failed_rows(importer, upload.id)
    assert text.startswith("\ufeffName,Phone")
    assert list(csv.reader(io.StringIO(text[1:]))) == [
        ["Name", "Phone", "E-mail", "Due", "Problem"],
        [
            "Ann",
            f"'{ANN}",
            "ann(at)mail.example",
            "03/12/2026",
            "E-mail: Enter an email like name@example.com.",
        ],
        ["'=1+1", "", "", "'-", "Phone: Enter a phone number or an email address."],
        [
            "Cy",
            "12",
            "",
            "x",
            (
                "Has 5 cells where the header has 4 columns. "
                "Put quotation marks around the value that holds a separator."
            ),
            "y",
        ],
    ]
    fixed = text.replace("(at)", "@").replace(",y\r\n", "\r\n").replace("Cy,12", f"Cy,{number(9)}")
    again = importer.checked(fixed)
    assert again.mapping == ["fullName", "phone", "email", "metadata:Due", "ignore"]
    assert importer.rows(again.id) == [
        (2, "created", None),
        (3, "failed", "missing_identifier"),
        (4, "created", None),
    ]
    first_line = failed_rows(importer, again.id).splitlines()[0]
    assert first_line == "\ufeffName,Phone,E-mail,Due,Problem"


def test_cancelling_before_applying_ends_the_upload(importer: Importer) -> None:
    upload = importer.checked(many(2))
    with importer.database.transaction() as session:
        steps.cancel(session, importer.caller, upload.id)
    with pytest.raises(Conflict) as refusal:
        importer.start(upload.id)
    assert (refusal.value.code, importer.people()) == ("upload_not_open", [])


def test_asking_twice_applies_once(importer: Importer) -> None:
    upload = importer.checked(many(2))
    assert [importer.start(upload.id), importer.start(upload.id)] == [1, 1]
    done = importer.apply(upload.id)
    assert (done.status, importer.start(upload.id)) == (ImportStatus.DONE, 1)


def test_an_upload_of_another_tenant_is_not_found(importer: Importer) -> None:
    upload = importer.checked(many(2))
    with importer.database.transaction() as session:
        other_tenant = make_tenant(session, "Southgate")
    for role in other_tenant.staff:
        with pytest.raises(NotFound), importer.database.transaction() as session:
            uploads.get(session, other_tenant.caller(role), upload.id)


def test_files_are_kept_until_an_upload_has_ended(importer: Importer) -> None:
    open_one, done, old = (importer.checked(many(rows)) for rows in (1, 2, 3))
    importer.apply(done.id)
    with importer.database.transaction() as session:
        session.execute(
            update(ContactImport)
            .where(ContactImport.id == old.id)
            .values(checked_at=utcnow() - timedelta(days=31))
        )
        expiry.cancel_unapplied(session, 30)
        unneeded = expiry.unneeded_files(session)
        expiry.record_files_deleted(session, list(unneeded))
    assert set(unneeded) == {done.id, old.id}
    assert importer.now(open_one.id).file_key == open_one.file_key
    assert [importer.now(upload.id).status for upload in (open_one, old)] == [
        ImportStatus.CHECKED,
        ImportStatus.CANCELLED,
    ]
    with importer.database.transaction(read_only=True) as session:
        assert expiry.unneeded_files(session) == {}


@pytest.mark.parametrize(
    ("size", "seconds", "following"),
    [(500, 0.2, 250), (250, 5.0, 250), (250, 0.06, 250), (250, 0.04, 500), (500, 0.01, 500)],
)
def test_a_slow_batch_is_followed_by_a_smaller_one(
    size: int, seconds: float, following: int
) -> None:
    assert apply.next_size(size, seconds) == following
