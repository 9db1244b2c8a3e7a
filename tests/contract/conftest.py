from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app import create_app
from app.config import Settings
from tests.fixtures.area_a import AreaA, make_area_a
from tests.fixtures.settings import settings_for


@pytest.fixture
def area(client: FlaskClient, session: Session, settings: Settings) -> AreaA:
    return make_area_a(client, session, settings)


@pytest.fixture(scope="session")
def described_app(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An application to be described; its database is never opened."""
    folder: Path = tmp_path_factory.mktemp("described")
    return create_app(settings_for(f"sqlite:///{folder}/never.db", folder))
