import pytest
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from app.config import Settings
from tests.fixtures.area_a import AreaA, make_area_a


@pytest.fixture
def area(client: FlaskClient, session: Session, settings: Settings) -> AreaA:
    return make_area_a(client, session, settings)
