"""Uploads into a campaign."""

from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from tests.fixtures.uploads import Importer, make_importer


@pytest.fixture
def importer(session: Session, database: Database, tmp_path: Path) -> Importer:
    made = make_importer(session, database, tmp_path)
    session.commit()
    return made
