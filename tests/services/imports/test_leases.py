"""A worker that works on an import isn't disturbed, and is replaced when it is gone."""

import io
from uuid import UUID

import pytest
from sqlalchemy import update

from app.enums import ContactAction, ImportStatus
from app.models import ContactImport, utcnow
from app.services.imports import steps, uploads
from app.services.imports.pipeline import apply_rows, check_file
from tests.fixtures.uploads import MAX_BYTES, Importer, number

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def uploaded(importer: Importer) -> UUID:
    kept = importer.files.save(io.BytesIO(f"Phone\n{number(1)}\n".encode()), max_bytes=MAX_BYTES)
    with importer.database.transaction() as session:
        return uploads.create(
            session,
            importer.caller,
            importer.campaign_id,
            action=ContactAction.UPSERT,
            file=kept,
            file_name="people.csv",
            lease_until=utcnow() + steps.LEASE_LASTS,
        ).id


def run_out(importer: Importer, upload_id: UUID) -> None:
    with importer.database.transaction() as session:
        past = utcnow() - steps.LEASE_LASTS
        query = update(ContactImport).where(ContactImport.id == upload_id)
        session.execute(query.values(lease_until=past))


def taken_over(importer: Importer, upload_id: UUID) -> bool:
    with importer.database.transaction() as session:
        found = steps.expired_leases(session)
        taken = steps.take_over(session, upload_id)
    assert (found == [upload_id]) is taken
    return taken


def renewed(importer: Importer, upload_id: UUID) -> bool:
    with importer.database.transaction() as session:
        return steps.renew_lease(session, upload_id)


def test_a_held_upload_is_left_alone(importer: Importer) -> None:
    upload_id = uploaded(importer)
    assert not taken_over(importer, upload_id)
    run_out(importer, upload_id)
    assert renewed(importer, upload_id)
    assert not taken_over(importer, upload_id)


def test_an_upload_that_was_taken_over_is_no_longer_held(importer: Importer) -> None:
    upload_id = uploaded(importer)
    run_out(importer, upload_id)
    assert taken_over(importer, upload_id)
    assert not renewed(importer, upload_id)
    assert not taken_over(importer, upload_id)


def test_an_unchecked_upload_is_checked_and_then_applied(importer: Importer) -> None:
    upload_id = uploaded(importer)
    run_out(importer, upload_id)
    assert taken_over(importer, upload_id)
    check_file(importer.database, importer.files, upload_id, 1)
    assert importer.now(upload_id).status is ImportStatus.APPLYING
    apply_rows(importer.database, upload_id, 1)
    assert importer.people() == [(None, number(1), None)]


def test_a_checked_upload_is_applied(importer: Importer) -> None:
    upload_id = uploaded(importer)
    check_file(importer.database, importer.files, upload_id, 1)
    assert importer.now(upload_id).status is ImportStatus.CHECKED
    run_out(importer, upload_id)
    assert taken_over(importer, upload_id)
    assert importer.now(upload_id).status is ImportStatus.APPLYING


def test_an_ended_upload_stays_as_it_is(importer: Importer) -> None:
    upload_id = uploaded(importer)
    with importer.database.transaction() as session:
        steps.cancel(session, importer.caller, upload_id)
    run_out(importer, upload_id)
    assert taken_over(importer, upload_id)
    assert importer.now(upload_id).status is ImportStatus.CANCELLED
