"""The tenant, the line and the administrator that most files use; some have others."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from app.database import Database
from app.enums import Role
from app.errors import DomainError
from app.policy.caller import Caller
from tests.fixtures.tenants import Tenant, make_tenant
from tests.fixtures.uploads import Importer, make_importer
from tests.fixtures.worker import CallingOrganization, make_calling_organization


@pytest.fixture
def tenant(session: Session) -> Tenant:
    return make_tenant(session)


@pytest.fixture
def calling_organization(session: Session) -> CallingOrganization:
    return make_calling_organization(session)


def refusal(action: Callable[[], object]) -> tuple[type[DomainError], str]:
    """Return the error that the action raises, and its code."""
    with pytest.raises(DomainError) as refused:
        action()
    return type(refused.value), refused.value.code


@pytest.fixture
def admin(tenant: Tenant) -> Caller:
    return tenant.caller(Role.PARTNER_ADMIN)


@pytest.fixture
def other_tenant(session: Session) -> Tenant:
    return make_tenant(session, "Southwind")


@pytest.fixture
def importer(session: Session, database: Database, tmp_path: Path) -> Importer:
    """Uploads into a campaign."""
    made = make_importer(session, database, tmp_path)
    session.commit()
    return made
