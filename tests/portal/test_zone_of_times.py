"""Tables name the zone of their times only for readers who haven't chosen it."""

import re
from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session

from app.enums import Role
from app.models import User
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import Browser
from tests.portal.uploader import words

SignedIn = Callable[[User], Browser]
PAGES = ("/campaigns", "/uploads", "/calls", "/audit", "/exports", "/notifications", "/alerts")
NAMED = re.compile(r"Times are in (\S+)\.|When \((\S+)\)")


def zones_on(browser: Browser, path: str) -> set[str]:
    """The zones that the page names."""
    return {"".join(found) for found in NAMED.findall(words(browser.get(path)))}


@pytest.mark.parametrize(
    ("chosen", "expected"), [(None, {"UTC"}), ("Europe/Berlin", set()), ("UTC", set())]
)
def test_the_zone_is_named_until_the_reader_has_chosen_one(
    session: Session,
    tenant: Tenant,
    signed_in: SignedIn,
    chosen: str | None,
    expected: set[str],
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    user.timezone = chosen
    session.commit()
    browser = signed_in(user)
    assert {path: zones_on(browser, path) for path in PAGES} == dict.fromkeys(PAGES, expected)


def test_an_operator_reads_the_time_zone_of_the_viewed_user(
    session: Session, tenant: Tenant, operator: Browser
) -> None:
    user = tenant.staff[Role.PARTNER_ADMIN]
    user.timezone = "Europe/Berlin"
    session.commit()
    view = f"/users/{user.id}/view-as"
    operator.post(view, {"reason": "Request 4711"}, page=view)
    assert zones_on(operator, "/calls") == {"Europe/Berlin"}
