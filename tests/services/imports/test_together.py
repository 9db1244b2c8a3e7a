"""Several people apply files to one campaign at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app.database import Database
from app.enums import ImportStatus
from app.models import Campaign, Contact, ImportChange
from app.services.imports import apply
from app.services.imports.pipeline import apply_rows
from tests.fixtures.uploads import Importer, counts, make_importer, number, table

PEOPLE = 8
ROWS = 60
STEP = 20
"""Each user's file shares two thirds of its rows with the next one's."""


@pytest.fixture
def importer(fresh_database: Database, tmp_path: Path) -> Importer:
    with fresh_database.transaction() as session:
        return make_importer(session, fresh_database, tmp_path)


def test_eight_users_at_once_lose_no_update_of_each_other(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file writes a piece of information of its own into all of its contacts."""
    monkeypatch.setattr(apply, "BATCH_SIZE", 10)
    numbers = [range(person * STEP, person * STEP + ROWS) for person in range(PEOPLE)]
    uploads = [
        importer.checked(
            table(f"Phone,By {person}", [(number(n), "yes") for n in numbers[person]])
        ).id
        for person in range(PEOPLE)
    ]
    assert [counts(importer.now(upload)) for upload in uploads] == [(ROWS, 0, 0, 0, 0)] * PEOPLE
    started = [(upload, importer.start(upload)) for upload in uploads]
    with ThreadPoolExecutor(PEOPLE) as pool:
        list(pool.map(lambda each: apply_rows(importer.database, *each), started))

    ended = [importer.now(upload) for upload in uploads]
    everyone = {number(n) for of_person in numbers for n in of_person}
    assert [upload.status for upload in ended] == [ImportStatus.DONE] * PEOPLE
    assert {upload.created + upload.updated for upload in ended} == {ROWS}
    assert sum(upload.created for upload in ended) == len(everyone)
    assert {(upload.deleted, upload.ignored, upload.failed) for upload in ended} == {(0, 0, 0)}
    with importer.database.transaction(read_only=True) as session:
        people = session.execute(select(Contact.phone, Contact.contact_metadata))
        known = {row[0]: row[1] for row in people}
        changes = session.scalar(select(func.count()).select_from(ImportChange))
        campaign = session.get_one(Campaign, importer.campaign_id)
        assert (campaign.contact_count, changes) == (len(everyone), PEOPLE * ROWS)
    assert known == {
        phone: {
            f"By {person}": "yes"
            for person in range(PEOPLE)
            if phone in {number(n) for n in numbers[person]}
        }
        for phone in everyone
    }
