import pytest
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app.config import Settings
from tests.fixtures.partner_api import PartnerApi, make_partner_api


@pytest.fixture
def partner_api(client: FlaskClient, session: Session, settings: Settings) -> PartnerApi:
    return make_partner_api(client, session, settings)
