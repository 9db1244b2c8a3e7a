"""While too many passwords are checked, forms with a password ask to try again."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from flask import Flask
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.models import LinkPurpose, ThrottleCounter, User
from app.services.auth import one_time_links
from app.services.auth.password_checks import PasswordChecks
from tests.fixtures.tenants import Tenant
from tests.portal.conftest import PASSWORD, Browser

BUSY = "Too many people are signing in at this moment. Try again in a few seconds."
NEW = {"password": "a long way to the sea", "again": "a long way to the sea"}


@pytest.fixture
def all_password_checks_taken(app: Flask) -> Iterator[None]:
    """Every place to check a password is taken."""
    free = app.extensions["password_checks"]
    with ExitStack() as stack:
        app.extensions["password_checks"] = full = PasswordChecks(1, 0)
        stack.enter_context(full.slot())
        yield
    app.extensions["password_checks"] = free


def count_failures(session: Session) -> float:
    return round(session.scalar(select(func.sum(ThrottleCounter.failures))) or 0, 3)


@pytest.mark.usefixtures("all_password_checks_taken")
@pytest.mark.parametrize("email", ["olga@northwind.example", "nobody@northwind.example"])
def test_sign_in_asks_to_try_again_and_counts_no_failure(
    browser: Browser, tenant: Tenant, session: Session, email: str
) -> None:
    answer = browser.sign_in(email)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")
    assert BUSY in answer.text
    assert f'value="{email}"' in answer.text
    assert count_failures(session) == 0


@pytest.mark.usefixtures("all_password_checks_taken")
def test_a_new_password_by_link_keeps_the_link(
    browser: Browser, tenant: Tenant, session: Session
) -> None:
    token = one_time_links.create(session, tenant.user.id, LinkPurpose.RESET_PASSWORD)
    session.commit()
    path = f"/p/{tenant.partner.slug}/password/{token}"
    answer = browser.post(path, NEW, page=path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")
    assert BUSY in answer.text
    assert browser.get(path).status_code == 200


@pytest.mark.usefixtures("all_password_checks_taken")
def test_changing_a_password_asks_to_try_again_and_counts_no_failure(
    tenant: Tenant, session: Session, signed_in: Callable[[User], Browser]
) -> None:
    browser = signed_in(tenant.user)
    answer = browser.post(
        "/account/password", {"current_password": PASSWORD, **NEW}, page="/account"
    )
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")
    assert BUSY in answer.text
    assert count_failures(session) == 0
