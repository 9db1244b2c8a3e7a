"""Characters that a database refuses are nothing that a customer screen stumbles over."""

from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.enums import Role, Tier
from app.models import User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser

SignedIn = Callable[[User], Browser]
NUL = "a\0b"


@pytest.fixture
def browser(session: Session, tenant: Tenant, signed_in: SignedIn) -> Browser:
    tenant.organization.user_limit = 0
    session.commit()
    return signed_in(tenant.staff[Role.PARTNER_ADMIN])


def test_no_text_field_fails_at_a_nul_character(
    session: Session, tenant: Tenant, browser: Browser
) -> None:
    base, person = f"/organizations/{tenant.organization.id}", f"/users/{tenant.user.id}"
    plan = {"tier": Tier.FREE.value, "assistant_limit": "1", "user_limit": "0"}
    several = "ada@x.example, A\0da\n"
    tenant.plus.user_limit = 0
    session.commit()
    forms: dict[str, dict[str, str]] = {
        "/organizations/new": plan | {"name": NUL},
        f"{base}/edit": {"name": NUL},
        f"{base}/do-not-call/add": {"numbers": "+12025550101", "reason": NUL},
        f"{base}/suspend": {"reason": NUL},
        f"{base}/reactivate": {},
        f"{person}/edit": {"email": tenant.user.email, "name": NUL},
        "/users/invite-many/check": {"users": several, "organization": "Northwind\0 Dental"},
    }
    answers = {
        path: browser.post(path, typed, page="/users/invite").status_code
        for path, typed in forms.items()
    }
    assert answers == {path: 200 if "many" in path else 303 for path in forms}


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/do-not-call?cursor=%00", 200),
        ("/organizations/{}/do-not-call?cursor=%00", 200),
        ("/organizations/{}/do-not-call?q=%00", 200),
        ("/organizations/{}/do-not-call/remove?number=%00", 404),
        ("/users?q=%00&organization=%00", 200),
        ("/lists/users/actions/suspend?id=%00", 200),
        ("/users/invite?organization=%00", 200),
        ("/organizations?q=%00&use=%00&tier=%00", 200),
        ("/organizations/{}/plan/check?tier=%00&assistant_limit=%00&user_limit=%00", 422),
    ],
)
def test_no_query_fails_at_a_nul_character(
    tenant: Tenant, browser: Browser, address: str, status: int
) -> None:
    answer = browser.get(address.format(tenant.organization.id))
    assert answer.status_code == status
    assert "<h1" in answer.text
    assert "\0" not in answer.text
