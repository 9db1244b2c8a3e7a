"""Concurrent uploads together stay within the storage limit."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy.orm import Session

from app.config.limits import StorageDefaults
from app.database import Database
from app.enums import ContactAction, ImageType
from app.errors import TooLarge
from app.gateways.files import StoredFile
from app.services.branding import images
from app.services.imports import uploads
from tests.fixtures.uploads import Importer, make_importer

ROOM_FOR_ONE = StorageDefaults(partner=1_000, organization=1_000)
A_MOMENT = 0.3

Store = Callable[[Session, Importer], UUID]


def upload_file(session: Session, importer: Importer) -> UUID:
    file = StoredFile(key="contacts", size=600, sha256="0" * 64)
    return uploads.create(
        session,
        importer.caller,
        importer.campaign_id,
        action=ContactAction.UPSERT,
        file=file,
        file_name="people.csv",
        storage_defaults=ROOM_FOR_ONE,
    ).id


def upload_logo(session: Session, importer: Importer) -> UUID:
    partner_id = importer.caller.partner_id
    assert partner_id is not None
    encoded = images.EncodedPicture(bytes(600), "image/png", 1, 1)
    return images.store(
        session, importer.caller, partner_id, ImageType.LOGO, encoded, ROOM_FOR_ONE
    ).id


@pytest.mark.parametrize("second", [upload_file, upload_logo])
def test_of_two_uploads_at_once_the_second_finds_no_room(
    fresh_database: Database, tmp_path: Path, second: Store
) -> None:
    with fresh_database.transaction() as session:
        importer = make_importer(session, fresh_database, tmp_path)

    def store() -> str | None:
        try:
            with fresh_database.transaction() as session:
                second(session, importer)
        except TooLarge as error:
            return error.code
        return None

    with ThreadPoolExecutor(1) as pool:
        with fresh_database.transaction() as session:
            upload_file(session, importer)
            answer = pool.submit(store)
            assert not wait([answer], timeout=A_MOMENT).done
        assert answer.result() == "storage_limit_reached"
