"""An organization that has stored a contact in every way."""

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.config import Settings
from app.database import Database
from tests.services.personal_data.house import House, make_house


@pytest.fixture
def house(session: Session, database: Database, settings: Settings, tmp_path: Path) -> House:
    return make_house(session, database, settings, tmp_path)
