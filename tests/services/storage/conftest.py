"""Uploads into a campaign."""

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from tests.fixtures.uploads import Desk, make_desk


@pytest.fixture
def desk(session: Session, database: Database, tmp_path: Path) -> Desk:
    made = make_desk(session, database, tmp_path)
    session.commit()
    return made
