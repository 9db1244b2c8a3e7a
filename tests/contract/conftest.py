from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app.api.openapi import openapi_document
from app.config import Settings
from app.factory import create_app
from tests.contract.all_areas import BODY_LIMIT, MAX_CONTACTS, AllAreas, make_all_areas
from tests.contract.published import Answers
from tests.fixtures.databases import BACKENDS, runs_on
from tests.fixtures.partner_api import PartnerApi, make_partner_api
from tests.fixtures.settings import settings_for
from tests.matrix import rotating


def pytest_itemcollected(item: pytest.Item) -> None:
    if {"area", "world"} & set(getattr(item, "fixturenames", ())):
        item.add_marker("matrix")


backend = runs_on(rotating("database of the contract", BACKENDS))
"""One of the two, chosen by the commit: these are the largest matrices."""


@pytest.fixture
def partner_api(client: FlaskClient, session: Session, settings: Settings) -> Iterator[PartnerApi]:
    """Check that every refusal in a test is one that the operation publishes."""
    answers = Answers(client.application)
    yield make_partner_api(client, session, settings)
    assert (answers.unpublished(), answers.misfits()) == (set(), [])


@pytest.fixture
def all_areas(make_app: Callable[..., Flask], session: Session) -> Iterator[AllAreas]:
    """All areas in service, no rate that a busy test would reach, small limits.

    Its refusals are held against the description too.
    """
    app = make_app(
        legacy_retirement=datetime(2099, 7, 1, tzinfo=UTC),
        rate_per_second=100_000,
        rate_burst=100_000,
        failed_sign_ins=100_000,
        failed_sign_ins_network=100_000,
        failed_sign_ins_site=100_000,
        max_body_bytes=BODY_LIMIT,
        max_contacts_bytes=2 * BODY_LIMIT,
        max_contacts=MAX_CONTACTS,
    )
    answers = Answers(app)
    yield make_all_areas(app, session)
    assert (answers.unpublished(), answers.misfits()) == (set(), [])


@pytest.fixture(scope="session")
def described_app(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """An application to be described; its database is never opened."""
    folder: Path = tmp_path_factory.mktemp("described")
    return create_app(settings_for(f"sqlite:///{folder}/never.db", folder))


@pytest.fixture(scope="session")
def paths(described_app: Flask) -> dict[str, Any]:
    found: dict[str, Any] = openapi_document(described_app)["paths"]
    return found
