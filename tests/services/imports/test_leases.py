"""A worker that works on an import isn't disturbed, and is replaced when it is gone."""

import io
from uuid import UUID

import pytest
from sqlalchemy import update

from app.enums import ContactAction, ImportState
from app.models import ContactImport, utcnow
from app.services.imports import steps, uploads
from app.services.imports.pipeline import apply_rows, check_file
from tests.fixtures.uploads import MAX_BYTES, Desk, number

pytestmark = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def uploaded(desk: Desk) -> UUID:
    kept = desk.files.save(io.BytesIO(f"Phone\n{number(1)}\n".encode()), max_bytes=MAX_BYTES)
    with desk.database.transaction() as session:
        return uploads.create(
            session,
            desk.caller,
            desk.campaign_id,
            action=ContactAction.UPSERT,
            file=kept,
            file_name="people.csv",
            lease_until=utcnow() + steps.LEASE_LASTS,
        ).id


def run_out(desk: Desk, upload_id: UUID) -> None:
    with desk.database.transaction() as session:
        past = utcnow() - steps.LEASE_LASTS
        query = update(ContactImport).where(ContactImport.id == upload_id)
        session.execute(query.values(lease_until=past))


def taken_over(desk: Desk, upload_id: UUID) -> bool:
    with desk.database.transaction() as session:
        found = steps.expired_leases(session)
        taken = steps.take_over(session, upload_id)
    assert (found == [upload_id]) is taken
    return taken


def renewed(desk: Desk, upload_id: UUID) -> bool:
    with desk.database.transaction() as session:
        return steps.renew_lease(session, upload_id)


def test_a_held_upload_is_left_alone(desk: Desk) -> None:
    upload_id = uploaded(desk)
    assert not taken_over(desk, upload_id)
    run_out(desk, upload_id)
    assert renewed(desk, upload_id)
    assert not taken_over(desk, upload_id)


def test_an_upload_that_was_taken_over_is_no_longer_held(desk: Desk) -> None:
    upload_id = uploaded(desk)
    run_out(desk, upload_id)
    assert taken_over(desk, upload_id)
    assert not renewed(desk, upload_id)
    assert not taken_over(desk, upload_id)


def test_an_unchecked_upload_is_checked_and_then_applied(desk: Desk) -> None:
    upload_id = uploaded(desk)
    run_out(desk, upload_id)
    assert taken_over(desk, upload_id)
    check_file(desk.database, desk.files, upload_id, 1)
    assert desk.now(upload_id).state is ImportState.APPLYING
    apply_rows(desk.database, upload_id, 1)
    assert desk.people() == [(None, number(1), None)]


def test_a_checked_upload_is_applied(desk: Desk) -> None:
    upload_id = uploaded(desk)
    check_file(desk.database, desk.files, upload_id, 1)
    assert desk.now(upload_id).state is ImportState.CHECKED
    run_out(desk, upload_id)
    assert taken_over(desk, upload_id)
    assert desk.now(upload_id).state is ImportState.APPLYING


def test_an_ended_upload_stays_as_it_is(desk: Desk) -> None:
    upload_id = uploaded(desk)
    with desk.database.transaction() as session:
        steps.cancel(session, desk.caller, upload_id)
    run_out(desk, upload_id)
    assert taken_over(desk, upload_id)
    assert desk.now(upload_id).state is ImportState.CANCELLED
