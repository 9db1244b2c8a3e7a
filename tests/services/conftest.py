"""The tenant and the line that most files use; some have others."""

import pytest
from sqlalchemy.orm import Session

from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.worker import CallingOrganization, make_calling_organization


@pytest.fixture
def tenant(session: Session) -> Tenant:
    return make_tenant(session)


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    return make_calling_organization(session)
