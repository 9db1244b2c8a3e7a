"""An organization that has stored a contact in every way."""

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from tests.services.personal_data.stored_contact import StoredContact, make_stored_contact


@pytest.fixture
def stored_contact(
    session: Session, database: Database, settings: Settings, tmp_path: Path
) -> StoredContact:
    return make_stored_contact(session, database, settings, tmp_path)
