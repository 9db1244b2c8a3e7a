"""A user's own password: of two changes that began with the same password, the first counts."""

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.errors import Conflict
from app.services.users import account
from tests.fixtures.tenants import make_tenant


def test_a_password_that_changed_meanwhile_is_not_overwritten(session: Session) -> None:
    tenant = make_tenant(session)
    tenant.user.password_hash = "first"
    caller = tenant.caller(Role.STANDARD)
    account.change_password(session, caller, "first", "second")
    with pytest.raises(Conflict) as refused:
        account.change_password(session, caller, "first", "third")
    assert refused.value.code == "changed_meanwhile"
    assert tenant.user.password_hash == "second"
