from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app import create_app
from app.config import Settings
from tests.contract.world import BODY_LIMIT, MAX_CONTACTS, World, make_world
from tests.fixtures.area_a import AreaA, make_area_a
from tests.fixtures.settings import settings_for


@pytest.fixture
def area(client: FlaskClient, session: Session, settings: Settings) -> AreaA:
    return make_area_a(client, session, settings)


@pytest.fixture
def world(make_app: Callable[..., Flask], session: Session) -> World:
    """All areas in service, no rate that a busy test would meet, small limits."""
    app = make_app(
        legacy_retirement=datetime(2099, 7, 1, tzinfo=UTC),
        rate_per_second=100_000,
        rate_burst=100_000,
        failed_sign_ins=100_000,
        max_body_bytes=BODY_LIMIT,
        max_contacts_bytes=2 * BODY_LIMIT,
        max_contacts=MAX_CONTACTS,
    )
    return make_world(app, session)


@pytest.fixture(scope="session")
def described_app(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An application to be described; its database is never opened."""
    folder: Path = tmp_path_factory.mktemp("described")
    return create_app(settings_for(f"sqlite:///{folder}/never.db", folder))
