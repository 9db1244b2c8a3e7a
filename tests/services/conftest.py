"""The tenant and the line that most files use; some have others."""

import pytest
from sqlalchemy.orm import Session

from tests.fixtures.cast import Tenant, make_tenant
from tests.fixtures.worker import Line, make_line


@pytest.fixture
def own(session: Session) -> Tenant:
    return make_tenant(session)


@pytest.fixture
def line(session: Session) -> Line:
    return make_line(session)
